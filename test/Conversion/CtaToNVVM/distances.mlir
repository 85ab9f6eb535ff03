// Distances of columns from rows: one conversion a row, and one operation an element, which takes a constant off; with a
// factor, one fused operation.
// RUN: fa-opt %s --lower-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @plain
  // CHECK: %[[ROW:.*]] = llvm.sitofp %{{.*}} : i32 to f32
  // CHECK: llvm.fadd %[[ROW]], %{{.*}} : f32
  // CHECK: %[[BELOW:.*]] = llvm.sitofp %{{.*}} : i32 to f32
  // CHECK: llvm.fadd %[[BELOW]], %{{.*}} : f32
  // CHECK-NOT: llvm.sitofp
  gpu.func @plain(%o: memref<?x16xf32, strided<[?, 1]>, #gpu.address_space<global>>, %slope: f32) kernel {
    %c0 = arith.constant 0 : index
    %i7 = arith.constant 7 : i32
    cta.role "all" teams(%w in 1) warps(1) {
      %r = cta.row %i7 : vector<16xi32>
      %c = cta.col %i7 : vector<1x16xi32>
      %r1 = vector.shape_cast %r : vector<16xi32> to vector<16x1xi32>
      %rb = vector.broadcast %r1 : vector<16x1xi32> to vector<16x16xi32>
      %cb = vector.broadcast %c : vector<1x16xi32> to vector<16x16xi32>
      %d = arith.subi %rb, %cb : vector<16x16xi32>
      %f = arith.sitofp %d : vector<16x16xi32> to vector<16x16xf32>
      cta.store %f, %o[%c0, %c0] : vector<16x16xf32>, memref<?x16xf32, strided<[?, 1]>, #gpu.address_space<global>>
    }
    gpu.return
  }
  // CHECK-LABEL: llvm.func @scaled
  // CHECK: %[[FLOAT:.*]] = llvm.sitofp %{{.*}} : i32 to f32
  // CHECK: %[[SCALED:.*]] = llvm.fmul %[[FLOAT]], %[[SLOPE:.*]] : f32
  // CHECK: llvm.intr.fma(%{{.*}}, %[[SLOPE]], %[[SCALED]])
  gpu.func @scaled(%o: memref<?x16xf32, strided<[?, 1]>, #gpu.address_space<global>>, %slope: f32) kernel {
    %c0 = arith.constant 0 : index
    %i7 = arith.constant 7 : i32
    cta.role "all" teams(%w in 1) warps(1) {
      %r = cta.row %i7 : vector<16xi32>
      %c = cta.col %i7 : vector<1x16xi32>
      %r1 = vector.shape_cast %r : vector<16xi32> to vector<16x1xi32>
      %rb = vector.broadcast %r1 : vector<16x1xi32> to vector<16x16xi32>
      %cb = vector.broadcast %c : vector<1x16xi32> to vector<16x16xi32>
      %d = arith.subi %rb, %cb : vector<16x16xi32>
      %f = arith.sitofp %d : vector<16x16xi32> to vector<16x16xf32>
      %s = vector.broadcast %slope : f32 to vector<16x16xf32>
      %p = arith.mulf %s, %f : vector<16x16xf32>
      cta.store %p, %o[%c0, %c0] : vector<16x16xf32>, memref<?x16xf32, strided<[?, 1]>, #gpu.address_space<global>>
    }
    gpu.return
  }
}
