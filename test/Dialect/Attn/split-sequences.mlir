// RUN: fa-opt %s --split-sequences -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @packed
// CHECK-SAME: (%[[Q:.*]]: tensor<4x?x64xf16>, %[[K:.*]]: tensor<2x?x64xf16>, %[[CQ:.*]]: tensor<?xi32>, %[[CK:.*]]: tensor<?xi32>)
// CHECK: scf.forall (%[[B:.*]]) in (%{{.*}}) shared_outs(%[[O:.*]] = %{{.*}}, %[[LSE:.*]] = %{{.*}})
// CHECK: %[[FIRST:.*]] = arith.index_cast
// CHECK: %[[SQ:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK: %[[SKV:.*]] = arith.subi
// CHECK: tensor.extract_slice %[[Q]][0, %[[FIRST]], 0] [4, %[[SQ]], 64]
// CHECK: attn.forward
// CHECK-NOT: cu_seqlens
// The user's region sees the sequence's number, the sugar its lengths.
// CHECK: mask(%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
// CHECK: arith.cmpi sle, %[[J]], %[[B]]
// CHECK: arith.subi %[[SKV]], %[[SQ]]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[O]][0, %[[FIRST]], 0] [4, %[[SQ]], 64]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[LSE]][0, %[[FIRST]]] [4, %[[SQ]]]
func.func @packed(%q: tensor<4x?x64xf16>, %k: tensor<2x?x64xf16>, %cq: tensor<?xi32>, %ck: tensor<?xi32>) -> tensor<4x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<4x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>)
      cu_seqlens(%cq, %ck : tensor<?xi32>, tensor<?xi32>) using [#attn.causal] mask(%b, %h, %i, %j) {
        %sees = arith.cmpi sle, %j, %b : index
        attn.yield %sees : i1
      } : tensor<4x?x64xf16>, tensor<4x?xf32>
  return %o : tensor<4x?x64xf16>
}

// -----

// CHECK-LABEL: func @kv_lens
// CHECK: scf.forall (%[[B:.*]]) in (3)
// CHECK: %[[N:.*]] = tensor.extract %{{.*}}[%[[B]]]
// CHECK: %[[SKV:.*]] = arith.index_cast %[[N]]
// CHECK: tensor.extract_slice %{{.*}}[%[[B]], 0, 0, 0] [1, 2, %[[SKV]], 64] {{.*}} to tensor<2x?x64xf16>
// CHECK: attn.forward ins({{.*}} : tensor<4x1x64xf16>, tensor<2x?x64xf16>, tensor<2x?x32xf16>) : tensor<4x1x32xf16>, tensor<4x1xf32>
// CHECK: return %{{.*}} : tensor<3x4x?x32xf16>
func.func @kv_lens(%q: tensor<3x4x1x64xf16>, %k: tensor<3x2x128x64xf16>, %v: tensor<3x2x128x32xf16>, %n: tensor<3xi32>) -> tensor<3x4x?x32xf16> {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<3x4x1x64xf16>, tensor<3x2x128x64xf16>, tensor<3x2x128x32xf16>)
      kv_lens(%n : tensor<3xi32>) : tensor<3x4x?x32xf16>, tensor<3x4x1xf32>
  return %o : tensor<3x4x?x32xf16>
}

// -----

// expected-warning @+1 {{--split-sequences found no attn.forward with cu_seqlens or kv_lens}}
func.func @nothing() {
  return
}
