// RUN: not fa-opt %s --emit-cubin=opt-level=9 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not fa-opt %s --emit-cubin=format=elf 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: fa-opt %s --emit-cubin=format=ptx | FileCheck %s
// RUN: not fa-opt %s --emit-cubin=chip=sm_1 2>&1 | FileCheck %s --check-prefix=CHIP

// CHECK: gpu.binary @kernels
// CHECK-SAME: #nvvm.target<{{.*}}chip = "sm_80", features = "+ptx80">
// CHECK-SAME: fa.ptxas = {kernels = {k = {block = array<i32: 128>, dynamic_shared = 1024 : i64}}}
// CHECK-SAME: assembly = "
// CHECK-SAME: .target sm_80
// CHECK-SAME: .entry k(
// CHECK-SAME: ex2.approx.ftz.f32
// LEVEL: error: expects opt-level from 0 to 3, but found 9
// FORMAT: error: expects format bin or ptx, but found 'elf'
// CHIP: error: unknown chip 'sm_1', expected one of sm_80,
gpu.module @kernels {
  llvm.func @k(%p: !llvm.ptr) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>, cta.shared_bytes = 1024 : i64} {
    %x = llvm.load %p : !llvm.ptr -> f32
    %y = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%x) : (f32) -> f32
    llvm.store %y, %p : f32, !llvm.ptr
    llvm.return
  }
}
