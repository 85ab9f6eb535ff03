// Loads are 16-byte asynchronous copies; tiles that stick out of the tensor read zeros by a size of 0.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only -split-input-file | FileCheck %s

!t = !cta.tile<32x64xbf16, swizzle = 128>

// A team of one warp copies 4 rows at once: 8 times, and meets alone.
// CHECK-LABEL: gpu.func @each
// CHECK: scf.if
// CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg :
// CHECK: } else {
// CHECK: %[[IN:.*]] = arith.cmpi slt
// CHECK: %[[SIZE:.*]] = arith.select %[[IN]], %c16_i32, %c0_i32
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
// CHECK-COUNT-7: nvvm.cp.async.shared.global
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.bar.warp.sync
gpu.module @a {
  gpu.func @each(%A: memref<?x64xbf16>, %O: memref<?x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 4) warps(1) {
      %a = cta.load each %A[%c0, %c0] : memref<?x64xbf16> -> !t
      %f = cta.read %a : !t -> vector<32x64xbf16>
      cta.store %f, %O[%c0, %c0] : vector<32x64xbf16>, memref<?x64xbf16>
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<32x64xbf16, swizzle = 128>

// All 128 threads share a copy, twice; in a loop they meet before it too.
// CHECK-LABEL: gpu.func @once
// CHECK: scf.for
// CHECK: nvvm.barrier
// CHECK: scf.if
// CHECK-COUNT-2: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg :
// CHECK: } else {
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.barrier
gpu.module @b {
  gpu.func @once(%A: memref<?x64xbf16>, %O: memref<?x64xbf16>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    cta.role "all" teams(%w in 4) warps(1) {
      scf.for %i = %c0 to %n step %c32 {
        %a = cta.load once %A[%i, %c0] : memref<?x64xbf16> -> !t
        %f = cta.read %a : !t -> vector<32x64xbf16>
        cta.store %f, %O[%i, %c0] : vector<32x64xbf16>, memref<?x64xbf16>
      }
    }
    gpu.return
  }
}
