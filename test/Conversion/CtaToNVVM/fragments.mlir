// Arithmetic on fragments becomes arithmetic on what one thread holds.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s

// CHECK-LABEL: gpu.func @fragments
gpu.module @kernels {
  gpu.func @fragments(%O: memref<?x?xbf16>, %L: memref<?xf32>, %i: i32, %c: f32, %b: i1) kernel {
    %c0 = arith.constant 0 : index
    // CHECK-DAG: arith.constant dense<2.000000e+00> : vector<2x8x4xf32>
    %two = arith.constant dense<2.0> : vector<128x64xf32>
    %ones = arith.constant dense<1.0> : vector<128xf32>
    cta.role "all" teams(%w in 2) warps(4) {
      // CHECK: %[[ROW:.*]] = arith.addi %{{.*}} : i32
      // CHECK: arith.sitofp %{{.*}} : vector<2x8x4xi32> to vector<2x8x4xf32>
      %row = cta.row %i : vector<128x64xi32>
      %f = arith.sitofp %row : vector<128x64xi32> to vector<128x64xf32>
      %col = cta.col %i : vector<1x64xi32>
      %cols = vector.broadcast %col : vector<1x64xi32> to vector<128x64xi32>
      // CHECK: arith.cmpi slt, %{{.*}} : vector<2x8x4xi32>
      %m = arith.cmpi slt, %cols, %row : vector<128x64xi32>
      // CHECK: arith.select %{{.*}} : vector<2x8x4xi1>, vector<2x8x4xf32>
      %s = arith.select %m, %f, %two : vector<128x64xi1>, vector<128x64xf32>
      // A scalar condition serves all elements.
      // CHECK: %[[B:.*]] = vector.broadcast %{{.*}} : i1 to vector<2x8x4xi1>
      // CHECK: arith.select %[[B]], %{{.*}} : vector<2x8x4xi1>, vector<2x8x4xf32>
      %t = arith.select %b, %s, %two : vector<128x64xf32>
      // CHECK: %[[C:.*]] = vector.broadcast %{{.*}} : f32 to vector<2x8x4xf32>
      // CHECK: arith.mulf %{{.*}}, %[[C]] fastmath<contract> : vector<2x8x4xf32>
      %cv = vector.broadcast %c : f32 to vector<128x64xf32>
      %u = arith.mulf %t, %cv fastmath<contract> : vector<128x64xf32>
      // CHECK: arith.truncf %{{.*}} : vector<2x8x4xf32> to vector<2x8x4xbf16>
      %h = arith.truncf %u : vector<128x64xf32> to vector<128x64xbf16>
      cta.store %h, %O[%c0, %c0] : vector<128x64xbf16>, memref<?x?xbf16>
      // CHECK: math.fma %{{.*}} : vector<2x2xf32>
      %l = math.fma %ones, %ones, %ones : vector<128xf32>
      cta.store %l, %L[%c0] : vector<128xf32>, memref<?xf32>
    }
    gpu.return
  }
}
