// A head dimension that is no multiple of 64: the map is of whole rows, and each instruction moves one segment, all of whose bytes
// the barrier counts (64 rows of two segments). The second one reaches past the row.
// RUN: sed -e s/x128x/x96x/g %S/../../../kernels-gen/specs/attention.mlir | fa-opt --fa3="level=cta teams=2 br=128 bc=128" "--lower-to-nvvm=chip=sm_90a tiles-only" | FileCheck %s
// RUN: sed -e s/x128x/x96x/g %S/../../../kernels-gen/specs/attention.mlir | fa-run - --fa3 --on=sim --check --sizes=Sq=100,Skv=150

// CHECK: cta.tensor_maps = [#cta.tensor_map<arg = 0, rows = 64, cols = 96, swizzle = 128>
// CHECK: nvvm.mbarrier.arrive.expect_tx %[[FULL:.*]], %c16384_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP:.*]], %[[FULL]], box[%c0_i32, %[[ROW:.*]], %c0_i32, %{{.*}}, %{{.*}}]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[FULL]], box[%c64_i32, %[[ROW]], %c0_i32, %{{.*}}, %{{.*}}]
// The product with V has as many columns as a row.
// CHECK: wgmma.mma_async.sync.aligned.m64n96k16
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %{{.*}}, box[%c0_i32,
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %{{.*}}, box[%c64_i32,
