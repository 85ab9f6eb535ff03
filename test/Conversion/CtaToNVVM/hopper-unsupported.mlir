// What the sm_90 form cannot do is refused by name.
// RUN: fa-opt %s --lower-to-nvvm=chip=sm_90a -split-input-file -verify-diagnostics

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>
!r = !cta.ring<1, !t>

// Registers move inside what the block was started with.
gpu.module @kernels {
  // expected-error @below {{'gpu.func' op gives its warpgroups 512 registers a thread in all, but a block of 3 is started with 168 for each, 504 in all}}
  gpu.func @f() kernel {
    cta.role "a" teams(%w in 1) warps(4) regs(32) {
    }
    cta.role "b" teams(%w in 2) warps(4) regs(240) {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f() kernel {
    cta.role "a" teams(%w in 1) warps(4) regs(32) {
    }
    // expected-error @below {{'cta.role' op expects a register budget for all roles or for none}}
    cta.role "b" teams(%w in 2) warps(4) {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%n: index) kernel {
    cta.work (%i) in (%n) order(#cta.order<natural>) {
      // expected-error @below {{'cta.role' op must stand in the function, around its cta.work, where there are several roles}}
      cta.role "a" teams(%w in 1) warps(4) {
      }
      cta.role "b" teams(%w in 2) warps(4) {
      }
    }
    gpu.return
  }
}

// -----

!m = memref<?x72xbf16>
gpu.module @kernels {
  gpu.func @f(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    cta.role "a" teams(%w in 1) warps(4) {
      // expected-error @below {{'cta.load' op has no sm_90 form: tiles have columns in multiples of 16, swizzled by 128 bytes}}
      %k = cta.load each %K[%c0, %c0] : !m -> !cta.tile<64x72xbf16, swizzle = 128>
    }
    gpu.return
  }
}

// -----

!m = memref<?x128xbf16>
gpu.module @kernels {
  gpu.func @f(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    cta.role "a" teams(%w in 1) warps(4) {
      // expected-error @below {{'cta.load' op has no sm_90 form: tiles are of segments of 64 columns, or of whole rows}}
      %k = cta.load each %K[%c0, %c0] : !m -> !cta.tile<64x96xbf16, swizzle = 128>
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>
!r = !cta.ring<1, !t>
gpu.module @kernels {
  gpu.func @f(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = cta.ring : !r
    cta.role "a" teams(%w in 1) warps(4) {
      // expected-error @below {{'cta.acquire' op expects one cta.copy that fills its stage}}
      %e = cta.acquire %r : !r
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>
!r = !cta.ring<1, !t>
gpu.module @kernels {
  gpu.func @f(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'cta.ring' op has no sm_90 form where nobody consumes it}}
    %r = cta.ring : !r
    cta.role "a" teams(%w in 1) warps(4) {
      %e = cta.acquire %r : !r
      cta.copy %K[%c0, %c0] to %e : !m, !t
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>
!r = !cta.ring<1, !t>
gpu.module @kernels {
  gpu.func @f(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %r = cta.ring each(2) : !r
    cta.role "a" teams(%w in 1) warps(4) {
      // expected-error @below {{'cta.acquire' op has no sm_90 form where its team is neither a constant nor the counter of a loop with constant bounds}}
      %e = cta.acquire %r[%n] : !r
      cta.copy %K[%c0, %c0] to %e : !m, !t
    }
    cta.role "b" teams(%w in 2) warps(4) {
      %k = cta.consume %r : !r
      cta.release %k : !t
    }
    gpu.return
  }
}

// -----

!q = !cta.tile<64x64xbf16, swizzle = 128>
!t = !cta.tile<256x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>
gpu.module @kernels {
  gpu.func @f(%K: !m, %t: !cta.tile<512x64xbf16, swizzle = 128>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "a" teams(%w in 1) warps(4) {
      %q = cta.load each %K[%c0, %c0] : !m -> !q
      // expected-error @below {{'cta.mma' op has no wgmma of a product of 64x512 (rows in multiples of 64, at most 256 columns)}}
      %f = cta.mma %q, transpose %t : !q, !cta.tile<512x64xbf16, swizzle = 128> -> !cta.flight<64x512xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%f: !cta.flight<64x64xf32>) kernel {
    cta.role "a" teams(%w in 1) warps(4) {
      // expected-error @below {{'cta.wait' op has no sm_90 form where its product is not a cta.mma that it names itself}}
      %s = cta.wait %f : !cta.flight<64x64xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f() kernel {
    // expected-error @below {{'cta.barrier' op needs more named barriers than a block has: 17 with those of 1 teams, of 16}}
    %t = cta.barrier : !cta.barrier<15>
    cta.role "a" teams(%w in 1) warps(4) {
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<256x256xbf16, swizzle = 128>
!m = memref<?x256xbf16>
gpu.module @kernels {
  gpu.func @f(%K: !m) kernel {
    %c0 = arith.constant 0 : index
    cta.role "a" teams(%w in 2) warps(4) {
      // expected-error @below {{'cta.load' op needs more shared memory than a block has: 2 times 131072 bytes, and 231424 are left}}
      %k = cta.load each %K[%c0, %c0] : !m -> !t
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%K: memref<?x512xbf16>, %column: index) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %twice = arith.muli %column, %c32 : index
    cta.role "a" teams(%w in 1) warps(4) {
      // expected-error @below {{'cta.load' op has no sm_90 form: tiles begin at columns that are known multiples of 64}}
      %k = cta.load each %K[%c0, %twice] : memref<?x512xbf16> -> !cta.tile<64x64xbf16, swizzle = 128>
    }
    gpu.return
  }
}
