// Functions that may be approximated become the hardware's instructions, and narrowing packs pairs; no libdevice.
// RUN: fa-opt %s --lower-to-nvvm --emit-cubin=format=ptx | FileCheck %s

// CHECK-NOT: __nv_
// CHECK: ex2.approx.ftz.f32
// CHECK: lg2.approx.ftz.f32
// CHECK: tanh.approx.f32
// CHECK: cvt.rn.bf16x2.f32
// CHECK-NOT: __nv_
gpu.module @kernels {
  gpu.func @math(%O: memref<?x?xbf16>, %i: i32) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %row = cta.row %i : vector<16x8xi32>
      %f = arith.sitofp %row : vector<16x8xi32> to vector<16x8xf32>
      %e = math.exp2 %f fastmath<afn> : vector<16x8xf32>
      %l = math.log2 %e fastmath<afn> : vector<16x8xf32>
      %t = math.tanh %l fastmath<afn> : vector<16x8xf32>
      %m = arith.maxnumf %t, %e : vector<16x8xf32>
      %h = arith.truncf %m : vector<16x8xf32> to vector<16x8xbf16>
      cta.store %h, %O[%c0, %c0] : vector<16x8xbf16>, memref<?x?xbf16>
    }
    gpu.return
  }
}
