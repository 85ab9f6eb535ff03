// What the simulator does not run is refused by name and place.

!t = !cta.tile<16x64xbf16, swizzle = 128>
!r1 = !cta.ring<1, !t>
!r2 = !cta.ring<2, !t>
!m = memref<64x64xbf16>
!f = !cta.flight<16x16xf32>
!v = vector<16x16xf32>
!o = memref<16x16xf32>

gpu.module @kernels {

  // An op that is not on the list.
  // RUN: not fa-run %s --on=sim --sim-kernel=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
  // UNKNOWN: unsupported.mlir:[[#]]:{{[0-9]+}}: error: the simulator does not know the op 'gpu.thread_id'
  gpu.func @unknown(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %i = gpu.thread_id x
    }
    gpu.return
  }

  // A function that is not.
  // RUN: not fa-run %s --on=sim --sim-kernel=function 2>&1 | FileCheck %s --check-prefix=FUNCTION
  // FUNCTION: error: the simulator does not know the op 'math.atan'
  gpu.func @function(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %x = arith.constant 1.0 : f32
    cta.role "all" teams(%w in 1) warps(1) {
      %y = math.atan %x : f32
    }
    gpu.return
  }

  // A type that is not.
  // RUN: not fa-run %s --on=sim --sim-kernel=type 2>&1 | FileCheck %s --check-prefix=TYPE
  // TYPE: error: the simulator does not know values of type 'f64'
  gpu.func @type(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %x = arith.constant 1.0 : f64
    }
    gpu.return
  }

  // What a team does, outside of roles.
  // RUN: not fa-run %s --on=sim --sim-kernel=no_role 2>&1 | FileCheck %s --check-prefix=NO-ROLE
  // NO-ROLE: error: 'cta.load' must stand inside a cta.role
  gpu.func @no_role(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %s = cta.load each %K[%c0, %c0] : !m -> !t
    cta.role "all" teams(%w in 1) warps(1) {
    }
    gpu.return
  }

  // A ring inside a role.
  // RUN: not fa-run %s --on=sim --sim-kernel=late_ring 2>&1 | FileCheck %s --check-prefix=LATE-RING
  // LATE-RING: error: 'cta.ring' must not stand inside a cta.role
  gpu.func @late_ring(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %ring = cta.ring : !r1
    }
    gpu.return
  }

  // Without a problem sizes are static.
  // RUN: not fa-run %s --on=sim --sim-kernel=dynamic 2>&1 | FileCheck %s --check-prefix=DYNAMIC
  // DYNAMIC: error: a kernel without --reference has static tensors of floats, found 'memref<?x64xbf16>'
  gpu.func @dynamic(%K: memref<?x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 1) warps(1) {
    }
    gpu.return
  }
}

// RUN: not fa-run %s --on=sim 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: there are 6 kernels; --sim-kernel=NAME chooses one
// RUN: not fa-run %s --on=sim --sim-kernel=none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: there is no kernel none
// RUN: not fa-run %s --on=sim --check --sim-kernel=type 2>&1 | FileCheck %s --check-prefix=CHECK-WHAT
// CHECK-WHAT: error: --check needs the problem: --reference=FILE
// RUN: not fa-run %S/Inputs/attention-128.mlir --on=sim --tile 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: the passes left no kernel: --on=sim runs level D, which --fa2 or passes down to --map-warps reach
// RUN: not fa-run %S/Inputs/attention-128.mlir --on=sim --lower-to-nvvm 2>&1 | FileCheck %s --check-prefix=BELOW
// BELOW: error: --lower-to-nvvm goes below level D, the lowest that the simulator runs
// RUN: not fa-run %S/Inputs/attention-128.mlir --fa2 --on=sim --sim-blocks=-1 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: error: --sim-blocks is a number from 0 on
// RUN: not fa-run %S/Inputs/attention-128.mlir --fa2 --on=sim --sizes=B=1 --sizes=B=2 --sim-trace=%t.json 2>&1 | FileCheck %s --check-prefix=TRACE
// TRACE: error: --sim-trace takes one list of sizes
// RUN: not fa-run %S/Inputs/attention-128.mlir --fa2 --on=sim --sim-trace=%t/none/x.json 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: cannot write
// RUN: not fa-run %S/Inputs/attention-128.mlir --fa2 --on=sim --sim-target=sm_1 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: --sim-target names no GPU: sm_1
