// Documents under a causal mask, and a bias of each head.

func.func @attention(%q: tensor<?x?x?x96xbf16>, %k: tensor<?x?x?x96xbf16>, %v: tensor<?x?x?x96xbf16>, %scale: f32, %idsQ: tensor<?x?xi32>, %idsKV: tensor<?x?xi32>, %bias: tensor<?x?x?xf32>)
    -> (tensor<?x?x?x96xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x96xbf16>, tensor<?x?x?x96xbf16>, tensor<?x?x?x96xbf16>)
      scale(%scale) using [#attn.causal]
      score(%s, %b, %h, %i, %j) {
        %e = tensor.extract %bias[%h, %i, %j] : tensor<?x?x?xf32>
        %r = arith.addf %s, %e : f32
        attn.yield %r : f32
      }mask(%b, %h, %i, %j) {
        %di = tensor.extract %idsQ[%b, %i] : tensor<?x?xi32>
        %dj = tensor.extract %idsKV[%b, %j] : tensor<?x?xi32>
        %sees = arith.cmpi eq, %di, %dj : i32
        attn.yield %sees : i1
      } : tensor<?x?x?x96xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x96xbf16>, tensor<?x?x?xf32>
}
