// RUN: fa-opt %s --split-input-file --stage-tiles 2>&1 | FileCheck %s -DPASS=--stage-tiles
// RUN: fa-opt %s --split-input-file --prefetch 2>&1 | FileCheck %s -DPASS=--prefetch
// RUN: fa-opt %s --split-input-file --lower-to-nvvm 2>&1 | FileCheck %s -DPASS=--lower-to-nvvm
// A pass on kernels says that there are none.

// CHECK: nothing-to-do.mlir:{{.*}}: warning: [[PASS]] found no gpu.module
func.func @no_kernel() {
  return
}

// -----

// CHECK: nothing-to-do.mlir:{{.*}}: warning: [[PASS]] found no gpu.func
gpu.module @lowered {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}
