// A tile that has all its rows before their end goes by one instruction, with the same map as any tile. Of others go groups of
// eight rows, and row by row the group that the end is in, a segment at a time: with the coordinate of their row, or where
// they are past the end with that of a row that no tensor has. An end that is the number of rows of an argument needs none of this.
// RUN: fa-opt %s --lower-to-nvvm="chip=sm_90a tiles-only" --canonicalize --cse | FileCheck %s

!t = !cta.tile<64x128xbf16, swizzle = 128>
!m = memref<?x?x128xbf16, strided<[?, ?, 1]>>

// CHECK-LABEL: gpu.func @row_end
// CHECK-SAME: %[[ROW:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index, %[[TILE:[a-z0-9]+]]: !llvm.ptr, %[[GROUP:[a-z0-9]+]]: !llvm.ptr, %[[ONE:[a-z0-9]+]]: !llvm.ptr, %[[TO:[a-z0-9]+]]: !llvm.ptr, %[[TO_GROUP:[a-z0-9]+]]: !llvm.ptr, %[[TO_ONE:[a-z0-9]+]]: !llvm.ptr)
// CHECK-SAME: cta.tensor_maps = [#cta.tensor_map<arg = 0, rows = 64, cols = 128, swizzle = 128>, #cta.tensor_map<arg = 0, rows = 8, cols = 64, swizzle = 128>, #cta.tensor_map<arg = 0, rows = 1, cols = 64, swizzle = 128>, #cta.tensor_map<arg = 1, rows = 64, cols = 128, swizzle = 128>, #cta.tensor_map<arg = 1, rows = 8, cols = 64, swizzle = 128>, #cta.tensor_map<arg = 1, rows = 1, cols = 64, swizzle = 128>]
gpu.module @kernels {
  gpu.func @row_end(%in: !m, %out: !m, %row: index, %end: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    cta.role "a" teams(%w in 1) warps(4) {
      // CHECK: %[[R:.*]] = arith.index_cast %[[ROW]] : index to i32
      // CHECK: %[[PAST:.*]] = arith.addi %[[R]], %c64_i32
      // CHECK: %[[E:.*]] = arith.index_cast %[[END]] : index to i32
      // CHECK: %[[IS_WHOLE:.*]] = arith.cmpi sle, %[[PAST]], %[[E]]
      // CHECK: scf.if %[[IS_WHOLE]]
      // CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[TILE]], %[[BARRIER:.*]], box[%c0_i32, %[[R]], %c0_i32, %c0_i32, %c0_i32]
      // CHECK: } else {
      // CHECK:   scf.for %[[N:.*]] = %c0_i32 to %c64_i32 step %c8_i32
      // CHECK:     %[[FIRST:.*]] = arith.addi %[[R]], %[[N]]
      // CHECK:     %[[LEFT:.*]] = arith.subi %[[E]], %[[FIRST]]
      // CHECK:     %[[BEFORE:.*]] = arith.addi %[[LEFT]], %c-1_i32
      // CHECK:     %[[IS_SPLIT:.*]] = arith.cmpi ult, %[[BEFORE]], %c7_i32
      // CHECK:     scf.if %[[IS_SPLIT]]
      // CHECK:       scf.for
      // CHECK:         %[[THIS:.*]] = arith.select %{{.*}}, %{{.*}}, %c-8_i32
      // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ONE]], %[[BARRIER]], box[%c0_i32, %[[THIS]], %c0_i32, %c0_i32, %c0_i32]
      // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ONE]], %[[BARRIER]], box[%c0_i32, %[[THIS]], %c1_i32, %c0_i32, %c0_i32]
      // CHECK:     } else {
      // CHECK:       %[[IS_THERE:.*]] = arith.cmpi sgt, %[[LEFT]], %c0_i32
      // CHECK:       %[[ROWS:.*]] = arith.select %[[IS_THERE]], %[[FIRST]], %c-8_i32
      // CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[GROUP]], %[[BARRIER]], box[%c0_i32, %[[ROWS]], %c0_i32, %c0_i32, %c0_i32]
      // CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[GROUP]], %[[BARRIER]], box[%c0_i32, %[[ROWS]], %c1_i32, %c0_i32, %c0_i32]
      %a = cta.load each %in[%c0, %row, %c0] until %end : !m -> !t
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[TILE]], %{{.*}}, box[%c0_i32, %{{.*}}, %c0_i32, %c0_i32, %c0_i32]
      // CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global
      %rows = memref.dim %in, %c1 : !m
      %b = cta.load each %in[%c0, %row, %c0] until %rows : !m -> !t
      %f = cta.mma %a, transpose %b : !t, !t -> !cta.flight<64x64xf32>
      %s = cta.wait %f : !cta.flight<64x64xf32>
      %p = arith.truncf %s : vector<64x64xf32> to vector<64x64xbf16>
      %g = cta.mma %p, %b : vector<64x64xbf16>, !t -> !cta.flight<64x128xf32>
      %r = cta.wait %g : !cta.flight<64x128xf32>
      %o = arith.truncf %r : vector<64x128xf32> to vector<64x128xbf16>
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[TO]], %{{.*}}, box[%c0_i32, %{{.*}}, %c0_i32, %c0_i32, %c0_i32]
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[TO_ONE]], %{{.*}}, box[%c0_i32, %{{.*}}, %c0_i32, %c0_i32, %c0_i32]
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[TO_ONE]], %{{.*}}, box[%c0_i32, %{{.*}}, %c1_i32, %c0_i32, %c0_i32]
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[TO_GROUP]], %{{.*}}, box[%c0_i32, %{{.*}}, %c0_i32, %c0_i32, %c0_i32]
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[TO_GROUP]], %{{.*}}, box[%c0_i32, %{{.*}}, %c1_i32, %c0_i32, %c0_i32]
      cta.store %o, %out[%c0, %row, %c0] until %end : vector<64x128xbf16>, !m
    }
    gpu.return
  }
}
