// A plain matrix product with an epilogue: nothing here knows about attention.
// RUN: fa-opt %s --lower-to-nvvm | FileCheck %s

!at = !cta.tile<32x64xbf16, swizzle = 128>
!bt = !cta.tile<64x64xbf16, swizzle = 128>

// CHECK-LABEL: llvm.func @gemm
// CHECK-SAME: cta.shared_bytes = 24576
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.maxntid = array<i32: 128>
gpu.module @kernels {
  gpu.func @gemm(%A: memref<?x512xbf16>, %B: memref<512x256xbf16>, %C: memref<?x256xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %M = memref.dim %A, %c0 : memref<?x512xbf16>
    %K = memref.dim %A, %c1 : memref<?x512xbf16>
    %N = memref.dim %B, %c1 : memref<512x256xbf16>
    %nm = arith.ceildivui %M, %c128 : index
    %nn = arith.ceildivui %N, %c64 : index
    cta.work (%mi, %ni) in (%nm, %nn) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 4) warps(1) {
        %m0 = arith.muli %mi, %c128 : index
        %wm = arith.muli %w, %c32 : index
        %m = arith.addi %m0, %wm : index
        %n = arith.muli %ni, %c64 : index
        %zero = arith.constant dense<0.0> : vector<32x64xf32>
        %acc = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (vector<32x64xf32>) {
          %a = cta.load each %A[%m, %k] : memref<?x512xbf16> -> !at
          %b = cta.load once %B[%k, %n] : memref<512x256xbf16> -> !bt
          %f = cta.mma %a, %b into %acc : !at, !bt -> !cta.flight<32x64xf32>
          %s = cta.wait %f : !cta.flight<32x64xf32>
          scf.yield %s : vector<32x64xf32>
        }
        %scale = arith.constant dense<0.5> : vector<32x64xf32>
        %scaled = arith.mulf %acc, %scale : vector<32x64xf32>
        %out = arith.truncf %scaled : vector<32x64xf32> to vector<32x64xbf16>
        cta.store %out, %C[%m, %n] : vector<32x64xbf16>, memref<?x256xbf16>
      }
    }
    gpu.return
  }
}

// Every step of the depth reads A once and each 16 columns of B once.
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// CHECK-NOT: builtin.unrealized_conversion_cast
// CHECK: llvm.return
