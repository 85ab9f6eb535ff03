// A causal FlashAttention-2 forward kernel, written by hand at level D, goes down to a cubin without spilling: 128
// query rows in 4 warps, 64 keys a block, head dimension 128.
// REQUIRES: ptxas
// RUN: fa-opt %S/Inputs/causal-attention.mlir --stage-tiles=stages=1 --prefetch --lower-to-nvvm --emit-cubin | FileCheck %s

// CHECK: gpu.binary @kernels
// CHECK-SAME: attention = {block = array<i32: 128>, dynamic_shared = 65536 : i64, extents = [#cta.extent<arg = 0, dim = 2, tile = 128>,
// CHECK-SAME: spill_loads = 0 : i64, spill_stores = 0 : i64
