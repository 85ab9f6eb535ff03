// RUN: fa-opt --tile --interchange --skip-masked-blocks %s --split-input-file -verify-diagnostics | FileCheck %s

// Documents: a list for each batch, made in front of the parallel loop; two loops over its entries.
// CHECK-LABEL: func @documents
// CHECK: %[[BLOCKS:.*]], %[[COUNTS:.*]] = attn.block_list batches(%[[N:.*]]) heads(%c1) lens(%{{.*}}, %{{.*}}) blocks(128, 64)
// CHECK-SAME: mask(%[[MB:.*]], %{{.*}}, %[[MI:.*]], %[[MJ:.*]]) {
// CHECK: tensor.extract %{{.*}}[%[[MB]], %[[MI]]]
// CHECK: tensor.extract %{{.*}}[%[[MB]], %[[MJ]]]
// CHECK: : tensor<?x1x?x?xi32>, tensor<?x1x?x2xi32>
// CHECK: scf.forall (%[[I:.*]], %{{.*}}, %[[B:.*]]) =
// CHECK: %[[QB:.*]] = arith.divui %[[I]], %c128
// CHECK: tensor.extract %[[COUNTS]][%[[B]], %c0, %[[QB]], %c0]
// CHECK: tensor.extract %[[COUNTS]][%[[B]], %c0, %[[QB]], %c1]
// CHECK: scf.for %[[E:.*]] = %c0 to %[[FULL:.*]] step %c1
// CHECK: %[[NUMBER:.*]] = tensor.extract %[[BLOCKS]][%[[B]], %c0, %[[QB]], %[[E]]]
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[NUMBER]]
// CHECK: %[[J:.*]] = arith.muli %[[INDEX]], %c64
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, %{{.*}}, %[[J]], 0] [1, 1, 64, 64]
// CHECK: attn.update
// CHECK-NOT: mask(
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %[[FULL]] to %{{.*}} step %c1
// CHECK: attn.update {{.*}} mask(
func.func @documents(%q: tensor<?x4x?x64xf16>, %k: tensor<?x4x?x64xf16>, %ids: tensor<?x?xi32>) -> tensor<?x4x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %di = tensor.extract %ids[%b, %i] : tensor<?x?xi32>
        %dj = tensor.extract %ids[%b, %j] : tensor<?x?xi32>
        %sees = arith.cmpi eq, %di, %dj : i32
        attn.yield %sees : i1
      } : tensor<?x4x?x64xf16>, tensor<?x4x?xf32>
  return %o : tensor<?x4x?x64xf16>
}

// -----

// A bound beside a factor that is not affine: the list has more.
// CHECK-LABEL: func @mixed
// CHECK: attn.block_list batches(%c1) heads(%c1)
// CHECK: : tensor<1x1x?x?xi32>, tensor<1x1x?x2xi32>
func.func @mixed(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x64xf16>) -> tensor<1x4x?x64xf16> {
  %c3 = arith.constant 3 : index
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %r = arith.remui %j, %c3 : index
        %some = arith.cmpi ne, %r, %c3 : index
        %past = arith.cmpi sle, %j, %i : index
        %sees = arith.andi %some, %past : i1
        attn.yield %sees : i1
      } : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf16>
}

// -----

// Packed sequences: a list for each, in the loop over sequences, of whose number the mask has a copy.
// CHECK-LABEL: func @packed
// CHECK: scf.forall (%[[B:.*]]) in
// CHECK: attn.block_list batches(%c1) heads(%c1)
// CHECK: tensor.extract %{{.*}}[%[[B]], %{{.*}}]
// CHECK: scf.forall
func.func @packed(%q: tensor<4x?x64xf16>, %c: tensor<?xi32>, %keep: tensor<?x?xi1>) -> tensor<4x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<4x?x64xf16>, tensor<4x?x64xf16>, tensor<4x?x64xf16>)
      cu_seqlens(%c, %c : tensor<?xi32>, tensor<?xi32>) mask(%b, %h, %i, %j) {
        %sees = tensor.extract %keep[%b, %j] : tensor<?x?xi1>
        attn.yield %sees : i1
      } : tensor<4x?x64xf16>, tensor<4x?xf32>
  return %o : tensor<4x?x64xf16>
}
