// What a ring comes down to: waits that leave later groups in flight, one barrier a consume, and a cursor.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s

!t = !cta.tile<64x64xbf16, swizzle = 128>
!r2 = !cta.ring<2, !t>
!m = memref<?x64xbf16>

// CHECK-LABEL: gpu.func @prefetched
// CHECK-SAME: cta.shared_bytes = 16384
// CHECK-COUNT-2: nvvm.cp.async.commit.group
// CHECK: scf.for {{.*}} iter_args(%[[CURSOR:.*]] = %c0_i32)
// The first of the two groups in flight is done when one is left.
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.barrier
// The stage was released before this iteration's own consume, so a barrier is due again before it is filled.
// CHECK: nvvm.barrier
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: nvvm.barrier
// CHECK: scf.yield
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.cp.async.wait.group 0
gpu.module @kernels {
  gpu.func @prefetched(%K: !m, %O: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %ring = cta.ring : !r2
    cta.role "all" teams(%w in 1) warps(4) {
      %a = cta.acquire %ring : !r2
      cta.copy %K[%c0, %c0] to %a : !m, !t
      %b = cta.acquire %ring : !r2
      cta.copy %K[%c64, %c0] to %b : !m, !t
      scf.for %j = %c0 to %n step %c64 {
        %k = cta.consume %ring : !r2
        %f = cta.read %k : !t -> vector<64x64xbf16>
        cta.release %k : !t
        %e = cta.acquire %ring : !r2
        cta.copy %K[%j, %c0] to %e : !m, !t
        cta.store %f, %O[%j, %c0] : vector<64x64xbf16>, !m
      }
      %x = cta.consume %ring : !r2
      cta.release %x : !t
      %y = cta.consume %ring : !r2
      cta.release %y : !t
    }
    gpu.return
  }
}
