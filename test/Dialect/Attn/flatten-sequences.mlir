// RUN: fa-opt %s "--choose-schedule=br=64 bc=64" --tile --interchange --flatten-sequences -split-input-file | FileCheck %s
// RUN: fa-opt %s "--choose-schedule=br=64 bc=64" --tile --interchange --flatten-sequences=pairs -split-input-file | FileCheck %s --check-prefix=PAIRS

// A cache: one loop over blocks of queries, heads and batches.
// CHECK-LABEL: func.func @cache(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x?x?x64xf16>, %[[K:[a-z0-9]+]]: tensor<?x?x?x64xf16>,
// CHECK-SAME: %[[LENS:[a-z0-9]+]]: tensor<?xi32>)
// CHECK: scf.forall (%[[I:.*]], %[[H:.*]], %[[B:.*]]) = (0, 0, 0) to (%{{.*}}, %{{.*}}, %{{.*}}) step (64, 1, 1)
// CHECK-NOT: scf.forall (
// CHECK: %[[N32:.*]] = tensor.extract %[[LENS]][%[[B]]]
// CHECK: %[[N:.*]] = arith.index_cast %[[N32]]
// CHECK: tensor.extract_slice %[[K]][%[[B]], 0, 0, 0] [1, %{{.*}}, %[[N]], 64]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK: lens(%{{.*}}, %[[N]])
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[B]], %[[H]], %[[I]], 0] [1, 1, %{{.*}}, 64]
func.func @cache(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %lens: tensor<?xi32>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      kv_lens(%lens : tensor<?xi32>) : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}

// -----

// Packed sequences: slots, as many as blocks of all rows and entries of the starts; each finds its sequence.
// CHECK-LABEL: func.func @packed(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x?x64xf16>
// CHECK-SAME: %[[CQ:[a-z0-9]+]]: tensor<?xi32>, %[[CK:[a-z0-9]+]]: tensor<?xi32>)
// CHECK: %[[T:.*]] = tensor.dim %[[Q]], %c1
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[T]], %c64
// CHECK: %[[SLOTS:.*]] = arith.addi %[[BLOCKS]], %{{.*}} : index
// CHECK: scf.forall (%[[SLOT:.*]], %[[H:.*]]) in (%[[SLOTS]], %{{.*}})
// CHECK: %[[B:.*]]:2 = scf.for
// CHECK: tensor.extract %[[CQ]]
// CHECK: arith.divui
// CHECK: arith.cmpi sle, %{{.*}}, %[[SLOT]]
// CHECK: %[[FIRST32:.*]] = tensor.extract %[[CQ]][%[[B]]#0]
// CHECK: %[[FIRST:.*]] = arith.index_cast %[[FIRST32]]
// A slot without a block has neither rows nor keys.
// CHECK: %[[EXISTS:.*]] = arith.andi
// CHECK: %[[I:.*]] = arith.select %[[EXISTS]], %{{.*}}, %c0
// CHECK: %[[ROWS:.*]] = arith.select %[[EXISTS]], %{{.*}}, %c0
// CHECK: %[[KEYS:.*]] = arith.select %[[EXISTS]], %{{.*}}, %c0
// CHECK: affine.min #{{.*}}(%[[I]])[%[[ROWS]]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[KEYS]]
// CHECK: lens(%[[ROWS]], %[[KEYS]])
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[I]]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[H]], %[[ROW]], 0]
// In pairs: the last block, the first, the last but one, the second.
// PAIRS-LABEL: func.func @packed(
// PAIRS: scf.forall (%[[SLOT:.*]], %{{.*}}) in
// PAIRS: %[[NUMBER:.*]] = arith.subi %[[SLOT]], %{{.*}} : index
// PAIRS: %[[EXISTS:.*]] = arith.andi
// PAIRS: %[[COUNT:.*]] = arith.ceildivui %{{.*}}, %c64
// PAIRS: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// PAIRS: %[[PAIR:.*]] = arith.divui %[[NUMBER]], %c2
// PAIRS: %[[SIDE:.*]] = arith.remui %[[NUMBER]], %c2
// PAIRS: %[[LATER:.*]] = arith.cmpi eq, %[[SIDE]], %c0
// PAIRS: %[[BACK:.*]] = arith.subi %[[LAST]], %[[PAIR]]
// PAIRS: %[[BLOCK:.*]] = arith.select %[[LATER]], %[[BACK]], %[[PAIR]]
// PAIRS: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c64
// PAIRS: arith.select %[[EXISTS]], %[[FIRST]], %c0
func.func @packed(%q: tensor<?x?x64xf16>, %k: tensor<?x?x64xf16>, %v: tensor<?x?x64xf16>, %cq: tensor<?xi32>, %ck: tensor<?xi32>)
    -> (tensor<?x?x64xf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x64xf16>, tensor<?x?x64xf16>, tensor<?x?x64xf16>)
      cu_seqlens(%cq, %ck : tensor<?xi32>, tensor<?xi32>) : tensor<?x?x64xf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x64xf16>, tensor<?x?xf32>
}

// -----

// Nothing to do.
// CHECK-LABEL: func.func @plain(
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) = (0, 0, 0)
func.func @plain(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
