// RUN: fa-opt --expand-variants %s | FileCheck %s

// CHECK-LABEL: func @causal
// CHECK-DAG: %[[SQ:.*]] = tensor.dim %arg0, %{{.*}}
// CHECK-DAG: %[[SKV:.*]] = tensor.dim %arg1, %{{.*}}
// CHECK: attn.forward
// CHECK-NOT: using
// CHECK-SAME: mask(%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
// CHECK: %[[SHIFT:.*]] = arith.subi %[[SKV]], %[[SQ]]
// CHECK: %[[LAST:.*]] = arith.addi %[[I]], %[[SHIFT]]
// CHECK: %[[SEES:.*]] = arith.cmpi sle, %[[J]], %[[LAST]]
// CHECK: attn.yield %[[SEES]]
func.func @causal(%q: tensor<1x1x?x64xf16>, %k: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>)
      using [#attn.causal] : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return %o : tensor<1x1x?x64xf16>
}

// A region of the user's own and the sugar join by and.
// CHECK-LABEL: func @joined
// CHECK: %[[OWN:.*]] = arith.cmpi ne
// CHECK: %[[SEES:.*]] = arith.cmpi sle
// CHECK: %[[BOTH:.*]] = arith.andi %[[OWN]], %[[SEES]]
// CHECK: attn.yield %[[BOTH]]
func.func @joined(%q: tensor<1x1x?x64xf16>, %k: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>)
      using [#attn.causal] mask(%b, %h, %i, %j) {
        %own = arith.cmpi ne, %i, %j : index
        attn.yield %own : i1
      } : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return %o : tensor<1x1x?x64xf16>
}

// Both sides of a window count; a side that is left out is open.
// CHECK-LABEL: func @window
// CHECK: %[[P:.*]] = arith.addi
// CHECK: %[[FIRST:.*]] = arith.subi %[[P]], %c7
// CHECK: %[[AFTER:.*]] = arith.cmpi sge, %{{.*}}, %[[FIRST]]
// CHECK: %[[BEFORE:.*]] = arith.cmpi sle, %{{.*}}, %[[P]]
// CHECK: arith.andi %[[AFTER]], %[[BEFORE]]
func.func @window(%q: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>)
      using [#attn.window<left = 7, right = 0>] : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return %o : tensor<1x1x?x64xf16>
}

// Scores change in the order of the list, after the region.
// CHECK-LABEL: func @scores
// CHECK: score(%[[S:.*]], %{{.*}}, %[[H:.*]], %{{.*}}, %{{.*}}) {
// CHECK: %[[OWN:.*]] = arith.negf %[[S]]
// CHECK: arith.mulf %[[OWN]]
// CHECK: math.tanh
// CHECK: %[[CAPPED:.*]] = arith.mulf
// CHECK: math.exp2
// CHECK: %[[ALIBI:.*]] = arith.subf %[[CAPPED]]
// CHECK: attn.yield %[[ALIBI]]
// CHECK-NOT: mask
func.func @scores(%q: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>)
      using [#attn.softcap<30.0>, #attn.alibi] score(%s, %b, %h, %i, %j) {
        %n = arith.negf %s : f32
        attn.yield %n : f32
      } : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return %o : tensor<1x1x?x64xf16>
}

// Where sequences differ in length, each has its own.
// CHECK-LABEL: func @lengths
// CHECK-SAME: %[[N:[a-z0-9]+]]: tensor<?xi32>
// CHECK: mask(%[[B:.*]], %{{.*}}, %{{.*}}, %{{.*}}) {
// CHECK: tensor.extract %[[N]][%[[B]]]
func.func @lengths(%q: tensor<?x1x?x64xf16>, %n: tensor<?xi32>) -> tensor<?x1x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>)
      kv_lens(%n : tensor<?xi32>) using [#attn.causal] : tensor<?x1x?x64xf16>, tensor<?x1x?xf32>
  return %o : tensor<?x1x?x64xf16>
}
