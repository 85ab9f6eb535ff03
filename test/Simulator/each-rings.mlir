// Rings that are each team's: the loading role fills Q for one team after the other, and each computing team reads its own.
// The kernel is right in several orders, and goes on from item to item; faults name the team.

// DEFINE: %{kernel} = specialised
// DEFINE: %{run} = fa-run %S/../Conversion/CtaToNVVM/Inputs/specialised.mlir --on=sim --reference=%S/Inputs/attention-128.mlir --check --sim-kernel=%{kernel} --sizes=Sq=256,Skv=512 --sizes=B=2,Hq=1,Hkv=1,Sq=200,Skv=128
// RUN: %{run}
// RUN: %{run} --sim-seed=1 --sim-blocks=1
// RUN: %{run} --sim-seed=2 --sim-blocks=3
// REDEFINE: %{kernel} = persistent
// RUN: %{run}
// RUN: %{run} --sim-seed=1 --sim-blocks=1

!t = !cta.tile<16x64xbf16, swizzle = 128>
!r = !cta.ring<1, !t>
!m = memref<64x64xbf16>

gpu.module @kernels {
  // Team 1's ring is filled, and never consumed.
  // RUN: not fa-run %s --on=sim --sim-kernel=one_team 2>&1 | FileCheck %s --check-prefix=ONE-TEAM
  // ONE-TEAM: error: block 0, team 0 of "compute": 'cta.consume' waits forever for stage 0 to be full, whose copy by team 0 of "load" has not been started (deadlock)
  gpu.func @one_team(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %qr = cta.ring each(2) : !r
    cta.role "load" teams(%w in 1) warps(1) {
      %e = cta.acquire %qr[%c1] : !r
      cta.copy %K[%c0, %c0] to %e : !m, !t
    }
    cta.role "compute" teams(%w in 2) warps(1) {
      %k = cta.consume %qr : !r
      cta.release %k : !t
    }
    gpu.return
  }

  // RUN: not fa-run %s --on=sim --sim-kernel=no_team 2>&1 | FileCheck %s --check-prefix=NO-TEAM
  // NO-TEAM: error: block 0, team 0 of "load": 'cta.acquire' names team 64 of 2
  gpu.func @no_team(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %n = memref.dim %K, %c0 : !m
    %qr = cta.ring each(2) : !r
    cta.role "load" teams(%w in 1) warps(1) {
      %e = cta.acquire %qr[%n] : !r
      cta.copy %K[%c0, %c0] to %e : !m, !t
    }
    cta.role "compute" teams(%w in 2) warps(1) {
      %k = cta.consume %qr : !r
      cta.release %k : !t
    }
    gpu.return
  }
}
