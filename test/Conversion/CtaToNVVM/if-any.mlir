// A warp votes; a ring's cursor depends on the branch that used it.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s

!t = !cta.tile<16x64xbf16, swizzle = 128>
!r = !cta.ring<2, !t>
!m = memref<?x64xbf16>

// CHECK-LABEL: gpu.func @if_any
// CHECK: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %{{.*}} -> i1
// CHECK: scf.if %[[ANY]] -> (vector<1x8x4xbf16>) {
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: } else {
// CHECK: %[[CURSOR:.*]] = arith.select %[[ANY]], %c2048_i32, %c0_i32
// CHECK: nvvm.cp.async.wait.group 0
gpu.module @kernels {
  gpu.func @if_any(%K: !m, %O: !m, %d: f32) kernel {
    %c0 = arith.constant 0 : index
    %ring = cta.ring : !r
    %one = arith.constant dense<1.0> : vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16x64xbf16>
    cta.role "all" teams(%w in 1) warps(1) {
      %row = vector.broadcast %d : f32 to vector<16xf32>
      %big = arith.cmpf ogt, %row, %one : vector<16xf32>
      %f = cta.if_any %big : vector<16xi1> -> (vector<16x64xbf16>) {
        %e = cta.acquire %ring : !r
        cta.copy %K[%c0, %c0] to %e : !m, !t
        %k = cta.consume %ring : !r
        %x = cta.read %k : !t -> vector<16x64xbf16>
        cta.release %k : !t
        cta.yield %x : vector<16x64xbf16>
      } else {
        cta.yield %zero : vector<16x64xbf16>
      }
      %e = cta.acquire %ring : !r
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r
      %x = cta.read %k : !t -> vector<16x64xbf16>
      cta.release %k : !t
      cta.store %x, %O[%c0, %c0] : vector<16x64xbf16>, !m
      cta.store %f, %O[%c0, %c0] : vector<16x64xbf16>, !m
    }
    gpu.return
  }
}
