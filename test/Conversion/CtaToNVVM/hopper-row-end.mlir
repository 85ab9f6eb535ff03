// Rows that end before the argument does go by a map whose third dimension is their end: the tile at %row that ends at %end is at
// (rows + %row - %end, %end), a segment at a time, and so are stores. An end that is the number of rows of an argument is the
// plain map's own.
// RUN: fa-opt %s --lower-to-nvvm="chip=sm_90a tiles-only" | FileCheck %s

!t = !cta.tile<64x128xbf16, swizzle = 128>
!m = memref<?x?x128xbf16, strided<[?, ?, 1]>>

// CHECK-LABEL: gpu.func @row_end
// CHECK-SAME: %[[ROW:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index, %[[ENDING:[a-z0-9]+]]: !llvm.ptr, %[[PLAIN:[a-z0-9]+]]: !llvm.ptr, %[[STORED:[a-z0-9]+]]: !llvm.ptr)
// CHECK-SAME: cta.tensor_maps = [#cta.tensor_map<arg = 0, rows = 64, cols = 128, swizzle = 128, until = true>, #cta.tensor_map<arg = 0, rows = 64, cols = 128, swizzle = 128>, #cta.tensor_map<arg = 1, rows = 64, cols = 128, swizzle = 128, until = true>]
gpu.module @kernels {
  gpu.func @row_end(%in: !m, %out: !m, %row: index, %end: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    cta.role "a" teams(%w in 1) warps(4) {
      // CHECK: %[[E:.*]] = arith.index_cast %[[END]] : index to i32
      // CHECK: %[[REST:.*]] = arith.subi %{{.*}}, %[[E]] : i32
      // CHECK: %[[FIRST:.*]] = arith.addi %[[REST]], %{{.*}} : i32
      // CHECK: %[[E1:.*]] = arith.index_cast %[[END]] : index to i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ENDING]], %{{.*}}, box[%c0_i32, %[[FIRST]], %[[E1]], %c0_i32, %c0_i32]
      // CHECK: %[[E2:.*]] = arith.index_cast %[[END]] : index to i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ENDING]], %{{.*}}, box[%c64_i32, %[[FIRST]], %[[E2]], %c0_i32, %c0_i32]
      %a = cta.load each %in[%c0, %row, %c0] until %end : !m -> !t
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[PLAIN]], %{{.*}}, box[%c0_i32, %{{.*}}, %c0_i32, %c0_i32, %c0_i32]
      // CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global
      %rows = memref.dim %in, %c1 : !m
      %b = cta.load each %in[%c0, %row, %c0] until %rows : !m -> !t
      %f = cta.mma %a, transpose %b : !t, !t -> !cta.flight<64x64xf32>
      %s = cta.wait %f : !cta.flight<64x64xf32>
      %p = arith.truncf %s : vector<64x64xf32> to vector<64x64xbf16>
      %g = cta.mma %p, %b : vector<64x64xbf16>, !t -> !cta.flight<64x128xf32>
      %r = cta.wait %g : !cta.flight<64x128xf32>
      %o = arith.truncf %r : vector<64x128xf32> to vector<64x128xbf16>
      // CHECK: arith.subi %{{.*}}, %{{.*}} : i32
      // CHECK: arith.index_cast %[[ROW]]
      // CHECK: %[[STORE:.*]] = arith.addi
      // CHECK: %[[E3:.*]] = arith.index_cast %[[END]] : index to i32
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[STORED]], %{{.*}}, box[%c0_i32, %[[STORE]], %[[E3]], %c0_i32, %c0_i32]
      // CHECK: %[[E4:.*]] = arith.index_cast %[[END]] : index to i32
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[STORED]], %{{.*}}, box[%c64_i32, %[[STORE]], %[[E4]], %c0_i32, %c0_i32]
      cta.store %o, %out[%c0, %row, %c0] until %end : vector<64x128xbf16>, !m
    }
    gpu.return
  }
}
