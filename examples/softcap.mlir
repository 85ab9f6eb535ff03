// Scores capped smoothly at 30, as a score function of one's own: s becomes 30 tanh(s / 30).
//
//   fa-run examples/softcap.mlir --fa2 --check --dist=large:12
//   fa-gen examples/softcap.mlir -o out-softcap

func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>,
                     %v: tensor<?x?x?x64xf16>, %scale: f32)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %cap = arith.constant 30.0 : f32
  %inverse = arith.constant 0.0333333333 : f32
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      scale(%scale)
      score(%s, %b, %h, %i, %j) {
        %r = arith.mulf %s, %inverse : f32
        // afn: the GPU's own approximation of tanh will do.
        %t = math.tanh %r fastmath<afn> : f32
        %c = arith.mulf %t, %cap : f32
        attn.yield %c : f32
      } : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
