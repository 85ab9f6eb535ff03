// REQUIRES: ptxas
// RUN: not fa-opt %s --emit-cubin 2>&1 | FileCheck %s

// CHECK: error: ptxas failed:
gpu.module @kernels {
  llvm.func @k(%p: !llvm.ptr) attributes {nvvm.kernel} {
    llvm.inline_asm has_side_effects "no.such.instruction;", "" : () -> ()
    llvm.return
  }
}
