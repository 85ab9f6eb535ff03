// A tile of f32 in fragments: pairs of 8 bytes, the swizzle xored into one address for each of the four blocks of 8 columns in a
// segment. Of a matrix with a dynamic number of columns each instruction copies a segment of 32, at the column where it begins. Lanes order
// their reads before the next copy's writes and meet before one of them says that the warp has read the stage.
// RUN: fa-opt %s --lower-to-nvvm="chip=sm_90a tiles-only" -split-input-file | FileCheck %s
// RUN: fa-opt %s --lower-to-nvvm=chip=sm_90a -split-input-file -o /dev/null

!t = !cta.tile<64x64xf32, swizzle = 128>
!r = !cta.ring<2, !t>
!m = memref<?x?x?xf32, strided<[?, ?, 1]>>

// CHECK-LABEL: gpu.func @pairs
// CHECK-SAME: cta.tensor_maps = [#cta.tensor_map<arg = 0, rows = 64, cols = 64, swizzle = 128>]
gpu.module @kernels {
  gpu.func @pairs(%M: !m, %O: memref<?x64xf32>, %h: index, %i: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %r = cta.ring each(1) : !r
    cta.role "load" teams(%w in 1) warps(4) regs(24) {
      // CHECK: scf.for %[[J:[a-z0-9]+]] = %c0_i32
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%[[J]], %{{.*}}, %c0_i32, %{{.*}}, %c0_i32]
      // CHECK: llvm.getelementptr %{{.*}}[8192]
      // CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %c32_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%[[NEXT]], %{{.*}}, %c0_i32, %{{.*}}, %c0_i32]
      scf.for %j = %c0 to %n step %c64 {
        %e = cta.acquire %r[%c0] : !r
        cta.copy %M[%h, %i, %j] to %e : !m, !t
      }
    }
    cta.role "compute" teams(%w in 1) warps(4) regs(240) {
      // CHECK: } else {
      %s = scf.for %j = %c0 to %n step %c64 iter_args(%sum = %zero) -> (vector<64x64xf32>) {
        // CHECK: nvvm.mbarrier.try_wait.parity
        // CHECK-COUNT-16: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
        // CHECK-NOT: llvm.load
        // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        // CHECK-NEXT: nvvm.bar.warp.sync
        // CHECK: nvvm.mbarrier.arrive
        %k = cta.consume %r : !r
        %f = cta.read %k : !t -> vector<64x64xf32>
        cta.release %k : !t
        %next = arith.addf %sum, %f : vector<64x64xf32>
        scf.yield %next : vector<64x64xf32>
      }
      cta.store %s, %O[%c0, %c0] : vector<64x64xf32>, memref<?x64xf32>
    }
    gpu.return
  }
}

// -----

// Where the number of columns is known, and is of whole segments, one instruction moves the tile.
// CHECK-LABEL: gpu.func @known
!t = !cta.tile<64x64xf32, swizzle = 128>
gpu.module @kernels {
  gpu.func @known(%M: memref<?x256xf32>, %O: memref<?x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    cta.role "all" teams(%w in 1) warps(4) {
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%c0_i32, %c64_i32, %c2_i32, %c0_i32, %c0_i32]
      // CHECK-NOT: nvvm.cp.async.bulk.tensor
      %k = cta.load each %M[%c64, %c64] : memref<?x256xf32> -> !t
      %f = cta.read %k : !t -> vector<64x64xf32>
      cta.store %f, %O[%c0, %c0] : vector<64x64xf32>, memref<?x64xf32>
    }
    gpu.return
  }
}

// -----

// What a team's threads read of a load in a loop comes before the next load's writes too.
// CHECK-LABEL: gpu.func @again
!t = !cta.tile<64x64xf32, swizzle = 128>
gpu.module @kernels {
  gpu.func @again(%M: memref<?x256xf32>, %O: memref<?x64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    cta.role "all" teams(%w in 1) warps(4) {
      // CHECK: scf.for
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      // CHECK: nvvm.barrier
      // CHECK: nvvm.cp.async.bulk.tensor
      %s = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (vector<64x64xf32>) {
        %k = cta.load each %M[%i, %c64] : memref<?x256xf32> -> !t
        %f = cta.read %k : !t -> vector<64x64xf32>
        %next = arith.addf %sum, %f : vector<64x64xf32>
        scf.yield %next : vector<64x64xf32>
      }
      cta.store %s, %O[%c0, %c0] : vector<64x64xf32>, memref<?x64xf32>
    }
    gpu.return
  }
}
