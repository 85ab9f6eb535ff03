// Elements of captured tensors: rows scaled by their stride once, a run of columns at constant offsets, two at a time where
// they are aligned, loads of memory that nobody writes.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s
// RUN: fa-opt %s --lower-to-nvvm --emit-cubin=format=ptx | FileCheck %s --check-prefix=PTX

// PTX: .entry bias
// PTX-COUNT-8: ld.global.nc.b32
// PTX-COUNT-4: ld.global.nc.v2.b32
// PTX-NOT: ld.global
// PTX: .entry narrow
// PTX-COUNT-2: ld.global.nc.b16
// PTX: .entry scalar
// PTX: ld.global.nc.b32
gpu.module @kernels {
  // Two rows a thread, 2 blocks of columns: 2 pointers, each with offsets 0, 1, 8, 9.
  // CHECK-LABEL: gpu.func @bias
  gpu.func @bias(%M: memref<?x?x?xf32, strided<[?, ?, 1]>>, %O: memref<?x16xf32>, %h: index, %i: i32, %j: i32) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %rows = cta.row %i : vector<16xi32>
      %c = cta.col %i : vector<1x16xi32>
      %s = vector.broadcast %j : i32 to vector<1x16xi32>
      %cols = arith.addi %c, %s : vector<1x16xi32>
      // CHECK: %[[BASE:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      // CHECK: llvm.getelementptr %[[BASE]][%{{.*}}]
      // CHECK: %[[ROW:.*]] = llvm.getelementptr %[[BASE]][%{{.*}}]
      // CHECK: %[[LOW:.*]] = arith.andi %{{.*}}, %c7_i64 : i64
      // CHECK: %[[EVEN:.*]] = arith.andi %{{.*}}, %c1_i64 : i64
      // CHECK: %[[REST:.*]] = arith.ori %[[LOW]], %[[EVEN]]
      // CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %c0_i64
      // CHECK: scf.if %[[ALIGNED]]
      // CHECK-COUNT-4: llvm.load %{{.*}} invariant {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
      // CHECK: } else {
      // CHECK: llvm.load %[[ROW]] invariant : !llvm.ptr<1> -> f32
      // CHECK: %[[ONE:.*]] = llvm.getelementptr %[[ROW]][1]
      // CHECK: llvm.load %[[ONE]] invariant
      // CHECK: llvm.getelementptr %[[ROW]][8]
      // CHECK: llvm.getelementptr %[[ROW]][9]
      %v = cta.lookup %M[%h, %rows, %cols] : memref<?x?x?xf32, strided<[?, ?, 1]>>, (index, vector<16xi32>, vector<1x16xi32>) -> vector<16x16xf32>
      cta.store %v, %O[%c0, %c0] : vector<16x16xf32>, memref<?x16xf32>
    }
    gpu.return
  }
  // A row vector of 16-bit elements, gathered at what another lookup gives.
  // CHECK-LABEL: gpu.func @narrow
  gpu.func @narrow(%T: memref<?xi32>, %M: memref<?xf16>, %O: memref<?xf16>, %i: i32) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %rows = cta.row %i : vector<16xi32>
      // CHECK-COUNT-2: llvm.load {{.*}} invariant : !llvm.ptr<1> -> i32
      %at = cta.lookup %T[%rows] : memref<?xi32>, (vector<16xi32>) -> vector<16xi32>
      // CHECK-COUNT-2: llvm.load {{.*}} invariant : !llvm.ptr<1> -> f16
      %v = cta.lookup %M[%at] : memref<?xf16>, (vector<16xi32>) -> vector<16xf16>
      cta.store %v, %O[%c0] : vector<16xf16>, memref<?xf16>
    }
    gpu.return
  }
  // CHECK-LABEL: gpu.func @scalar
  gpu.func @scalar(%T: memref<?xf32, strided<[1]>>, %O: memref<?xf32>, %b: index) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      // CHECK: llvm.load {{.*}} invariant : !llvm.ptr<1> -> f32
      %s = memref.load %T[%b] : memref<?xf32, strided<[1]>>
      %v = vector.broadcast %s : f32 to vector<16xf32>
      cta.store %v, %O[%c0] : vector<16xf32>, memref<?xf32>
    }
    gpu.return
  }
  // Columns that are clamped to the last one: pairs in a block that ends before it, each thread's own clamped columns in another.
  // CHECK-LABEL: gpu.func @clamped
  // CHECK: %[[END:.*]] = arith.addi %{{.*}}, %c15_i32 : i32
  // CHECK: %[[CUT:.*]] = arith.cmpi sgt, %[[END]], %{{.*}} : i32
  // CHECK: %[[WIDE:.*]] = arith.extui %[[CUT]] : i1 to i64
  // CHECK: %[[ODD:.*]] = arith.ori %{{.*}}, %[[WIDE]] : i64
  // CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[ODD]], %c0_i64
  // CHECK: scf.if %[[WHOLE]]
  // CHECK-COUNT-2: llvm.load %{{.*}} invariant {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xi32>
  // CHECK: } else {
  // CHECK-COUNT-4: llvm.load %{{.*}} invariant : !llvm.ptr<1> -> i32
  gpu.func @clamped(%T: memref<?xi32, strided<[1]>>, %O: memref<?x16xi32>, %j: i32, %last: i32) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %c = cta.col %j : vector<1x16xi32>
      %l = vector.broadcast %last : i32 to vector<1x16xi32>
      %cols = arith.minsi %c, %l : vector<1x16xi32>
      %v = cta.lookup %T[%cols] : memref<?xi32, strided<[1]>>, (vector<1x16xi32>) -> vector<1x16xi32>
      %m = vector.broadcast %v : vector<1x16xi32> to vector<16x16xi32>
      cta.store %m, %O[%c0, %c0] : vector<16x16xi32>, memref<?x16xi32>
    }
    gpu.return
  }
}
