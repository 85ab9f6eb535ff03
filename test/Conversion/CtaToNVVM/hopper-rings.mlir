// Rings to mbarriers: "full" counts one thread and the copy's bytes, "empty" the warps that read. Cursors change without division.
// RUN: fa-opt %s --lower-to-nvvm="chip=sm_90a tiles-only" -split-input-file | FileCheck %s

!t = !cta.tile<64x64xbf16, swizzle = 128>
!r = !cta.ring<2, !t>
!q = !cta.ring<1, !t>
!m = memref<?x64xbf16>

// Two stages, one a turn: the stage and the parity are carried.
// CHECK-LABEL: gpu.func @roles
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr)
// CHECK-SAME: cta.shared_bytes = 33792 : i64
// CHECK-SAME: cta.tensor_maps = [#cta.tensor_map<arg = 0, rows = 64, cols = 64, swizzle = 128>]
gpu.module @kernels {
  gpu.func @roles(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i32
    // CHECK-DAG: %[[BYTES:.*]] = arith.constant 8192 : i32
    // CHECK: nvvm.mbarrier.init %{{.*}}, %[[ONE]] :
    // CHECK: nvvm.mbarrier.init %{{.*}}, %[[EIGHT]] :
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK: nvvm.barrier
    %r = cta.ring : !r
    %q = cta.ring each(2) : !q
    cta.role "load" teams(%w in 1) warps(4) regs(24) {
      // CHECK: nvvm.setmaxregister  decrease 24
      // Each team's ring has its own barriers. The first phase of "empty" counts as done.
      // CHECK-COUNT-2: nvvm.mbarrier.try_wait.parity %{{.*}}, %[[ONE]],
      scf.for %t = %c0 to %c2 step %c1 {
        %e = cta.acquire %q[%t] : !q
        cta.copy %K[%c0, %c0] to %e : !m, !t
      }
      // CHECK: scf.for {{.*}} iter_args(%[[STAGE:.*]] = %c0_i32, %[[PARITY:.*]] = %[[ONE]])
      // CHECK: nvvm.mbarrier.try_wait.parity %{{.*}}, %[[PARITY]],
      // CHECK: nvvm.mbarrier.arrive.expect_tx %[[FULL:.*]], %[[BYTES]] :
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[FULL]], box[%c0_i32, %{{.*}}, %c0_i32, %c0_i32, %c0_i32] : !llvm.ptr<7>, !llvm.ptr
      // CHECK-DAG: %[[NEXT:[0-9]+]] = arith.xori %[[STAGE]], %[[ONE]]
      // CHECK-DAG: %[[FLIPPED:[0-9]+]] = arith.xori %[[PARITY]], %[[STAGE]]
      // CHECK: scf.yield %[[NEXT]], %[[FLIPPED]]
      scf.for %j = %c0 to %n step %c64 {
        %e = cta.acquire %r : !r
        cta.copy %K[%j, %c0] to %e : !m, !t
      }
    }
    // CHECK: } else {
    // CHECK: nvvm.setmaxregister  increase 240
    cta.role "compute" teams(%w in 2) warps(4) regs(240) {
      %a = cta.consume %q : !q
      // CHECK: scf.for {{.*}} iter_args(%[[STAGE2:.*]] = %c0_i32, %[[PARITY2:.*]] = %c0_i32)
      // CHECK: nvvm.mbarrier.try_wait.parity %{{.*}}, %[[PARITY2]],
      // CHECK: scf.if
      // CHECK: nvvm.mbarrier.arrive
      scf.for %j = %c0 to %n step %c64 {
        %k = cta.consume %r : !r
        cta.release %k : !t
      }
      cta.release %a : !t
    }
    gpu.return
  }
}

// -----

// As many turns as there are stages: stages are constants and the parity flips.
// CHECK-LABEL: gpu.func @unrolled
!t = !cta.tile<64x64xbf16, swizzle = 128>
!r = !cta.ring<3, !t>
!m = memref<?x64xbf16>
gpu.module @kernels {
  gpu.func @unrolled(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c192 = arith.constant 192 : index
    %r = cta.ring : !r
    cta.role "load" teams(%w in 1) warps(4) {
      // Any number of stages: wrapped by a comparison.
      // CHECK: scf.for {{.*}} iter_args(%[[STAGE:.*]] = %c0_i32, %[[PARITY:.*]] = %c1_i32)
      // CHECK-DAG: %[[NEXT:[0-9]+]] = arith.addi %[[STAGE]], %c1_i32
      // CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %c3_i32
      // CHECK: arith.select %[[WRAPS]], %c0_i32, %[[NEXT]]
      scf.for %j = %c0 to %n step %c64 {
        %e = cta.acquire %r : !r
        cta.copy %K[%j, %c0] to %e : !m, !t
      }
    }
    cta.role "compute" teams(%w in 1) warps(4) {
      // CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %c0_i32) -> (i32)
      // CHECK-COUNT-3: nvvm.mbarrier.try_wait.parity %{{.*}}, %[[P]],
      // CHECK: %[[F:.*]] = arith.xori %[[P]], %c1_i32
      // CHECK: scf.yield %[[F]]
      scf.for %j = %c0 to %n step %c192 {
        %k = cta.consume %r : !r
        cta.release %k : !t
        %l = cta.consume %r : !r
        cta.release %l : !t
        %m = cta.consume %r : !r
        cta.release %m : !t
      }
    }
    gpu.return
  }
}
