// Global memory and the limits of the target: each program breaks one rule.

!t = !cta.tile<16x64xbf16, swizzle = 128>
!r1 = !cta.ring<1, !t>
!r2 = !cta.ring<2, !t>
!m = memref<64x64xbf16>
!f = !cta.flight<16x16xf32>
!v = vector<16x16xf32>
!o = memref<16x16xf32>

!big = !cta.tile<128x256xbf16, swizzle = 128>
!wide = memref<128x256xbf16>

gpu.module @kernels {

  // A tile that begins past the first column leaves the row.
  // RUN: not fa-run %s --on=sim --sim-kernel=column 2>&1 | FileCheck %s --check-prefix=COLUMN
  // COLUMN: error: block 0, team 0 of "all": 'cta.load' leaves the bounds of argument 0: columns 16 to 79 of 64
  gpu.func @column(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %s = cta.load each %K[%c0, %c16] : !m -> !t
    }
    gpu.return
  }

  // Rows before the first.
  // RUN: not fa-run %s --on=sim --sim-kernel=negative 2>&1 | FileCheck %s --check-prefix=NEGATIVE
  // NEGATIVE: error: block 0, team 0 of "all": 'cta.load' leaves the bounds of argument 0: rows -1 to 14 of 64
  gpu.func @negative(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %before = arith.constant -1 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %s = cta.load each %K[%before, %c0] : !m -> !t
    }
    gpu.return
  }

  // More rows than the tensor has.
  // RUN: not fa-run %s --on=sim --sim-kernel=until 2>&1 | FileCheck %s --check-prefix=UNTIL
  // UNTIL: error: block 0, team 0 of "all": 'cta.copy' leaves the bounds of argument 0: rows 56 to 71 of 64
  gpu.func @until(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !r1
    %c56 = arith.constant 56 : index
    %c72 = arith.constant 72 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !r1
      cta.copy %K[%c56, %c0] until %c72 to %e : !m, !t
      %k = cta.consume %ring : !r1
      cta.release %k : !t
    }
    gpu.return
  }

  // A leading index that is no dimension's.
  // RUN: not fa-run %s --on=sim --sim-kernel=head 2>&1 | FileCheck %s --check-prefix=HEAD
  // HEAD: error: block 0, team 0 of "all": 'cta.store' leaves the bounds of argument 0: index 16 of 2 in dimension 0
  gpu.func @head(%O: memref<2x16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %f = arith.constant dense<1.0> : !v
      cta.store %f, %O[%c16, %c0, %c0] : !v, memref<2x16x16xf32>
    }
    gpu.return
  }

  // A size that is not there.
  // RUN: not fa-run %s --on=sim --sim-kernel=dimension 2>&1 | FileCheck %s --check-prefix=DIMENSION
  // DIMENSION: error: block 0, team 0 of "all": 'memref.dim' asks for dimension 16 of 2
  gpu.func @dimension(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %d = memref.dim %K, %c16 : !m
    }
    gpu.return
  }

  // Two teams that store to the same elements.
  // RUN: not fa-run %s --on=sim --sim-kernel=write_race 2>&1 | FileCheck %s --check-prefix=WRITE-RACE
  // WRITE-RACE: error: block 0, team {{[01]}} of "all": 'cta.store' is in a race: another team or thread block has written this element of argument 0
  gpu.func @write_race(%O: !o) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 2) warps(1) {
      %f = arith.constant dense<1.0> : !v
      cta.store %f, %O[%c0, %c0] : !v, !o
    }
    gpu.return
  }

  // Two thread blocks that do.
  // RUN: not fa-run %s --on=sim --sim-kernel=block_race 2>&1 | FileCheck %s --check-prefix=BLOCK-RACE
  // BLOCK-RACE: error: block 1, team 0 of "all": 'cta.store' is in a race: another team or thread block has written this element of argument 0
  gpu.func @block_race(%O: !o) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c2 = arith.constant 2 : index
    cta.role "all" teams(%w in 1) warps(1) {
      cta.work (%i) in (%c2) order(#cta.order<natural>) {
        %f = arith.constant dense<1.0> : !v
        cta.store %f, %O[%c0, %c0] : !v, !o
      }
    }
    gpu.return
  }

  // A load of what another role stores.
  // RUN: not fa-run %s --on=sim --sim-kernel=read_race 2>&1 | FileCheck %s --check-prefix=READ-RACE
  // READ-RACE: error: block 0, team 0 of "b": 'cta.load' is in a race: another team or thread block has written this element of argument 0
  gpu.func @read_race(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "a" teams(%w in 1) warps(1) {
      %f = arith.constant dense<1.0> : vector<16x64xbf16>
      cta.store %f, %K[%c0, %c0] : vector<16x64xbf16>, !m
    }
    cta.role "b" teams(%w in 1) warps(1) {
      %s = cta.load each %K[%c0, %c0] : !m -> !t
    }
    gpu.return
  }

  // A division by zero.
  // RUN: not fa-run %s --on=sim --sim-kernel=zero 2>&1 | FileCheck %s --check-prefix=ZERO
  // ZERO: error: divides by 0
  gpu.func @zero(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %d = arith.divui %c16, %c0 : index
    }
    gpu.return
  }

  // A loop that would not end.
  // RUN: not fa-run %s --on=sim --sim-kernel=step 2>&1 | FileCheck %s --check-prefix=STEP
  // STEP: error: block 0, team 0 of "all": 'scf.for' has the step 0, which is not positive
  gpu.func @step(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(1) {
      scf.for %i = %c0 to %c16 step %c0 {
      }
    }
    gpu.return
  }

  // More shared memory than a block may have.
  // RUN: not fa-run %s --on=sim --sim-kernel=shared_memory 2>&1 | FileCheck %s --check-prefix=SHARED-MEMORY
  // SHARED-MEMORY: error: the kernel takes 262144 bytes of shared memory, but sm_90a has 232448 for a block
  gpu.func @shared_memory(%K: !wide) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %ring = cta.ring : !cta.ring<4, !big>
    cta.role "all" teams(%w in 1) warps(1) {
      %e = cta.acquire %ring : !cta.ring<4, !big>
      cta.copy %K[%c0, %c0] to %e : !wide, !big
      %k = cta.consume %ring : !cta.ring<4, !big>
      cta.release %k : !big
    }
    gpu.return
  }

  // Fragments that one warp cannot hold.
  // RUN: not fa-run %s --on=sim --sim-kernel=registers 2>&1 | FileCheck %s --check-prefix=REGISTERS
  // REGISTERS: error: the fragments that are there take 512 registers of each thread of role "all", which has 255
  gpu.func @registers(%K: memref<128x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %z = arith.constant dense<0.0> : vector<128x128xf32>
    cta.role "all" teams(%w in 1) warps(1) {
      %k = cta.load each %K[%c0, %c0] : memref<128x64xbf16> -> !cta.tile<128x64xbf16, swizzle = 128>
      %p = cta.mma %k, transpose %k : !cta.tile<128x64xbf16, swizzle = 128>, !cta.tile<128x64xbf16, swizzle = 128> -> !cta.flight<128x128xf32>
      %s = cta.wait %p : !cta.flight<128x128xf32>
    }
    gpu.return
  }

  // Fragments over the role's budget.
  // RUN: not fa-run %s --on=sim --sim-kernel=budget 2>&1 | FileCheck %s --check-prefix=BUDGET
  // BUDGET: error: the fragments that are there take 64 registers of each thread of role "all", which has 24
  gpu.func @budget(%K: memref<128x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(4) regs(24) {
      %k = cta.load each %K[%c0, %c0] : memref<128x64xbf16> -> !cta.tile<64x64xbf16, swizzle = 128>
      %l = cta.load each %K[%c0, %c0] : memref<128x64xbf16> -> !cta.tile<128x64xbf16, swizzle = 128>
      %p = cta.mma %k, transpose %l : !cta.tile<64x64xbf16, swizzle = 128>, !cta.tile<128x64xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
      %s = cta.wait %p : !cta.flight<64x128xf32>
    }
    gpu.return
  }

  // Budgets over what the launch gives all threads.
  // RUN: not fa-run %s --on=sim --sim-kernel=pool 2>&1 | FileCheck %s --check-prefix=POOL
  // POOL: error: the roles' budgets take 98304 registers, but a launch on sm_90a gives 64512
  gpu.func @pool(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 3) warps(4) regs(256) {
      %s = cta.load each %K[%c0, %c0] : !m -> !t
    }
    gpu.return
  }
}
