// The last 1024 keys of each query, as a mask of one's own. Blocks outside of the window become loop bounds:
//
//   fa-opt examples/sliding-window.mlir --fa2=level=blocks
//   fa-run examples/sliding-window.mlir --fa2 --check --sizes=Sq=1500,Skv=2000
//   fa-gen examples/sliding-window.mlir -o out-window

func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                     %v: tensor<?x?x?x128xbf16>, %scale: f32)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %left = arith.constant 1023 : index
  %c2 = arith.constant 2 : index
  %sq = tensor.dim %q, %c2 : tensor<?x?x?x128xbf16>
  %skv = tensor.dim %k, %c2 : tensor<?x?x?x128xbf16>
  %shift = arith.subi %skv, %sq : index
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale) using [#attn.causal]
      mask(%b, %h, %i, %j) {
        // Query i stands at key i + Skv - Sq, as in the causal mask.
        %last = arith.addi %i, %shift : index
        %first = arith.subi %last, %left : index
        %sees = arith.cmpi sge, %j, %first : index
        attn.yield %sees : i1
      } : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
