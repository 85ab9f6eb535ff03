// Blocks share unequal items: each role counts the block's own items, all by one formula of the grid's size.
// RUN: fa-opt %S/Inputs/specialised.mlir --lower-to-nvvm="chip=sm_90a tiles-only" | FileCheck %s

// CHECK-LABEL: gpu.func @persistent
// CHECK: scf.if
// CHECK: %[[BLOCKS:.*]] = nvvm.read.ptx.sreg.nctaid.x : i32
// CHECK: arith.divui %{{.*}}, %[[BLOCKS]] : i32
// CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
// CHECK: scf.for %[[N:.*]] = %c0_i32 to %{{.*}} step %c1_i32
// CHECK: %[[ROUND:.*]] = arith.divui %[[N]], %c2_i32 : i32
// CHECK: %[[PLACE:.*]] = arith.muli %[[ROUND]], %[[BLOCKS]] : i32
// CHECK: arith.addi %[[BLOCK]], %[[PLACE]] : i32
// CHECK: } else {
// CHECK: %[[OTHERS:.*]] = nvvm.read.ptx.sreg.nctaid.x : i32
// CHECK: scf.for %[[M:.*]] = %c0_i32 to %{{.*}} step %c1_i32
// CHECK: arith.divui %[[M]], %c2_i32 : i32
