// A prefix that all queries see, causal behind it; the prefix's length for each batch. bf16, head dimension 128.

func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                     %v: tensor<?x?x?x128xbf16>, %scale: f32, %prefix: tensor<?xi32>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %c2 = arith.constant 2 : index
  %sq = tensor.dim %q, %c2 : tensor<?x?x?x128xbf16>
  %skv = tensor.dim %k, %c2 : tensor<?x?x?x128xbf16>
  %shift = arith.subi %skv, %sq : index
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale)
      mask(%b, %h, %i, %j) {
        %n = tensor.extract %prefix[%b] : tensor<?xi32>
        %length = arith.index_cast %n : i32 to index
        %inPrefix = arith.cmpi slt, %j, %length : index
        %last = arith.addi %i, %shift : index
        %isPast = arith.cmpi sle, %j, %last : index
        %sees = arith.ori %inPrefix, %isPast : i1
        attn.yield %sees : i1
      } : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
