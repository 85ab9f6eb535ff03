// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s

!t = !cta.tile<16x64xbf16, swizzle = 128>

// A 16-bit fragment passes through the tile that its team's rows were read from: 4 bytes of a quad's rows in, 128 bytes of
// a row out; rows are checked where not all of the warp's exist.
// CHECK-LABEL: gpu.func @attention_like
// CHECK: nvvm.mma.sync
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-16: llvm.store %{{.*}} : i32, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK-COUNT-16: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK: else
// CHECK: scf.if
// CHECK-COUNT-1: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK: }
// CHECK: scf.if
gpu.module @a {
  gpu.func @attention_like(%Q: memref<?x64xbf16>, %K: memref<?x64xbf16>, %O: memref<?x64xbf16>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %q = cta.load each %Q[%i, %c0] : memref<?x64xbf16> -> !t
      %k = cta.load once %K[%c0, %c0] : memref<?x64xbf16> -> !cta.tile<64x64xbf16, swizzle = 128>
      %f = cta.mma %q, transpose %k : !t, !cta.tile<64x64xbf16, swizzle = 128> -> !cta.flight<16x64xf32>
      %s = cta.wait %f : !cta.flight<16x64xf32>
      %o = arith.truncf %s : vector<16x64xf32> to vector<16x64xbf16>
      cta.store %o, %O[%i, %c0] : vector<16x64xbf16>, memref<?x64xbf16>
    }
    gpu.return
  }
}
