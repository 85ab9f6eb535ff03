// The protocol of rings: each program breaks one rule.

!t = !cta.tile<16x64xbf16, swizzle = 128>
!r1 = !cta.ring<1, !t>
!r2 = !cta.ring<2, !t>
!m = memref<64x64xbf16>
!f = !cta.flight<16x16xf32>
!v = vector<16x16xf32>
!o = memref<16x16xf32>

gpu.module @kernels {

  // A stage that nobody releases: the next acquire waits forever.
  // RUN: not fa-run %s --on=sim --sim-kernel=not_released 2>&1 | FileCheck %s --check-prefix=NOT-RELEASED
  // NOT-RELEASED: error: block 0, team 0 of "all": 'cta.acquire' waits forever for stage 0 to be free, which team 0 of "all" has not released (deadlock)
  gpu.func @not_released(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r1
      %e2 = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e2 : !m, !t
      cta.release %k : !t
    }
    gpu.return
  }

  // A stage that is acquired and not filled.
  // RUN: not fa-run %s --on=sim --sim-kernel=not_copied 2>&1 | FileCheck %s --check-prefix=NOT-COPIED
  // NOT-COPIED: error: block 0, team 0 of "compute": 'cta.consume' waits forever for stage 0 to be full, whose copy by team 0 of "load" has not been started (deadlock)
  // NOT-COPIED: note: team 0 of "load" has ended
  gpu.func @not_copied(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    cta.role "load" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
    }
    cta.role "compute" teams(%w in 1) warps(1) {
      %k = cta.consume %ring : !r1
      cta.release %k : !t
    }
    gpu.return
  }

  // Both roles wait for one another; each is named, with its place.
  // RUN: not fa-run %s --on=sim --sim-kernel=who_waits 2>&1 | FileCheck %s --check-prefix=WHO-WAITS
  // WHO-WAITS: error: block 0, team 0 of "load": 'cta.acquire' waits forever for stage 0 to be free, which team 0 of "compute" has not released (deadlock)
  // WHO-WAITS: note: team 0 of "compute" waits here for stage 0 to be full, whose copy by team 0 of "load" has not been started
  gpu.func @who_waits(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %kr = cta.ring : !r1
    %vr = cta.ring : !r1
    cta.role "load" teams(%w in 1) warps(1) {
      %a = cta.acquire %kr : !r1
      cta.copy %K[%c0, %c0] to %a : !m, !t
      %b = cta.acquire %kr : !r1
      cta.copy %K[%c0, %c0] to %b : !m, !t
      %c = cta.acquire %vr : !r1
      cta.copy %K[%c0, %c0] to %c : !m, !t
    }
    cta.role "compute" teams(%w in 1) warps(1) {
      %k = cta.consume %kr : !r1
      %v = cta.consume %vr : !r1
      cta.release %k : !t
      cta.release %v : !t
      %l = cta.consume %kr : !r1
      cta.release %l : !t
    }
    gpu.return
  }

  // A read of a stage that has been acquired and not consumed.
  // RUN: not fa-run %s --on=sim --sim-kernel=not_full 2>&1 | FileCheck %s --check-prefix=NOT-FULL
  // NOT-FULL: error: block 0, team 0 of "all": 'cta.read' reads a stage that is not full: it has not consumed it
  gpu.func @not_full(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %f = cta.read %e : !t -> vector<16x64xbf16>
      %k = cta.consume %ring : !r1
      cta.release %k : !t
    }
    gpu.return
  }

  // A read by the role that only fills the ring.
  // RUN: not fa-run %s --on=sim --sim-kernel=foreign 2>&1 | FileCheck %s --check-prefix=FOREIGN
  // FOREIGN: error: block 0, team 0 of "load": 'cta.read' reads a stage that is not full: its role consumes none of the ring
  gpu.func @foreign(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    cta.role "load" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %f = cta.read %e : !t -> vector<16x64xbf16>
    }
    cta.role "compute" teams(%w in 1) warps(1) {
      %k = cta.consume %ring : !r1
      cta.release %k : !t
    }
    gpu.return
  }

  // A read after the release.
  // RUN: not fa-run %s --on=sim --sim-kernel=after_release 2>&1 | FileCheck %s --check-prefix=AFTER-RELEASE
  // AFTER-RELEASE: error: block 0, team 0 of "all": 'cta.read' reads a stage that it has released
  gpu.func @after_release(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r1
      cta.release %k : !t
      %f = cta.read %k : !t -> vector<16x64xbf16>
    }
    gpu.return
  }

  // Two releases of one stage.
  // RUN: not fa-run %s --on=sim --sim-kernel=twice_released 2>&1 | FileCheck %s --check-prefix=TWICE-RELEASED
  // TWICE-RELEASED: error: block 0, team 0 of "all": 'cta.release' releases a stage twice
  gpu.func @twice_released(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r1
      cta.release %k : !t
      cta.release %k : !t
    }
    gpu.return
  }

  // Two copies into one stage.
  // RUN: not fa-run %s --on=sim --sim-kernel=twice_copied 2>&1 | FileCheck %s --check-prefix=TWICE-COPIED
  // TWICE-COPIED: error: block 0, team 0 of "all": 'cta.copy' copies into a stage that it has filled already: each acquired stage takes one copy
  gpu.func @twice_copied(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e : !m, !t
      cta.copy %K[%c16, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r1
      cta.release %k : !t
    }
    gpu.return
  }

  // A copy into a stage that has had another block since.
  // RUN: not fa-run %s --on=sim --sim-kernel=late_copy 2>&1 | FileCheck %s --check-prefix=LATE-COPY
  // LATE-COPY: error: block 0, team 0 of "all": 'cta.copy' copies into a stage that it has not acquired: another block of the ring is there by now
  gpu.func @late_copy(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r1
      cta.release %k : !t
      %e2 = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e : !m, !t
    }
    gpu.return
  }

  // A block that is copied and never consumed.
  // RUN: not fa-run %s --on=sim --sim-kernel=never_consumed 2>&1 | FileCheck %s --check-prefix=NEVER-CONSUMED
  // NEVER-CONSUMED: error: block 0: 'cta.ring' must have all its stages free at the end, but stage 1 was acquired and filled, and never consumed by all of its readers
  // NEVER-CONSUMED: note: acquired here
  gpu.func @never_consumed(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r2
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r2
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r2
      cta.release %k : !t
      %e2 = cta.acquire %ring : !r2
      cta.copy %K[%c0, %c0] to %e2 : !m, !t
    }
    gpu.return
  }

  // A stage that is acquired for nothing.
  // RUN: not fa-run %s --on=sim --sim-kernel=never_filled 2>&1 | FileCheck %s --check-prefix=NEVER-FILLED
  // NEVER-FILLED: error: block 0: 'cta.ring' must have all its stages free at the end, but stage 1 was acquired and never filled by all of its producers
  gpu.func @never_filled(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r2
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r2
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r2
      cta.release %k : !t
      %e2 = cta.acquire %ring : !r2
    }
    gpu.return
  }

  // A stage that one of two teams keeps.
  // RUN: not fa-run %s --on=sim --sim-kernel=never_released 2>&1 | FileCheck %s --check-prefix=NEVER-RELEASED
  // NEVER-RELEASED: error: block 0: 'cta.ring' must have all its stages free at the end, but stage 0 was acquired and consumed, and never released by team 1 of "all"
  gpu.func @never_released(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r2
    cta.role "all" teams(%w in 2) warps(1) {
      %e = cta.acquire %ring : !r2
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r2
      %first = arith.cmpi eq, %w, %c0 : index
      scf.if %first {
        cta.release %k : !t
      }
    }
    gpu.return
  }

  // Teams that share a copy and do not agree on it.
  // RUN: not fa-run %s --on=sim --sim-kernel=other_tile 2>&1 | FileCheck %s --check-prefix=OTHER-TILE
  // OTHER-TILE: error: block 0, team {{[01]}} of "all": 'cta.copy' copies another tile into the stage than another team of its role
  gpu.func @other_tile(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r2
    cta.role "all" teams(%w in 2) warps(1) {
      %e = cta.acquire %ring : !r2
      cta.copy %K[%w, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r2
      cta.release %k : !t
    }
    gpu.return
  }

  // Two roles that fill one ring would race for its stages.
  // RUN: not fa-run %s --on=sim --sim-kernel=race 2>&1 | FileCheck %s --check-prefix=RACE
  // RACE: error: is in a race: roles "a" and "b" both fill the stages of one ring
  gpu.func @race(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r2
    cta.role "a" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r2
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %k = cta.consume %ring : !r2
      cta.release %k : !t
    }
    cta.role "b" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r2
      cta.copy %K[%c0, %c0] to %e : !m, !t
    }
    gpu.return
  }
}
