// RUN: fa-opt %s --canonicalize | FileCheck %s

!t = tensor<2x4x?x64xf16>
!r = tensor<2x4x?xf32>

// Regions that say nothing, and sugar said twice.
// CHECK-LABEL: func @open
// CHECK: attn.forward ins(%arg0, %arg0, %arg0 : {{.*}}) using [#attn.causal, #attn.softcap<3.000000e+01 : f64>, #attn.softcap<3.000000e+01 : f64>]
// CHECK-NOT: {
// CHECK: return
func.func @open(%q: !t) -> !t {
  %o, %lse = attn.forward ins(%q, %q, %q : !t, !t, !t)
      using [#attn.causal, #attn.softcap<30.0>, #attn.causal, #attn.softcap<30.0>]
      score(%s, %b, %h, %i, %j) { attn.yield %s : f32 }
      mask(%b, %h, %i, %j) {
        %true = arith.constant true
        attn.yield %true : i1
      } : !t, !r
  return %o : !t
}

// A score region that does something stays, and so does a mask that hides.
// CHECK-LABEL: func @closed
// CHECK: score(
// CHECK: mask(
func.func @closed(%q: !t) -> !t {
  %o, %lse = attn.forward ins(%q, %q, %q : !t, !t, !t)
      score(%s, %b, %h, %i, %j) {
        %d = arith.addf %s, %s : f32
        attn.yield %d : f32
      } mask(%b, %h, %i, %j) {
        %false = arith.constant false
        attn.yield %false : i1
      } : !t, !r
  return %o : !t
}

// CHECK-LABEL: func @casts
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x128x64xf16>)
// CHECK: attn.forward ins(%[[Q]], %[[Q]], %[[Q]] : tensor<2x4x128x64xf16>
func.func @casts(%q: tensor<2x4x128x64xf16>) -> !t {
  %c = tensor.cast %q : tensor<2x4x128x64xf16> to !t
  %o, %lse = attn.forward ins(%c, %c, %c : !t, !t, !t) : !t, !r
  return %o : !t
}

// CHECK-LABEL: func @nothing_to_fold
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<16x64xf32>
// CHECK-NOT: attn.
// CHECK: return %[[A]]
func.func @nothing_to_fold(%q: tensor<16x64xf16>, %k: tensor<32x64xf16>, %none: tensor<0x64xf16>, %a: tensor<16x64xf32>,
                           %m: tensor<16xf32>, %as: tensor<0x16x64xf32>, %ms: tensor<0x16xf32>, %n: index, %u: f32) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : index
  %x:3 = attn.update ins(%q, %none, %none : tensor<16x64xf16>, tensor<0x64xf16>, tensor<0x64xf16>) at(%c0, %c0, %c0, %c0) lens(%n, %n) scale(%u)
      outs(%a, %m, %m : tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>)
  %y:3 = attn.update ins(%q, %k, %k : tensor<16x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>) at(%c0, %c0, %c0, %c0) lens(%n, %n) scale(%u)
      outs(%x#0, %x#1, %x#2 : tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>) mask(%b, %h, %i, %j) {
        %false = arith.constant false
        attn.yield %false : i1
      }
  %z:3 = attn.merge ins(%as, %ms, %ms : tensor<0x16x64xf32>, tensor<0x16xf32>, tensor<0x16xf32>) unit(%u)
      outs(%y#0, %y#1, %y#2 : tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>)
  return %z#0 : tensor<16x64xf32>
}

// In an update a score region sets the unit of the maximum: it stays.
// CHECK-LABEL: func @update_score
// CHECK: score(
func.func @update_score(%q: tensor<16x64xf16>, %a: tensor<16x64xf32>, %m: tensor<16xf32>, %n: index, %u: f32) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : index
  %x:3 = attn.update ins(%q, %q, %q : tensor<16x64xf16>, tensor<16x64xf16>, tensor<16x64xf16>) at(%c0, %c0, %c0, %c0) lens(%n, %n) scale(%u)
      outs(%a, %m, %m : tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>) score(%s, %b, %h, %i, %j) { attn.yield %s : f32 }
  return %x#0 : tensor<16x64xf32>
}
