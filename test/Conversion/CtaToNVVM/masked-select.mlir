// A select by a conjunction of masks: one selection an element, and conjunctions that ptxas folds into comparisons.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s
// RUN: fa-opt %s --lower-to-nvvm --emit-cubin=format=ptx | FileCheck %s --check-prefix=PTX

// PTX: .entry both
// PTX-COUNT-4: and.pred
// PTX-NOT: and.pred
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @both
  gpu.func @both(%I: memref<?xi32>, %O: memref<?x8xf32>, %limit: i32) kernel {
    %c0 = arith.constant 0 : index
    %c0_i32 = arith.constant 0 : i32
    %x = arith.constant dense<1.0> : vector<16x8xf32>
    %y = arith.constant dense<2.0> : vector<16x8xf32>
    cta.role "all" teams(%w in 1) warps(1) {
      %row = cta.row %c0_i32 : vector<16xi32>
      %id = cta.lookup %I[%row] : memref<?xi32>, (vector<16xi32>) -> vector<16xi32>
      %id1 = vector.shape_cast %id : vector<16xi32> to vector<16x1xi32>
      %ids = vector.broadcast %id1 : vector<16x1xi32> to vector<16x8xi32>
      %col = cta.col %c0_i32 : vector<1x8xi32>
      %cols = vector.broadcast %col : vector<1x8xi32> to vector<16x8xi32>
      %end = vector.broadcast %limit : i32 to vector<16x8xi32>
      %same = arith.cmpi eq, %ids, %cols : vector<16x8xi32>
      %inside = arith.cmpi slt, %cols, %end : vector<16x8xi32>
      %sees = arith.andi %same, %inside : vector<16x8xi1>
      // CHECK: %[[BOTH:.*]] = llvm.inline_asm "and.pred $0, $1, $2;", "=b,b,b" %{{.*}}, %{{.*}} : (i1, i1) -> i1
      // CHECK-NEXT: arith.select %[[BOTH]], %{{.*}}, %{{.*}} : f32
      %s = arith.select %sees, %x, %y : vector<16x8xi1>, vector<16x8xf32>
      cta.store %s, %O[%c0, %c0] : vector<16x8xf32>, memref<?x8xf32>
    }
    gpu.return
  }
}
