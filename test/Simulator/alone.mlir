// A kernel without a problem: its tensors are static and random, its scalars 1 or what --arg says, and each tensor that it
// stores to is summed up. Here rows [from, from + 16) are copied to the first ones, times a factor.
// RUN: fa-run %s --on=sim --arg=2=16 --arg=3=0 | FileCheck %s --check-prefix=ZERO
// ZERO: argument 1 shape 16x64, sum of finite elements 0, first {{-?}}0, {{-?}}0, {{-?}}0, {{-?}}0

// Rows past the end are not there; the row vector counts them.
// RUN: fa-run %s --on=sim --arg=2=56 --arg=3=0 --sim-seed=3 | FileCheck %s --check-prefix=END
// END: argument 4 shape 16, sum of finite elements 120, first 0, 1, 2, 3

// The same seed gives the same numbers.
// RUN: fa-run %s --on=sim --arg=2=16 --seed=4 > %t.first
// RUN: fa-run %s --on=sim --arg=2=16 --seed=4 --sim-seed=9 | diff %t.first -
// RUN: fa-run %s --on=sim --arg=2=16 --seed=5 | not diff %t.first - > %t.diff

!t = !cta.tile<16x64xf16, swizzle = 128>
!ring = !cta.ring<1, !t>
gpu.module @kernels {
  gpu.func @scale(%K: memref<64x64xf16>, %O: memref<16x64xf32>, %from: index, %factor: f32, %N: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %ring = cta.ring : !ring
    cta.role "load" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !ring
      cta.copy %K[%from, %c0] to %e : memref<64x64xf16>, !t
    }
    cta.role "compute" teams(%w in 1) warps(1) {
      %k = cta.consume %ring : !ring
      %h = cta.read %k : !t -> vector<16x64xf16>
      cta.release %k : !t
      %f = arith.extf %h : vector<16x64xf16> to vector<16x64xf32>
      %b = vector.broadcast %factor : f32 to vector<16x64xf32>
      %r = arith.mulf %f, %b : vector<16x64xf32>
      cta.store %r, %O[%c0, %c0] : vector<16x64xf32>, memref<16x64xf32>
      %n = cta.row %zero : vector<16xi32>
      %g = arith.sitofp %n : vector<16xi32> to vector<16xf32>
      cta.store %g, %N[%c0] : vector<16xf32>, memref<16xf32>
    }
    gpu.return
  }
}
