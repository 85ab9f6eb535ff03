// RUN: fa-opt --tile --interchange --delay-normalization --skip-masked-blocks --split-kv=splits=4 %s | FileCheck %s
// RUN: fa-opt --tile --interchange --delay-normalization --split-kv=splits=4 --skip-masked-blocks %s | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt --tile --interchange --delay-normalization --split-kv %s | FileCheck %s --check-prefix=AUTO

// CHECK-LABEL: func @causal
// CHECK: %[[PARTS:.*]]:3 = scf.forall (%[[S:.*]], %[[I:.*]], %[[H:.*]], %[[B:.*]]) = (0, 0, 0, 0) to (4, {{.*}}) step (1, 128, 1, 1)
// CHECK-SAME: shared_outs(%[[ACCS:.*]] = %{{.*}}, %[[MAXS:.*]] = %{{.*}}, %[[SUMS:.*]] = %{{.*}}) -> (tensor<4x2x8x?x64xf32>, tensor<4x2x8x?xf32>, tensor<4x2x8x?xf32>)
// Equal shares of the blocks that the mask leaves.
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %[[END:.*]], %c64
// CHECK: %[[SHARE:.*]] = arith.muli %[[BLOCKS]], %[[S]]
// CHECK: arith.divsi %[[SHARE]], %c4
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: attn.finalize
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[ACCS]][%[[S]], %[[B]], %[[H]], %[[I]], 0] [1, 1, 1, %{{.*}}, 64]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[MAXS]][%[[S]], %[[B]], %[[H]], %[[I]]] [1, 1, 1, %{{.*}}]
// CHECK: scf.forall (%[[I:.*]], %[[H:.*]], %[[B:.*]]) =
// CHECK: tensor.extract_slice %[[PARTS]]#0[0, %[[B]], %[[H]], %[[I]], 0] [4, 1, 1, %{{.*}}, 64] {{.*}} to tensor<4x?x64xf32>
// CHECK: %[[A:.*]], %[[M:.*]], %[[L:.*]] = attn.merge ins(
// CHECK: attn.finalize ins(%[[A]], %[[M]], %[[L]]

// Skipping after splitting cuts and splits each part's loop.
// FIRST-LABEL: func @causal
// FIRST: scf.forall
// FIRST: scf.for
// FIRST: scf.for
// FIRST: scf.forall
// FIRST: attn.merge

// The number of parts from the launch's sizes.
// AUTO-LABEL: func @causal
// AUTO: %[[BEST:.*]] = scf.for
// AUTO: arith.maxsi
// AUTO: %[[N:.*]] = scf.for
// AUTO: arith.select
// AUTO: tensor.empty(%[[N]], %{{.*}}) : tensor<?x2x8x?x64xf32>
// AUTO: scf.forall (%{{.*}}) = (0, 0, 0, 0) to (%[[N]], %{{.*}}, 8, 2)
// AUTO: attn.merge
func.func @causal(%q: tensor<2x8x?x64xf16>, %k: tensor<2x8x?x64xf16>) -> (tensor<2x8x?x64xf16>, tensor<2x8x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>)
      using [#attn.causal] : tensor<2x8x?x64xf16>, tensor<2x8x?xf32>
  return %o, %lse : tensor<2x8x?x64xf16>, tensor<2x8x?xf32>
}
