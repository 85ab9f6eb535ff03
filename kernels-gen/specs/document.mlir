// Documents packed in one sequence: a query sees the keys of its own document up to its own position. bf16, head
// dimension 128. The ids are of queries and of keys, for each batch.

func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                     %v: tensor<?x?x?x128xbf16>, %scale: f32, %idsQ: tensor<?x?xi32>, %idsKV: tensor<?x?xi32>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale) using [#attn.causal]
      mask(%b, %h, %i, %j) {
        %di = tensor.extract %idsQ[%b, %i] : tensor<?x?xi32>
        %dj = tensor.extract %idsKV[%b, %j] : tensor<?x?xi32>
        %sees = arith.cmpi eq, %di, %dj : i32
        attn.yield %sees : i1
      } : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
