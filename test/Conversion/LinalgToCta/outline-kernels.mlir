// RUN: fa-opt %s --outline-kernels | FileCheck %s
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir --fa2="level=arithmetic split-kv=argument" --outline-kernels \
// RUN:   | FileCheck %s --check-prefix=SPLIT

// A kernel takes what it reads, then what it writes. The scalar that the host multiplies is computed anew; sizes are
// asked of tensors that are there anyway; outputs of one shape get tensors of their own. What a loop prepares its kernel does.
// CHECK-LABEL: func.func private @two_0
// CHECK-SAME: (%[[A:.*]]: tensor<?x4xf32>, %[[S:.*]]: f32, %[[E:[^:]*]]: tensor<?x4xf32>, %[[F:[^:]*]]: tensor<?x4xf32>)
// CHECK-SAME: attributes {cta.plan = "two"}
// CHECK: %[[N:.*]] = tensor.dim %[[E]], %{{.*}} : tensor<?x4xf32>
// CHECK: %[[T:.*]] = arith.mulf %[[S]], %[[S]]
// CHECK: scf.forall (%{{.*}}) in (%[[N]]) shared_outs(%{{.*}} = %[[E]], %{{.*}} = %[[F]])
// CHECK: linalg.generic
// CHECK: arith.mulf %{{.*}}, %[[T]]
// CHECK-LABEL: func.func private @two_1
// CHECK-SAME: (%[[P:.*]]: tensor<?x4xf32>, %[[G:[^:]*]]: tensor<?x4xf32>)
// CHECK-SAME: attributes {cta.plan = "two", cta.prepares}
// CHECK-NOT: attn.prepares
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %[[A:.*]]: tensor<?x4xf32>, %[[S:.*]]: f32
// CHECK: %[[N:.*]] = tensor.dim %[[A]]
// CHECK: %[[E:.*]] = tensor.empty(%[[N]])
// CHECK: %[[F:.*]] = tensor.empty(%[[N]])
// CHECK: %[[R:.*]]:2 = call @two_0(%[[A]], %[[S]], %[[E]], %[[F]])
// CHECK: %[[G:.*]] = tensor.empty(%[[N]])
// CHECK: %[[Q:.*]] = call @two_1(%[[R]]#1, %[[G]])
// CHECK: return %[[R]]#0, %[[Q]]
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @two(%a: tensor<?x4xf32>, %s: f32) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %t = arith.mulf %s, %s : f32
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r:2 = scf.forall (%i) in (%n) shared_outs(%x = %e, %y = %e) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %row = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %o = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%row : tensor<1x4xf32>) {
    ^bb0(%v: f32):
      %m = arith.mulf %v, %t : f32
      linalg.yield %m : f32
    } -> tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %o into %x[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
      tensor.parallel_insert_slice %row into %y[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
    }
  }
  %q = scf.forall (%i) in (%n) shared_outs(%x = %e) -> (tensor<?x4xf32>) {
    %row = tensor.extract_slice %r#1[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %x[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
    }
  } {attn.prepares}
  return %r#0, %q : tensor<?x4xf32>, tensor<?x4xf32>
}

// The parts of a split attention are known by the shape of their states: no kernel has a parameter for them.
// SPLIT: func.func private @attention_0({{[^)]*}}f32, %[[ACC:[^:]*]]: tensor<?x?x?x?x128xf32>, %{{[^:]*}}: tensor<?x?x?x?xf32>, %{{[^:]*}}: tensor<?x?x?x?xf32>)
// SPLIT-SAME: attn.schedule
// SPLIT: %[[N:.*]] = tensor.dim %[[ACC]], %c0
// SPLIT: func.func private @attention_1({{[^)]*}}f32, %{{[^:]*}}: tensor<?x?x?x128xbf16>, %{{[^:]*}}: tensor<?x?x?xf32>)
// SPLIT-SAME: attn.schedule
// SPLIT: func.func @attention({{.*}}: f32, %[[SPLITS:.*]]: index)
// SPLIT-NOT: attn.schedule
// SPLIT: tensor.empty(%[[SPLITS]], %{{.*}}, %{{.*}}, %{{.*}}) : tensor<?x?x?x?x128xf32>
// SPLIT: %[[P:.*]]:3 = call @attention_0(
// SPLIT: %[[R:.*]]:2 = call @attention_1(%[[P]]#0, %[[P]]#1, %[[P]]#2,
// SPLIT: return %[[R]]#0, %[[R]]#1
