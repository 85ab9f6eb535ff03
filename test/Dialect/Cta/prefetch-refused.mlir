// RUN: fa-opt %s --prefetch -split-input-file -verify-diagnostics

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>

gpu.module @a {
  // expected-warning @below {{prefetch finds no loop that copies into rings in 'nothing'}}
  gpu.func @nothing(%K: !m) kernel {
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>

gpu.module @a {
  gpu.func @one_stage(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %ring = cta.ring : !cta.ring<1, !t>
    // expected-warning @below {{prefetch leaves this loop: a ring of one stage that is alone in its loop has no room for a block ahead}}
    scf.for %j = %c0 to %n step %c64 {
      %e = cta.acquire %ring : !cta.ring<1, !t>
      cta.copy %K[%j, %c0] to %e : !m, !t
      %k = cta.consume %ring : !cta.ring<1, !t>
      cta.release %k : !t
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>

gpu.module @a {
  gpu.func @carried(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %ring = cta.ring : !cta.ring<2, !t>
    // expected-warning @below {{prefetch leaves this loop: a copy's coordinates are not a function of the block alone}}
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%row = %c0) -> (index) {
      %e = cta.acquire %ring : !cta.ring<2, !t>
      cta.copy %K[%row, %c0] to %e : !m, !t
      %k = cta.consume %ring : !cta.ring<2, !t>
      cta.release %k : !t
      %next = arith.addi %row, %c64 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @twice(%K: memref<?x64xbf16>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %r = cta.ring : !cta.ring<2, !cta.tile<64x64xbf16, swizzle = 128>>
    cta.role "all" teams(%w in 2) warps(4) {
      // expected-warning @below {{prefetch leaves this loop: a stage is filled more than once}}
      scf.for %j = %c0 to %n step %c64 {
        %e = cta.acquire %r : !cta.ring<2, !cta.tile<64x64xbf16, swizzle = 128>>
        cta.copy %K[%j, %c0] to %e : memref<?x64xbf16>, !cta.tile<64x64xbf16, swizzle = 128>
        cta.copy %K[%j, %c0] to %e : memref<?x64xbf16>, !cta.tile<64x64xbf16, swizzle = 128>
        %k = cta.consume %r : !cta.ring<2, !cta.tile<64x64xbf16, swizzle = 128>>
        cta.release %k : !cta.tile<64x64xbf16, swizzle = 128>
      }
    }
    gpu.return
  }
}
