// The product of gemm.mlir, unstaged and with prefetching, all the way to a cubin.
// REQUIRES: ptxas
// RUN: fa-opt %S/gemm.mlir --lower-to-nvvm --emit-cubin | FileCheck %s
// RUN: fa-opt %S/gemm.mlir --stage-tiles=stages=3 --prefetch --lower-to-nvvm --emit-cubin=chip=sm_89 | FileCheck %s

// CHECK: gemm = {block = array<i32: 128>
// CHECK-SAME: spill_stores = 0 : i64
// CHECK-SAME: bin = "\7FELF
