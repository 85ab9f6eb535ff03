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
