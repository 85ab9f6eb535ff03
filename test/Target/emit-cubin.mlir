// REQUIRES: ptxas
// RUN: fa-opt %s --emit-cubin | FileCheck %s
// RUN: fa-opt %s --emit-cubin=chip=sm_90a | FileCheck %s --check-prefix=HOPPER

// CHECK: gpu.binary @kernels
// CHECK-SAME: k = {registers = {{[0-9]+}} : i64, spill_loads = 0 : i64, spill_stores = 0 : i64, static_shared = 0 : i64}
// CHECK-SAME: version = "{{[0-9.]+}}"
// CHECK-SAME: bin = "\7FELF
// HOPPER: chip = "sm_90a"
// HOPPER-SAME: bin = "\7FELF
gpu.module @kernels {
  llvm.func @k(%p: !llvm.ptr) attributes {nvvm.kernel} {
    %x = llvm.load %p : !llvm.ptr -> f32
    %y = llvm.fadd %x, %x : f32
    llvm.store %y, %p : f32, !llvm.ptr
    llvm.return
  }
}
