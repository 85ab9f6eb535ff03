// A row is reduced in the thread and then over the four threads that share it, for each slab and half.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s

// CHECK-LABEL: gpu.func @reduce
// CHECK: %[[A:.*]] = arith.maxnumf
// CHECK: %[[S1:.*]] = nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c1_i32
// CHECK: arith.maxnumf %{{.*}}, %[[S1]]
// CHECK: %[[S2:.*]] = nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c2_i32
// CHECK: %[[M:.*]] = arith.maxnumf %{{.*}}, %[[S2]]
// CHECK: arith.maxnumf %[[M]],
// CHECK-COUNT-6: nvvm.shfl.sync bfly
// CHECK: arith.addf
// CHECK-COUNT-8: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl
gpu.module @kernels {
  gpu.func @reduce(%L: memref<?xf32>, %i: i32) kernel {
    %c0 = arith.constant 0 : index
    %ninf = arith.constant dense<0xFF800000> : vector<32xf32>
    cta.role "all" teams(%w in 4) warps(1) {
      %row = cta.row %i : vector<32x16xi32>
      %f = arith.sitofp %row : vector<32x16xi32> to vector<32x16xf32>
      %max = vector.multi_reduction <maxnumf>, %f, %ninf [1] : vector<32x16xf32> to vector<32xf32>
      %sum = vector.multi_reduction <add>, %f, %max [1] : vector<32x16xf32> to vector<32xf32>
      cta.store %sum, %L[%c0] : vector<32xf32>, memref<?xf32>
    }
    gpu.return
  }
}
