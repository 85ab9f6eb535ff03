// Sequences of any length, one after the other without padding, causal. bf16, head dimension 128.

func.func @attention(%q: tensor<?x?x128xbf16>, %k: tensor<?x?x128xbf16>, %v: tensor<?x?x128xbf16>,
                     %scale: f32, %cuSeqlensQ: tensor<?xi32>, %cuSeqlensKV: tensor<?xi32>)
    -> (tensor<?x?x128xbf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x128xbf16>, tensor<?x?x128xbf16>, tensor<?x?x128xbf16>)
      cu_seqlens(%cuSeqlensQ, %cuSeqlensKV : tensor<?xi32>, tensor<?xi32>)
      scale(%scale) using [#attn.causal] : tensor<?x?x128xbf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x128xbf16>, tensor<?x?xf32>
}
