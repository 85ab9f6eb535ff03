// RUN: fa-opt --emit-cubin="format=ptx chip=sm_80" --split-input-file -verify-diagnostics %s -o /dev/null
// RUN: fa-opt --emit-cubin="format=ptx chip=sm_90a" --split-input-file %s | FileCheck %s --check-prefix=HOPPER
// An op of instructions that the chip lacks is named before PTX is made of it.

// HOPPER-COUNT-4: chip = "sm_90a", features = "+ptx80"
gpu.module @wgmma {
  llvm.func @k() attributes {nvvm.kernel} {
    nvvm.wgmma.fence.aligned // expected-error {{needs wgmma, which sm_80 lacks}}
    llvm.return
  }
}

// -----

gpu.module @setmaxnreg {
  llvm.func @k() attributes {nvvm.kernel} {
    nvvm.setmaxregister decrease 24 // expected-error {{needs setmaxnreg, which sm_80 lacks}}
    llvm.return
  }
}

// -----

gpu.module @tma {
  llvm.func @k() attributes {nvvm.kernel} {
    nvvm.cp.async.bulk.commit.group // expected-error {{needs cp.async.bulk, which sm_80 lacks}}
    llvm.return
  }
}

// -----

gpu.module @inline_ptx {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @+1 {{needs fp8 products, which sm_80 lacks}}
    llvm.inline_asm has_side_effects "{ .reg .b32 a; .reg .f32 d; mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {d,d,d,d}, {a,a,a,a}, {a,a}, {d,d,d,d}; }", "" : () -> ()
    llvm.return
  }
}
