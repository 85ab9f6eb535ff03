// A thread stores pairs of columns of the rows that exist; of a row vector, one thread of four stores.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s

// CHECK-LABEL: gpu.func @store
gpu.module @kernels {
  gpu.func @store(%O: memref<?x?x16xbf16>, %L: memref<?xf32>, %c: bf16, %d: f32, %i: index, %e: index) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %f = vector.broadcast %c : bf16 to vector<16x16xbf16>
      // CHECK: %[[IN:.*]] = arith.cmpi slt
      // CHECK: scf.if %[[IN]] {
      // CHECK-COUNT-2: llvm.store %{{.*}} : i32, !llvm.ptr<1>
      // CHECK: scf.if
      // CHECK-COUNT-2: llvm.store %{{.*}} : i32, !llvm.ptr<1>
      cta.store %f, %O[%i, %c0, %c0] : vector<16x16xbf16>, memref<?x?x16xbf16>
      %r = vector.broadcast %d : f32 to vector<16xf32>
      // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
      // CHECK: arith.andi %{{.*}}, %[[FIRST]]
      // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
      cta.store %r, %L[%i] : vector<16xf32>, memref<?xf32>
      // An end before the memref's.
      // CHECK: %[[END:.*]] = arith.index_cast %[[E:.*]] : index to i32
      // CHECK: arith.cmpi slt, %{{.*}}, %[[END]]
      cta.store %r, %L[%i] until %e : vector<16xf32>, memref<?xf32>
    }
    gpu.return
  }
}
