// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s

// Columns against one limit a row: the base and the thread's own two columns are taken off the limit, and each element
// compares a constant.
// CHECK-LABEL: gpu.func @columns
// CHECK: %[[REST:.*]] = arith.subi
// CHECK-DAG: arith.cmpi sge, %[[REST]], %c0_i32 : i32
// CHECK-DAG: arith.cmpi sge, %[[REST]], %c1_i32 : i32
// CHECK-DAG: arith.cmpi sge, %[[REST]], %c8_i32 : i32
// CHECK-DAG: arith.cmpi sge, %[[REST]], %c9_i32 : i32
gpu.module @a {
  gpu.func @columns(%C: memref<?x16xf32>, %base: i32, %limit: i32) kernel {
    %c0 = arith.constant 0 : index
    %x = arith.constant dense<1.0> : vector<16x16xf32>
    %y = arith.constant dense<2.0> : vector<16x16xf32>
    cta.role "all" teams(%w in 1) warps(1) {
      %row = cta.row %limit : vector<16xi32>
      %r1 = vector.shape_cast %row : vector<16xi32> to vector<16x1xi32>
      %r = vector.broadcast %r1 : vector<16x1xi32> to vector<16x16xi32>
      %col = cta.col %base : vector<1x16xi32>
      %c = vector.broadcast %col : vector<1x16xi32> to vector<16x16xi32>
      %in = arith.cmpi sle, %c, %r : vector<16x16xi32>
      %s = arith.select %in, %x, %y : vector<16x16xi1>, vector<16x16xf32>
      cta.store %s, %C[%c0, %c0] : vector<16x16xf32>, memref<?x16xf32>
    }
    gpu.return
  }
}
