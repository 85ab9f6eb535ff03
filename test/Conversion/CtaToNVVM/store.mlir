// A thread stores pairs of columns of the rows that exist, and chunks of 8 where a quad has four of them to exchange; of a row
// vector, one thread of four stores.
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

  // Four blocks of 8 columns: a transposition in the quad, 4 shuffles for each
  // of the two rows of a thread, and one store of 16 bytes a row; the fifth
  // block in pairs.
  // CHECK-LABEL: gpu.func @chunks
  gpu.func @chunks(%O: memref<?x?x40xbf16>, %c: bf16, %i: index) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %f = vector.broadcast %c : bf16 to vector<16x40xbf16>
      // CHECK-COUNT-4: nvvm.shfl.sync bfly
      // CHECK: scf.if
      // CHECK-COUNT-1: llvm.store %{{.*}} : vector<4xi32>, !llvm.ptr<1>
      // CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<1>
      // CHECK-NEXT: }
      // CHECK-COUNT-4: nvvm.shfl.sync bfly
      // CHECK-NOT: nvvm.shfl.sync
      // CHECK: llvm.store %{{.*}} : vector<4xi32>, !llvm.ptr<1>
      cta.store %f, %O[%i, %c0, %c0] : vector<16x40xbf16>, memref<?x?x40xbf16>
    }
    gpu.return
  }
}
