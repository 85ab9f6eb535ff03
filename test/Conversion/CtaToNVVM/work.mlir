// A block takes its number apart, first coordinate fastest; lpt reverses that one.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s

// CHECK-LABEL: gpu.func @work
// CHECK-SAME: cta.shared_bytes = 0
// CHECK-SAME: nvvm.maxntid = array<i32: 32>, nvvm.minctasm = 3 : i32
gpu.module @kernels {
  gpu.func @work(%L: memref<?x?xf32>, %n: index, %m: index, %d: f32) kernel attributes {cta.min_ctas = 3 : i64} {
    // CHECK: %[[ID:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
    // CHECK-DAG: %[[REM:.*]] = arith.remui %[[ID]], %[[N:.*]] : i32
    // CHECK-DAG: arith.divui %[[ID]], %{{.*}} : i32
    // CHECK-DAG: %[[LAST:.*]] = arith.addi %[[N]], %c-1_i32
    // CHECK: arith.subi %[[LAST]], %[[REM]]
    cta.work (%i, %h) in (%n, %m) order(#cta.order<lpt>) {
      cta.role "all" teams(%w in 1) warps(1) {
        %r = vector.broadcast %d : f32 to vector<16xf32>
        cta.store %r, %L[%h, %i] : vector<16xf32>, memref<?x?xf32>
      }
    }
    gpu.return
  }
}
