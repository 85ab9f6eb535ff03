// RUN: fa-opt --tile --delay-normalization %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s
// RUN: fa-opt --tile --interchange --delay-normalization %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s
// RUN: fa-opt --delay-normalization --split-input-file -verify-diagnostics %s | FileCheck %s --check-prefix=SECOND

// CHECK-LABEL: func @attention
// CHECK-NOT: normalized
// CHECK: attn.update ins
// CHECK-NOT: normalized
// CHECK: attn.finalize ins
// CHECK-NOT: normalized

// Two updates one after the other, no loop.
// SECOND-LABEL: func @two
// SECOND: attn.update ins
// SECOND: attn.update ins
// SECOND: attn.finalize ins
func.func @two(%q: tensor<64x64xf32>, %k: tensor<32x64xf32>, %i: index, %u: f32, %eo: tensor<64x64xf32>, %er: tensor<64xf32>) -> tensor<64x64xf32> {
  %a, %m, %l = attn.init outs(%eo, %er, %er : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %a1, %m1, %l1 = attn.update normalized ins(%q, %k, %k : tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
      at(%i, %i, %i, %i) lens(%i, %i) scale(%u) outs(%a, %m, %l : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %a2, %m2, %l2 = attn.update normalized ins(%q, %k, %k : tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
      at(%i, %i, %i, %i) lens(%i, %i) scale(%u) outs(%a1, %m1, %l1 : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %o, %lse = attn.finalize normalized ins(%a2, %m2, %l2 : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)
      unit(%u) outs(%eo, %er : tensor<64x64xf32>, tensor<64xf32>)
  return %o : tensor<64x64xf32>
}

// -----

// The state comes from outside: its normalisation is not known.
func.func @unknown(%a: tensor<64x64xf32>, %m: tensor<64xf32>, %u: f32, %eo: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-warning @+1 {{--delay-normalization does not apply: the updates of this state are not all normalized}}
  %o, %lse = attn.finalize normalized ins(%a, %m, %m : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)
      unit(%u) outs(%eo, %m : tensor<64x64xf32>, tensor<64xf32>)
  return %o : tensor<64x64xf32>
}

// -----

// expected-warning @+1 {{--delay-normalization found no normalized attn.finalize}}
func.func @nothing() {
  return
}
