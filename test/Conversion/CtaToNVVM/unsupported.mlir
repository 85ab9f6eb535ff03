// What the sm_80 form cannot do is refused by name.
// RUN: fa-opt %s --lower-to-nvvm -split-input-file -verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op expects exactly one cta.role in the sm_80 form, but found 2 (chip=sm_90a with teams of 4 warps makes the sm_90 form)}}
  gpu.func @f() kernel {
    cta.role "a" teams(%w in 1) warps(1) {
    }
    cta.role "b" teams(%w in 1) warps(1) {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f() kernel {
    // expected-error @below {{'cta.role' op has no sm_80 form with a register budget, but found regs(240) (chip=sm_90a with teams of 4 warps makes the sm_90 form)}}
    cta.role "a" teams(%w in 1) warps(4) regs(240) {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f() kernel {
    %t = cta.barrier : !cta.barrier<2>
    cta.role "a" teams(%w in 2) warps(4) {
      // expected-error @below {{'cta.sync' op has no sm_80 form: one role's teams do not take turns there (chip=sm_90a with teams of 4 warps makes the sm_90 form)}}
      cta.sync %t[%w] : !cta.barrier<2>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%v: vector<24x8xi32>) kernel {
    cta.role "a" teams(%w in 1) warps(1) {
      // expected-error @below {{'arith.addi' op has a value of type 'vector<24x8xi32>', which is no fragment of a team of 1 warps (rows in multiples of 16, columns in multiples of 8)}}
      %a = arith.addi %v, %v : vector<24x8xi32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%m: memref<?x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "a" teams(%w in 1) warps(1) {
      // expected-error @below {{'cta.load' op has no sm_80 form with a tile whose swizzle is not 128, but found '!cta.tile<16x64xbf16>'}}
      %a = cta.load each %m[%c0, %c0] : memref<?x64xbf16> -> !cta.tile<16x64xbf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%m: memref<?x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "a" teams(%w in 1) warps(1) {
      // expected-error @below {{'cta.load' op has no sm_80 form with tiles of other than f16 and bf16, but found '!cta.tile<16x32xf32, swizzle = 128>'}}
      %a = cta.load each %m[%c0, %c0] : memref<?x64xf32> -> !cta.tile<16x32xf32, swizzle = 128>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%m: memref<?x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "a" teams(%w in 1) warps(1) {
      // expected-error @below {{'cta.load' op has no sm_80 form with tiles whose rows are no multiple of 8, but found '!cta.tile<4x64xbf16, swizzle = 128>'}}
      %a = cta.load each %m[%c0, %c0] : memref<?x64xbf16> -> !cta.tile<4x64xbf16, swizzle = 128>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%x: f32) kernel {
    cta.role "a" teams(%w in 1) warps(1) {
      // expected-error @below {{'math.exp2' op has no device form without fastmath<afn>}}
      %a = math.exp2 %x : f32
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%x: f32) kernel {
    cta.role "a" teams(%w in 1) warps(1) {
      // expected-error @below {{'math.sin' op has no device form}}
      %a = math.sin %x : f32
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f() kernel {
    %i = arith.constant 0 : i32
    cta.role "a" teams(%w in 1) warps(1) {
      %r = cta.row %i : vector<16x16xi32>
      // expected-error @below {{failed to legalize operation 'vector.transpose' that was explicitly marked illegal}}
      %a = vector.transpose %r, [1, 0] : vector<16x16xi32> to vector<16x16xi32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%m: memref<?x64xbf16>, %p: vector<16xi1>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "a" teams(%w in 2) warps(1) {
      cta.if_any %p : vector<16xi1> {
        // expected-error @below {{'cta.load' op must be reached by all teams, but stands in a branch that each takes for itself}}
        %t = cta.load once %m[%c0, %c0] : memref<?x64xbf16> -> !cta.tile<16x64xbf16, swizzle = 128>
      }
    }
    gpu.return
  }
}

// -----

// This and what follows was found by fa-fuzz.
gpu.module @kernels {
  gpu.func @f(%d: memref<?xf8E4M3FN>, %v: f8E4M3FN, %i: index) kernel {
    cta.role "a" teams(%w in 1) warps(1) {
      %r = vector.broadcast %v : f8E4M3FN to vector<16xf8E4M3FN>
      // expected-error @below {{'cta.store' op has no device form with elements of type 'f8E4M3FN'}}
      cta.store %r, %d[%i] : vector<16xf8E4M3FN>, memref<?xf8E4M3FN>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%d: memref<?xf32>) kernel {
    cta.role "a" teams(%w in 1) warps(1) {
      %c8 = arith.constant 8 : index
      // expected-error @below {{'memref.dim' op asks for dimension 8 of 1}}
      %n = memref.dim %d, %c8 : memref<?xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%i: i32) kernel {
    cta.role "a" teams(%w in 1) warps(1) {
      // expected-error @below {{'cta.row' op has a value of type 'vector<4294967296x4294967296xi32>', of which a thread of 1 warps would hold more than 1024 elements}}
      %r = cta.row %i : vector<4294967296x4294967296xi32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%m: memref<?x64xbf16>, %i: index) kernel {
    cta.role "a" teams(%w in 4) warps(1) {
      // expected-error @below {{'cta.load' op needs more shared memory than any GPU has for a block: 4 times 65536 bytes, and 232448 are left}}
      %t = cta.load each %m[%i, %i] : memref<?x64xbf16> -> !cta.tile<512x64xbf16, swizzle = 128>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%m: memref<?x?xbf16>, %i: index) kernel {
    cta.role "a" teams(%w in 4) warps(1) {
      // expected-error @below {{'cta.load' op has no sm_80 form with a number of columns that only the launch knows (chip=sm_90a with teams of 4 warps makes the sm_90 form)}}
      %t = cta.load each %m[%i, %i] : memref<?x?xbf16> -> !cta.tile<64x64xbf16, swizzle = 128>
    }
    gpu.return
  }
}
