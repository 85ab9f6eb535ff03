// RUN: fa-opt %s --lower-to-nvvm -split-input-file -verify-diagnostics

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>

gpu.module @a {
  gpu.func @no_stage(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %ring = cta.ring : !cta.ring<1, !t>
    cta.role "all" teams(%w in 1) warps(4) {
      %a = cta.acquire %ring : !cta.ring<1, !t>
      cta.copy %K[%c0, %c0] to %a : !m, !t
      // expected-error @below {{'cta.acquire' op would wait forever: no stage of its ring is free}}
      %b = cta.acquire %ring : !cta.ring<1, !t>
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>

gpu.module @a {
  gpu.func @no_copy() kernel {
    %ring = cta.ring : !cta.ring<1, !t>
    cta.role "all" teams(%w in 1) warps(4) {
      // expected-error @below {{'cta.consume' op would wait forever: no copy into its ring is under way}}
      %a = cta.consume %ring : !cta.ring<1, !t>
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>

gpu.module @a {
  gpu.func @unbalanced(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %ring = cta.ring : !cta.ring<2, !t>
    cta.role "all" teams(%w in 1) warps(4) {
      // expected-error @below {{'scf.for' op must leave each ring as it finds it, but does not do so for}}
      scf.for %j = %c0 to %n step %c64 {
        %a = cta.acquire %ring : !cta.ring<2, !t>
        cta.copy %K[%j, %c0] to %a : !m, !t
      }
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>

gpu.module @a {
  gpu.func @not_drained(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'cta.ring' op must have all its stages free at the end, but has 1}}
    %ring = cta.ring : !cta.ring<2, !t>
    cta.role "all" teams(%w in 1) warps(4) {
      %a = cta.acquire %ring : !cta.ring<2, !t>
      cta.copy %K[%c0, %c0] to %a : !m, !t
    }
    gpu.return
  }
}
