// RUN: fa-opt --online-softmax %s | FileCheck %s

// States are the outermost loop, a reduction; the state in outs is rescaled first, in place.
// CHECK-DAG: #[[ALL2:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW2:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[ALL3:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[W3:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[ACC3:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func @tiles
// CHECK-SAME: %[[AS:.*]]: tensor<?x64x32xf32>, %[[MS:.*]]: tensor<?x64xf32>, %[[LS:[^ ]*]]: tensor<?x64xf32>
// CHECK: %[[MAX:.*]] = linalg.generic {indexing_maps = [#[[ALL2]], #[[ROW2]]], iterator_types = ["reduction", "parallel"]} ins(%[[MS]]
// CHECK: arith.maxnumf
// CHECK: %[[ROWS:.*]]:4 = linalg.generic {{.*}} ins(%[[MAX]]
// CHECK: %[[W:.*]] = linalg.generic {indexing_maps = [#[[ALL2]], #[[ROW2]], #[[ALL2]]], iterator_types = ["parallel", "parallel"]} ins(%[[MS]], %[[ROWS]]#2
// CHECK: math.exp2
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[W]], %[[LS]] {{.*}} outs(%[[ROWS]]#1
// CHECK: %[[OLD:.*]] = linalg.generic {{.*}} ins(%[[ROWS]]#3
// CHECK: %[[ACC:.*]] = linalg.generic {indexing_maps = [#[[W3]], #[[ALL3]], #[[ACC3]]], iterator_types = ["reduction", "parallel", "parallel"]} ins(%[[W]], %[[AS]] {{.*}} outs(%[[OLD]]
// CHECK: return %[[ACC]], %[[ROWS]]#0, %[[SUM]]
func.func @tiles(%as: tensor<?x64x32xf32>, %ms: tensor<?x64xf32>, %ls: tensor<?x64xf32>, %u: f32, %a: tensor<64x32xf32>, %m: tensor<64xf32>,
                 %l: tensor<64xf32>) -> (tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>) {
  %r:3 = attn.merge ins(%as, %ms, %ls : tensor<?x64x32xf32>, tensor<?x64xf32>, tensor<?x64xf32>) unit(%u)
      outs(%a, %m, %l : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>)
  return %r#0, %r#1, %r#2 : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>
}

// Normalised accumulators weigh as much as their sums, and the new sum divides.
// CHECK-LABEL: func @normalized
// CHECK-SAME: %[[AS:.*]]: tensor<3x1x2x8x32xf32>, %[[MS:.*]]: tensor<3x1x2x8xf32>, %[[LS:[^ ]*]]: tensor<3x1x2x8xf32>
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%[[MS]], %[[ROWS:.*]]#2
// CHECK: %[[OLD:.*]] = linalg.generic {{.*}} ins(%[[ROWS]]#1
// CHECK: %[[ACC:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[AS]], %[[LS]] {{.*}} outs(%[[OLD]]
// CHECK: %[[INV:.*]] = linalg.generic
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}} ins(%[[INV]] {{.*}} outs(%[[ACC]]
func.func @normalized(%as: tensor<3x1x2x8x32xf32>, %ms: tensor<3x1x2x8xf32>, %ls: tensor<3x1x2x8xf32>, %u: f32, %a: tensor<1x2x8x32xf32>,
                      %m: tensor<1x2x8xf32>, %l: tensor<1x2x8xf32>) -> tensor<1x2x8x32xf32> {
  %r:3 = attn.merge normalized ins(%as, %ms, %ls : tensor<3x1x2x8x32xf32>, tensor<3x1x2x8xf32>, tensor<3x1x2x8xf32>) unit(%u)
      outs(%a, %m, %l : tensor<1x2x8x32xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32>)
  return %r#0 : tensor<1x2x8x32xf32>
}
