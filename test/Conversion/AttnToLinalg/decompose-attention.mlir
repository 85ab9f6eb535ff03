// RUN: fa-opt --decompose-attention --split-input-file -verify-diagnostics %s | FileCheck %s

// Three loops over batch and query heads, the whole tensors between them; grouped heads of K and V.
// CHECK-LABEL: func @grouped
// CHECK-SAME: %[[Q:.*]]: tensor<2x8x?x64xbf16>, %[[K:.*]]: tensor<2x2x?x64xbf16>, %[[V:.*]]: tensor<2x2x?x32xbf16>
// CHECK-DAG: %[[WHOLE:.*]] = tensor.empty(%{{.*}}, %{{.*}}) : tensor<2x8x?x?xf32>
// CHECK: %[[S:.*]] = scf.forall (%[[B:.*]], %[[H:.*]]) in (2, 8) shared_outs(%[[SO:.*]] = %[[WHOLE]])
// CHECK: %[[ST:.*]] = tensor.extract_slice %[[SO]][%[[B]], %[[H]], 0, 0]
// CHECK: tensor.extract_slice %[[Q]][%[[B]], %[[H]], 0, 0]
// CHECK: %[[HK:.*]] = arith.divui %[[H]]
// CHECK: tensor.extract_slice %[[K]][%[[B]], %[[HK]], 0, 0]
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[ST]]
// CHECK: %[[QK:.*]] = linalg.matmul {{.*}} outs(%[[ZERO]]
// CHECK: %[[MASKED:.*]] = linalg.generic {{.*}} outs(%[[QK]]
// CHECK: arith.mulf
// CHECK: arith.cmpi sle
// CHECK: arith.select
// CHECK: tensor.parallel_insert_slice %[[MASKED]] into %[[SO]]
// CHECK: %[[P:.*]]:2 = scf.forall (%[[B:.*]], %[[H:.*]]) in (2, 8) shared_outs(%[[PO:.*]] = %{{.*}}, %{{.*}}) -> (tensor<2x8x?x?xbf16>, tensor<2x8x?xf32>)
// CHECK: tensor.extract_slice %[[S]][%[[B]], %[[H]], 0, 0]
// CHECK: arith.maxnumf
// CHECK: math.exp2
// CHECK: arith.divf
// CHECK: math.exp2
// CHECK: arith.truncf
// CHECK: math.log2
// CHECK: %[[O:.*]] = scf.forall (%[[B:.*]], %[[H:.*]]) in (2, 8)
// CHECK: %[[PT:.*]] = tensor.extract_slice %[[P]]#0[%[[B]], %[[H]], 0, 0]
// CHECK: %[[VT:.*]] = tensor.extract_slice %[[V]][%[[B]]
// CHECK: linalg.matmul ins(%[[PT]], %[[VT]]
// CHECK: arith.truncf
// CHECK: return %[[O]], %[[P]]#1
func.func @grouped(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x2x?x64xbf16>, %v: tensor<2x2x?x32xbf16>) -> (tensor<2x8x?x32xbf16>, tensor<2x8x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x32xbf16>)
      using [#attn.causal] : tensor<2x8x?x32xbf16>, tensor<2x8x?xf32>
  return %o, %lse : tensor<2x8x?x32xbf16>, tensor<2x8x?xf32>
}

// -----

// One sequence; in f32 nothing is rounded.
// CHECK-LABEL: func @one
// CHECK: scf.forall (%{{.*}}) in (%{{.*}}) {{.*}} -> (tensor<?x7x9xf32>)
// CHECK-NOT: truncf
// CHECK: return
func.func @one(%q: tensor<?x7x16xf32>, %k: tensor<?x9x16xf32>) -> (tensor<?x7x16xf32>, tensor<?x7xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x7x16xf32>, tensor<?x9x16xf32>, tensor<?x9x16xf32>) : tensor<?x7x16xf32>, tensor<?x7xf32>
  return %o, %lse : tensor<?x7x16xf32>, tensor<?x7xf32>
}

// -----

// Packed sequences: a loop over them around the three.
// CHECK-LABEL: func @packed
// CHECK: scf.forall (%{{.*}}) in (3)
// CHECK-COUNT-3: scf.forall
// CHECK: return
func.func @packed(%q: tensor<4x?x16xf32>, %n: tensor<4xi32>) -> (tensor<4x?x16xf32>, tensor<4x?xf32>) {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<4x?x16xf32>, tensor<4x?x16xf32>, tensor<4x?x16xf32>)
      cu_seqlens(%n, %n : tensor<4xi32>, tensor<4xi32>) : tensor<4x?x16xf32>, tensor<4x?xf32>
  return %o, %lse : tensor<4x?x16xf32>, tensor<4x?xf32>
}

// -----

// expected-warning @+1 {{--decompose-attention found no attn.forward}}
func.func @nothing() {
  return
}
