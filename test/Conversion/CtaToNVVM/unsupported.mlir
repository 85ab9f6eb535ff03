// What the sm_80 form cannot do is refused by name.
// RUN: fa-opt %s --lower-to-nvvm -split-input-file -verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op expects exactly one cta.role in the sm_80 form, but found 2}}
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
    // expected-error @below {{'cta.role' op has no sm_80 form with a register budget, but found regs(240)}}
    cta.role "a" teams(%w in 1) warps(4) regs(240) {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%n: index) kernel {
    // expected-error @below {{'cta.work' op has no sm_80 form with group_bytes, but found #cta.order<lpt, group_bytes = 64>}}
    cta.work (%i) in (%n) order(#cta.order<lpt, group_bytes = 64>) {
      cta.role "a" teams(%w in 1) warps(4) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f() kernel {
    %t = cta.barrier : !cta.barrier<2>
    cta.role "a" teams(%w in 2) warps(4) {
      // expected-error @below {{'cta.sync' op has no sm_80 form: one role's teams do not take turns there}}
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
