// Every third group of 32 keys up to the query: a comparison, and a remainder, which has no range.
func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %group = arith.divui %j, %c32 : index
        %rest = arith.remui %group, %c3 : index
        %isThird = arith.cmpi eq, %rest, %c0 : index
        %isPast = arith.cmpi sle, %j, %i : index
        %sees = arith.andi %isThird, %isPast : i1
        attn.yield %sees : i1
      } : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
