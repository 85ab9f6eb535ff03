// One 16x16x16 product: A and B by ldmatrix.x4, transposed where B is stored [K, N], and two mma.sync.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s

!a = !cta.tile<16x64xf16, swizzle = 128>
!n = !cta.tile<64x64xf16, swizzle = 128>

// CHECK-LABEL: gpu.func @mma
gpu.module @kernels {
  gpu.func @mma(%A: memref<?x64xf16>, %O: memref<?x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %a = cta.load each %A[%c0, %c0] : memref<?x64xf16> -> !a
      %b = cta.load once %A[%c0, %c0] : memref<?x64xf16> -> !n
      // K-major B: 4 steps of A, and 4 x 4 blocks of B without transposition.
      // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4
      // CHECK: nvvm.mma.sync A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[%cst, %cst, %cst, %cst]
      // CHECK-SAME: layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
      // CHECK-SAME: vector<2xf16>, vector<2xf16>, f32
      %f = cta.mma %a, transpose %b : !a, !n -> !cta.flight<16x64xf32>
      %s = cta.wait %f : !cta.flight<16x64xf32>
      %p = arith.truncf %s : vector<16x64xf32> to vector<16x64xf16>
      // The accumulator is the next A operand; [K, N] B is transposed on the way.
      // CHECK: arith.truncf
      // CHECK-NOT: layout = #nvvm.mma_layout<row>, num = 4
      // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4
      // CHECK: nvvm.mma.sync
      %g = cta.mma %p, %b into %s : vector<16x64xf16>, !n -> !cta.flight<16x64xf32>
      %o = cta.wait %g : !cta.flight<16x64xf32>
      cta.store %o, %O[%c0, %c0] : vector<16x64xf32>, memref<?x64xf32>
    }
    gpu.return
  }
}
