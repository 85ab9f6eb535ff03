// RUN: split-file %s %t
// RUN: fa-opt --online-softmax=rescale=lazy -verify-diagnostics %t/normalized.mlir
// RUN: fa-opt --online-softmax=rescale=first-max -verify-diagnostics %t/normalized.mlir
// RUN: fa-opt --online-softmax=rescale=first-max -verify-diagnostics %t/no-fold.mlir
// RUN: fa-opt --online-softmax=rescale=first-max -verify-diagnostics %t/blocks.mlir

//--- normalized.mlir
func.func @normalized(%q: tensor<8x32xf32>, %u: f32, %a: tensor<8x32xf32>, %m: tensor<8xf32>, %i: index) -> (tensor<8x32xf32>, tensor<8xf32>) {
  %s:3 = attn.init outs(%a, %m, %m : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>)
  // expected-error @+1 {{is normalized, which rescales acc in every block: run --delay-normalization first}}
  %t:3 = attn.update normalized ins(%q, %q, %q : tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>)
      at(%i, %i, %i, %i) lens(%i, %i) scale(%u) outs(%s#0, %s#1, %s#2 : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>)
  %o, %lse = attn.finalize normalized ins(%t#0, %t#1, %t#2 : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>) unit(%u) outs(%a, %m : tensor<8x32xf32>, tensor<8xf32>)
  return %o, %lse : tensor<8x32xf32>, tensor<8xf32>
}

//--- no-fold.mlir
func.func @merged(%as: tensor<4x8x32xf32>, %ms: tensor<4x8xf32>, %u: f32, %a: tensor<8x32xf32>, %m: tensor<8xf32>) -> (tensor<8x32xf32>, tensor<8xf32>) {
  %t:3 = attn.merge ins(%as, %ms, %ms : tensor<4x8x32xf32>, tensor<4x8xf32>, tensor<4x8xf32>) unit(%u) outs(%a, %m, %m : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>)
  // expected-error @+1 {{rescale=first-max repeats a fold from its attn.init on; the state is none that updates in loops and slices alone have made, as after --split-kv}}
  %o, %lse = attn.finalize ins(%t#0, %t#1, %t#2 : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>) unit(%u) outs(%a, %m : tensor<8x32xf32>, tensor<8xf32>)
  return %o, %lse : tensor<8x32xf32>, tensor<8xf32>
}

//--- blocks.mlir
func.func @blocks(%q: tensor<8x32xf32>, %u: f32, %a: tensor<8x32xf32>, %m: tensor<8xf32>, %i: index) -> tensor<8x32xf32> {
  %c1 = arith.constant 1 : index
  %s:3 = attn.init outs(%a, %m, %m : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>)
  %r = scf.for %j = %c1 to %i step %c1 iter_args(%o0 = %a) -> tensor<8x32xf32> {
    %t:3 = attn.update ins(%q, %q, %q : tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>)
        at(%i, %i, %i, %i) lens(%i, %i) scale(%u) outs(%s#0, %s#1, %s#2 : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>)
    // expected-error @+1 {{rescale=first-max repeats a fold from its attn.init on, which must be in the block of the attn.finalize}}
    %o, %lse = attn.finalize ins(%t#0, %t#1, %t#2 : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>) unit(%u) outs(%o0, %m : tensor<8x32xf32>, tensor<8xf32>)
    scf.yield %o : tensor<8x32xf32>
  }
  return %r : tensor<8x32xf32>
}
