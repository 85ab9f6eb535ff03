// bf16 of a tile in shared memory into f32: an operation for each element, and none to take a register's halves apart.
// RUN: fa-opt %s --lower-to-nvvm="chip=sm_90a tiles-only" | FileCheck %s
// RUN: fa-opt %s --lower-to-nvvm=chip=sm_90a --emit-cubin="chip=sm_90a format=ptx" | FileCheck %s --check-prefix=PTX --implicit-check-not=cvt.f32.bf16 --implicit-check-not=prmt

!t = !cta.tile<64x64xbf16, swizzle = 128>
!r = !cta.ring<2, !t>
!m = memref<?x?x?xbf16, strided<[?, ?, 1]>>

// PTX: .entry sums
// PTX: ldmatrix
// CHECK-LABEL: gpu.func @sums
gpu.module @kernels {
  gpu.func @sums(%M: !m, %O: memref<?x64xf32>, %h: index, %i: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %r = cta.ring each(1) : !r
    cta.role "load" teams(%w in 1) warps(4) regs(24) {
      scf.for %j = %c0 to %n step %c64 {
        %e = cta.acquire %r[%c0] : !r
        cta.copy %M[%h, %i, %j] to %e : !m, !t
      }
    }
    cta.role "compute" teams(%w in 1) warps(4) regs(240) {
      %s = scf.for %j = %c0 to %n step %c64 iter_args(%sum = %zero) -> (vector<64x64xf32>) {
        %k = cta.consume %r : !r
        %f = cta.read %k : !t -> vector<64x64xbf16>
        cta.release %k : !t
        // CHECK: %[[LOW:.*]] = arith.shli %[[BITS:.*]], %c16_i32
        // CHECK: llvm.bitcast %[[LOW]] : i32 to f32
        // CHECK: %[[HIGH:.*]] = arith.andi %[[BITS]], %c-65536_i32
        // CHECK: llvm.bitcast %[[HIGH]] : i32 to f32
        // CHECK-NOT: arith.extf
        // CHECK: gpu.return
        %wide = arith.extf %f : vector<64x64xbf16> to vector<64x64xf32>
        %next = arith.addf %sum, %wide : vector<64x64xf32>
        scf.yield %next : vector<64x64xf32>
      }
      cta.store %s, %O[%c0, %c0] : vector<64x64xf32>, memref<?x64xf32>
    }
    gpu.return
  }
}
