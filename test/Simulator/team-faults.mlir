// Products, shared loads and barriers: each program breaks one rule.

!t = !cta.tile<16x64xbf16, swizzle = 128>
!r1 = !cta.ring<1, !t>
!r2 = !cta.ring<2, !t>
!m = memref<64x64xbf16>
!f = !cta.flight<16x16xf32>
!v = vector<16x16xf32>
!o = memref<16x16xf32>

gpu.module @kernels {

  // A stage that is released while a product reads it.
  // RUN: not fa-run %s --on=sim --sim-kernel=in_flight 2>&1 | FileCheck %s --check-prefix=IN-FLIGHT
  // IN-FLIGHT: error: block 0, team 0 of "all": 'cta.release' releases a stage that a product in flight still reads
  // IN-FLIGHT: note: the product was started here
  gpu.func @in_flight(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %q = cta.load each %K[%c0, %c0] : !m -> !t
      %k = cta.consume %ring : !r1
      %p = cta.mma %q, transpose %k : !t, !t -> !f
      cta.release %k : !t
      %s = cta.wait %p : !f
    }
    gpu.return
  }

  // The same by a wait that leaves the product pending.
  // RUN: not fa-run %s --on=sim --sim-kernel=pending 2>&1 | FileCheck %s --check-prefix=PENDING
  // PENDING: error: block 0, team 0 of "all": 'cta.release' releases a stage that a product in flight still reads
  gpu.func @pending(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
      cta.copy %K[%c0, %c0] to %e : !m, !t
      %q = cta.load each %K[%c0, %c0] : !m -> !t
      %k = cta.consume %ring : !r1
      %p = cta.mma %q, transpose %q : !t, !t -> !f
      %r = cta.mma %q, transpose %k : !t, !t -> !f
      %s = cta.wait %p pending 1 : !f
      cta.release %k : !t
      %u = cta.wait %r : !f
    }
    gpu.return
  }

  // A product that nobody waits for.
  // RUN: not fa-run %s --on=sim --sim-kernel=not_waited 2>&1 | FileCheck %s --check-prefix=NOT-WAITED
  // NOT-WAITED: error: block 0, team 0 of "all": 'cta.mma' is never waited for: the team ends with the product in flight
  gpu.func @not_waited(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %q = cta.load each %K[%c0, %c0] : !m -> !t
      %k = cta.load each %K[%c0, %c0] : !m -> !t
      %p = cta.mma %q, transpose %k : !t, !t -> !f
    }
    gpu.return
  }

  // A load into the place of a tile that a product still reads.
  // RUN: not fa-run %s --on=sim --sim-kernel=overwritten 2>&1 | FileCheck %s --check-prefix=OVERWRITTEN
  // OVERWRITTEN: error: block 0, team 0 of "all": 'cta.load' overwrites a tile that a product in flight of team 0 of "all" reads
  // OVERWRITTEN: note: the product was started here
  gpu.func @overwritten(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %z = arith.constant dense<0.0> : !v
    %c32 = arith.constant 32 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %q = cta.load each %K[%c0, %c0] : !m -> !t
      %first = cta.mma %q, transpose %q : !t, !t -> !f
      %last = scf.for %j = %c0 to %c32 step %c16 iter_args(%before = %first) -> (!f) {
        %k = cta.load each %K[%j, %c0] : !m -> !t
        %s = cta.wait %before pending 1 : !f
        %p = cta.mma %q, transpose %k : !t, !t -> !f
        scf.yield %p : !f
      }
      %s = cta.wait %last : !f
    }
    gpu.return
  }

  // A shared tile that one team's product reads while the teams load the next one.
  // RUN: not fa-run %s --on=sim --sim-kernel=shared_race 2>&1 | FileCheck %s --check-prefix=SHARED-RACE
  // SHARED-RACE: error: block 0, team {{[01]}} of "all": 'cta.load' overwrites a tile that a product in flight of team 1 of "all" reads
  gpu.func @shared_race(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %z = arith.constant dense<0.0> : !v
    %c32 = arith.constant 32 : index
    cta.role "all" teams(%w in 2) warps(1) {
      %q = cta.load each %K[%c0, %c0] : !m -> !t
      %isFirst = arith.cmpi eq, %w, %c0 : index
      %first = cta.mma %q, transpose %q : !t, !t -> !f
      %last = scf.for %j = %c0 to %c32 step %c16 iter_args(%before = %first) -> (!f) {
        scf.if %isFirst {
          %s = cta.wait %before : !f
        }
        %k = cta.load once %K[%j, %c0] : !m -> !t
        %p = cta.mma %q, transpose %k : !t, !t -> !f
        scf.yield %p : !f
      }
      %s = cta.wait %last : !f
    }
    gpu.return
  }

  // A shared load that a team passes by.
  // RUN: not fa-run %s --on=sim --sim-kernel=once_ended 2>&1 | FileCheck %s --check-prefix=ONCE-ENDED
  // ONCE-ENDED: error: block 0: 'cta.load' is not reached by all teams of its role: team 1 of "all" has ended
  // ONCE-ENDED: note: team 0 of "all" waits here for team 1 of "all" to come
  gpu.func @once_ended(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 2) warps(1) {
      %isFirst = arith.cmpi eq, %w, %c0 : index
      scf.if %isFirst {
        %k = cta.load once %K[%c0, %c0] : !m -> !t
      }
    }
    gpu.return
  }

  // Teams that come to different shared loads.
  // RUN: not fa-run %s --on=sim --sim-kernel=once_elsewhere 2>&1 | FileCheck %s --check-prefix=ONCE-ELSEWHERE
  // ONCE-ELSEWHERE: error: block 0, team {{[01]}} of "all": 'cta.load' is not reached by all teams of its role: team {{[01]}} of "all" came to another load first
  gpu.func @once_elsewhere(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 2) warps(1) {
      %isFirst = arith.cmpi eq, %w, %c0 : index
      scf.if %isFirst {
        %k = cta.load once %K[%c0, %c0] : !m -> !t
      }
      %v = cta.load once %K[%c0, %c0] : !m -> !t
    }
    gpu.return
  }

  // Teams that load different tiles together.
  // RUN: not fa-run %s --on=sim --sim-kernel=once_other 2>&1 | FileCheck %s --check-prefix=ONCE-OTHER
  // ONCE-OTHER: error: block 0, team {{[01]}} of "all": 'cta.load' loads another tile than team {{[01]}} of "all", with which it shares one
  gpu.func @once_other(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 2) warps(1) {
      %k = cta.load once %K[%w, %c0] : !m -> !t
    }
    gpu.return
  }

  // Turns that nobody opens: both teams wait.
  // RUN: not fa-run %s --on=sim --sim-kernel=first_turn 2>&1 | FileCheck %s --check-prefix=FIRST-TURN
  // FIRST-TURN: error: block 0, team 0 of "all": 'cta.sync' waits forever for another team at barrier 0 (deadlock)
  // FIRST-TURN: note: team 1 of "all" waits here for another team at barrier 1
  gpu.func @first_turn(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %turn = cta.barrier : !cta.barrier<2>
    cta.role "all" teams(%w in 2) warps(1) {
      %other = arith.subi %c1, %w : index
      cta.sync %turn[%w] : !cta.barrier<2>
      cta.arrive %turn[%other] : !cta.barrier<2>
    }
    gpu.return
  }

  // A team that comes twice.
  // RUN: not fa-run %s --on=sim --sim-kernel=twice_there 2>&1 | FileCheck %s --check-prefix=TWICE-THERE
  // TWICE-THERE: error: block 0, team 0 of "all": 'cta.arrive' comes to barrier 0 a second time before another team has
  gpu.func @twice_there(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %turn = cta.barrier : !cta.barrier<2>
    cta.role "all" teams(%w in 1) warps(1) {
      cta.arrive %turn[%c0] : !cta.barrier<2>
      cta.arrive %turn[%c0] : !cta.barrier<2>
    }
    gpu.return
  }

  // An arrival that nobody meets.
  // RUN: not fa-run %s --on=sim --sim-kernel=half_open 2>&1 | FileCheck %s --check-prefix=HALF-OPEN
  // HALF-OPEN: error: block 0: 'cta.arrive' leaves barrier 1 half open: team 0 of "all" has come, and nobody else will
  gpu.func @half_open(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %turn = cta.barrier : !cta.barrier<2>
    cta.role "all" teams(%w in 1) warps(1) {
      cta.arrive %turn[%c1] : !cta.barrier<2>
    }
    gpu.return
  }

  // A barrier that is not there.
  // RUN: not fa-run %s --on=sim --sim-kernel=no_barrier 2>&1 | FileCheck %s --check-prefix=NO-BARRIER
  // NO-BARRIER: error: block 0, team 0 of "all": 'cta.sync' uses barrier 16 of 2
  gpu.func @no_barrier(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %turn = cta.barrier : !cta.barrier<2>
    cta.role "all" teams(%w in 1) warps(1) {
      cta.sync %turn[%c16] : !cta.barrier<2>
    }
    gpu.return
  }
}
