// RUN: fa-opt %s --split-input-file --defer-redo 2>&1 | FileCheck %s -DPASS=--defer-redo
// RUN: fa-opt %s --split-input-file --fold-factors 2>&1 | FileCheck %s -DPASS=--fold-factors
// RUN: fa-opt %s --split-input-file --fold-sums 2>&1 | FileCheck %s -DPASS=--fold-sums
// RUN: fa-opt %s --split-input-file --stage-tiles 2>&1 | FileCheck %s -DPASS=--stage-tiles
// RUN: fa-opt %s --split-input-file --prefetch 2>&1 | FileCheck %s -DPASS=--prefetch
// RUN: fa-opt %s --split-input-file --specialize-warps 2>&1 | FileCheck %s -DPASS=--specialize-warps
// RUN: fa-opt %s --split-input-file --trim-teams 2>&1 | FileCheck %s -DPASS=--trim-teams
// RUN: fa-opt %s --split-input-file --overlap-softmax 2>&1 | FileCheck %s -DPASS=--overlap-softmax
// RUN: fa-opt %s --split-input-file --overlap-tiles 2>&1 | FileCheck %s -DPASS=--overlap-tiles
// RUN: fa-opt %s --split-input-file --ping-pong 2>&1 | FileCheck %s -DPASS=--ping-pong
// RUN: fa-opt %s --split-input-file --persistent 2>&1 | FileCheck %s -DPASS=--persistent
// RUN: fa-opt %s --split-input-file --unroll-stages 2>&1 | FileCheck %s -DPASS=--unroll-stages
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
