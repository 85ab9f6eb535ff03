// Queries and keys of 192 elements, values of 128, and four heads of Q for each of K and V, down to a cubin. Nothing says
// so but the types and sizes:
//
//   fa-run examples/head-dims.mlir --fa2 --check --sizes=Hq=8,Hkv=2
//   fa-run examples/head-dims.mlir --fa2 --on=sim --check --sizes=Hq=4,Hkv=1
//   fa-gen examples/head-dims.mlir -o out-head-dims

func.func @attention(%q: tensor<?x?x?x192xbf16>, %k: tensor<?x?x?x192xbf16>,
                     %v: tensor<?x?x?x128xbf16>, %scale: f32)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x192xbf16>, tensor<?x?x?x192xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale) using [#attn.causal] : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
