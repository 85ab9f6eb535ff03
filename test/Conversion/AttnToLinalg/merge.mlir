// RUN: fa-opt --online-softmax %s | FileCheck %s

// Two loops over the states, each of which is a slice of its own: their maximum, then their sum; the state in outs is
// rescaled first, in place.
// CHECK-LABEL: func @tiles
// CHECK-SAME: %[[AS:.*]]: tensor<?x64x32xf32>, %[[MS:.*]]: tensor<?x64xf32>, %[[LS:[^ ]*]]: tensor<?x64xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[MS]], %{{.*}}
// CHECK: %[[MAX:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[N]] {{.*}} -> (tensor<64xf32>)
// CHECK: tensor.extract_slice %[[MS]][%[[I]], 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
// CHECK: arith.maxnumf
// CHECK: %[[ROWS:.*]]:4 = linalg.generic {{.*}} ins(%[[MAX]]
// CHECK: %[[OLD:.*]] = linalg.generic {{.*}} ins(%[[ROWS]]#3
// CHECK: %[[ALL:.*]]:2 = scf.for %[[I:.*]] = {{.*}} iter_args(%[[A:.*]] = %[[OLD]], %[[L:.*]] = %[[ROWS]]#1)
// CHECK: %[[M:.*]] = tensor.extract_slice %[[MS]][%[[I]], 0]
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%[[M]], %[[ROWS]]#2
// CHECK: math.exp2
// CHECK: %[[S:.*]] = tensor.extract_slice %[[LS]][%[[I]], 0]
// CHECK: %[[P:.*]] = tensor.extract_slice %[[AS]][%[[I]], 0, 0] [1, 64, 32] [1, 1, 1] : tensor<?x64x32xf32> to tensor<64x32xf32>
// CHECK: linalg.generic {{.*}} ins(%[[W]], %[[P]] {{.*}} outs(%[[A]]
// CHECK: linalg.generic {{.*}} ins(%[[W]], %[[S]] {{.*}} outs(%[[L]]
// CHECK: return %[[ALL]]#0, %[[ROWS]]#0, %[[ALL]]#1
func.func @tiles(%as: tensor<?x64x32xf32>, %ms: tensor<?x64xf32>, %ls: tensor<?x64xf32>, %u: f32, %a: tensor<64x32xf32>, %m: tensor<64xf32>,
                 %l: tensor<64xf32>) -> (tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>) {
  %r:3 = attn.merge ins(%as, %ms, %ls : tensor<?x64x32xf32>, tensor<?x64xf32>, tensor<?x64xf32>) unit(%u)
      outs(%a, %m, %l : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>)
  return %r#0, %r#1, %r#2 : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>
}

// Normalised accumulators weigh as much as their sums, and the new sum divides.
// CHECK-LABEL: func @normalized
// CHECK: %[[OLD:.*]] = linalg.generic {{.*}} ins(%[[ROWS:.*]]#1
// CHECK: %[[ALL:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[OLD]], %{{.*}} = %[[ROWS]]#1)
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[ROWS]]#2
// CHECK: %[[S:.*]] = tensor.extract_slice {{.*}} : tensor<3x1x2x8xf32> to tensor<1x2x8xf32>
// CHECK: %[[P:.*]] = tensor.extract_slice {{.*}} : tensor<3x1x2x8x32xf32> to tensor<1x2x8x32xf32>
// CHECK: linalg.generic {{.*}} ins(%[[W]], %[[S]], %[[P]] {{.*}} outs(%[[A]]
// CHECK: scf.yield
// CHECK: %[[INV:.*]] = linalg.generic
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}} ins(%[[INV]] {{.*}} outs(%[[ALL]]#0
func.func @normalized(%as: tensor<3x1x2x8x32xf32>, %ms: tensor<3x1x2x8xf32>, %ls: tensor<3x1x2x8xf32>, %u: f32, %a: tensor<1x2x8x32xf32>,
                      %m: tensor<1x2x8xf32>, %l: tensor<1x2x8xf32>) -> tensor<1x2x8x32xf32> {
  %r:3 = attn.merge normalized ins(%as, %ms, %ls : tensor<3x1x2x8x32xf32>, tensor<3x1x2x8xf32>, tensor<3x1x2x8xf32>) unit(%u)
      outs(%a, %m, %l : tensor<1x2x8x32xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>)
  return %r#0 : tensor<1x2x8x32xf32>
}
