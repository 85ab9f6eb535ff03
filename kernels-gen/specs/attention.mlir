// Causal attention, bf16, head dimension 128; batch, heads and lengths are the launch's.
//
//   fa-opt --tile kernels-gen/specs/attention.mlir
//   fa-opt --tile --interchange kernels-gen/specs/attention.mlir
//   fa-gen kernels-gen/specs/attention.mlir -o out-causal

func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                     %v: tensor<?x?x?x128xbf16>, %scale: f32)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale) using [#attn.causal] : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
