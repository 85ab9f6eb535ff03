// A bias for each head, query and key, bf16, head dimension 128. A bias of -3.4e38 is a finite score, not a mask.

func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                     %v: tensor<?x?x?x128xbf16>, %scale: f32, %bias: tensor<?x?x?xf32>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale)
      score(%s, %b, %h, %i, %j) {
        %e = tensor.extract %bias[%h, %i, %j] : tensor<?x?x?xf32>
        %t = arith.addf %s, %e : f32
        attn.yield %t : f32
      } : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
