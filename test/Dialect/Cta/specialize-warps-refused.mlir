// What no loading role can do is refused with the reason; a kernel that has nothing to divide is left with a warning.
// RUN: fa-opt %s --split-input-file --verify-diagnostics --specialize-warps
// RUN: not fa-opt %s --split-input-file --specialize-warps="compute-regs=240 load-regs=32" 2>&1 | FileCheck %s
// CHECK: error: the roles' budgets, 32 and 2 times 240, are more than the 504 registers of a thread of each: setmaxnreg would wait for ever

!m = memref<?x64xbf16>
!t = !cta.tile<64x64xbf16, swizzle = 128>
!ring = !cta.ring<2, !t>

gpu.module @kernels {
  gpu.func @carried(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %ring = cta.ring : !ring
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %r = scf.for %j = %c0 to %n step %c64 iter_args(%at = %c0) -> (index) {
          %e = cta.acquire %ring : !ring
          // expected-error @below {{a loading role cannot know the place of a tile: it depends on what the others compute}}
          cta.copy %K[%at, %c0] to %e : !m, !t
          %k = cta.consume %ring : !ring
          cta.release %k : !t
          %next = arith.addi %at, %c64 : index
          scf.yield %next : index
        }
      }
    }
    gpu.return
  }
}

// -----

!m = memref<?x64xbf16>
!t = !cta.tile<64x64xbf16, swizzle = 128>
!ring = !cta.ring<2, !t>

gpu.module @kernels {
  gpu.func @of_team(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %ring = cta.ring : !ring
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %e = cta.acquire %ring : !ring
        // expected-error @below {{the place of a tile differs from team to team, but all share the copies}}
        cta.copy %K[%w, %c0] to %e : !m, !t
        %k = cta.consume %ring : !ring
        cta.release %k : !t
      }
    }
    gpu.return
  }
}

// -----

!m = memref<?x64xbf16>
!t = !cta.tile<64x64xbf16, swizzle = 128>
!ring = !cta.ring<2, !t>

gpu.module @kernels {
  gpu.func @range(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %ring = cta.ring : !ring
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        // expected-error @below {{the range of a loop differs from team to team, but all share the copies}}
        scf.for %j = %w to %n step %c64 {
          %e = cta.acquire %ring : !ring
          cta.copy %K[%j, %c0] to %e : !m, !t
          %k = cta.consume %ring : !ring
          cta.release %k : !t
        }
      }
    }
    gpu.return
  }
}

// -----

!m = memref<?x64xbf16>
!t = !cta.tile<64x64xbf16, swizzle = 128>

gpu.module @kernels {
  gpu.func @condition(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %ring = cta.ring : !cta.ring<2, !t>
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %is = arith.cmpi eq, %w, %c0 : index
        // expected-error @below {{a condition differs from team to team, but all share the copies}}
        scf.if %is {
          %e = cta.acquire %ring : !cta.ring<2, !t>
          cta.copy %K[%c0, %c0] to %e : !m, !t
        }
      }
    }
    gpu.return
  }
}

// -----

!m = memref<?x64xbf16>
!t = !cta.tile<64x64xbf16, swizzle = 128>

gpu.module @kernels {
  gpu.func @branch(%K: !m, %n: index, %p: vector<64xi1>) kernel {
    %c0 = arith.constant 0 : index
    %ring = cta.ring : !cta.ring<2, !t>
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        // expected-error @below {{copies inside of 'cta.if_any' cannot go to another role}}
        cta.if_any %p : vector<64xi1> {
          %e = cta.acquire %ring : !cta.ring<2, !t>
          cta.copy %K[%c0, %c0] to %e : !m, !t
        }
      }
    }
    gpu.return
  }
}

// -----

!m = memref<?x64xbf16>
!t = !cta.tile<64x64xbf16, swizzle = 128>

gpu.module @kernels {
  gpu.func @warps(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      // expected-error @below {{registers move between groups of 4 warps, but the role's teams have 1}}
      cta.role "all" teams(%w in 4) warps(1) {
        %k = cta.load once %K[%c0, %c0] : !m -> !t
        %f = cta.read %k : !t -> vector<64x64xbf16>
      }
    }
    gpu.return
  }

}

// -----

!m = memref<?x64xbf16>

gpu.module @kernels {
  // expected-warning @below {{specialize-warps finds no cta.work with one role that loads in 'divided'}}
  gpu.func @divided(%K: !m, %n: index) kernel {
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
      }
    }
    gpu.return
  }
}

// -----

!m = memref<?x64xbf16>
!t = !cta.tile<64x64xbf16, swizzle = 128>

gpu.module @kernels {
  gpu.func @unused(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        // expected-error @below {{no other role can load this tile: the tile is not used}}
        %k = cta.load once %K[%c0, %c0] : !m -> !t
      }
    }
    gpu.return
  }
}

// -----

!m = memref<?x64xbf16>
!t = !cta.tile<64x64xbf16, swizzle = 128>

gpu.module @kernels {
  gpu.func @carried_items(%K: !m, %n: index, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 2) warps(4) {
      // expected-error @below {{--specialize-warps divides items that stand alone, but these carry values to the next (run it first)}}
      %r = cta.work (%b) in (%n) order(#cta.order<natural, persistent = static>) iter_args(%a = %x) -> (f32) {
        %k = cta.load each %K[%b, %c0] : !m -> !t
        %f = cta.read %k : !t -> vector<64x64xbf16>
        cta.yield %a : f32
      }
    }
    gpu.return
  }
}
