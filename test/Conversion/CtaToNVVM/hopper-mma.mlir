// Products of a warpgroup: one text a product of 64 rows, descriptors whose low half is the address plus the step's distance, and
// accumulators that go through the wait.
// RUN: fa-opt %s --lower-to-nvvm="chip=sm_90a tiles-only" | FileCheck %s

!q = !cta.tile<64x128xf16, swizzle = 128>
!k = !cta.tile<32x128xf16, swizzle = 128>
!m = memref<?x128xf16>

// CHECK-LABEL: gpu.func @mma
gpu.module @kernels {
  gpu.func @mma(%A: !m, %O: memref<?x128xf32>, %d: f32) kernel {
    %c0 = arith.constant 0 : index
    %first = vector.broadcast %d : f32 to vector<64x128xf32>
    cta.role "all" teams(%w in 1) warps(4) {
      %q = cta.load each %A[%c0, %c0] : !m -> !q
      %k = cta.load once %A[%c0, %c0] : !m -> !k
      // Both from shared memory, B [N, K]: nothing to add to, so the first step overwrites (p is false). The steps of A pass into
      // the second 64-column segment, 64 x 128 bytes further, those of B 32 x 128 bytes.
      // CHECK: llvm.inline_asm has_side_effects {{.*}}wgmma.fence.sync.aligned
      // CHECK-SAME: add.s32 ta, $17, 0;\0Amov.b64 da, {ta, 1073741888};\0Aadd.s32 tb, $16, 0;\0Amov.b64 db, {tb, 1073741888}
      // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {$0,$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15}, da, db, p, 1, 1, 0, 0;
      // CHECK-SAME: add.s32 ta, $17, 2;
      // CHECK-SAME: da, db, q, 1, 1, 0, 0;
      // CHECK-SAME: add.s32 ta, $17, 512;\0Amov.b64 da, {ta, 1073741888};\0Aadd.s32 tb, $16, 256;
      // CHECK-SAME: wgmma.commit_group.sync.aligned
      // CHECK-SAME: "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,r,r,~{memory}"
      %sf = cta.mma %q, transpose %k : !q, !k -> !cta.flight<64x32xf32>
      // CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.wait_group.sync.aligned 0;"
      // CHECK-SAME: "=f,{{.*}},0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,~{memory}"
      %s = cta.wait %sf : !cta.flight<64x32xf32>
      %p = arith.truncf %s : vector<64x32xf32> to vector<64x32xf16>
      // A from registers, four a step, B [K, N] (transposed), added to what is there: 64 segments' distance in the high part of the
      // low half (32 x 128 / 16 << 16), 16 rows a step.
      // CHECK: arith.truncf
      // CHECK: llvm.inline_asm has_side_effects {{.*}}add.s32 tb, $64, 0;
      // CHECK-SAME: m64n128k16.f32.f16.f16 {{.*}}, {$65,$66,$67,$68}, db, q, 1, 1, 1;
      // CHECK-SAME: add.s32 tb, $64, 128;
      // CHECK-SAME: {$69,$70,$71,$72}, db, q, 1, 1, 1;
      %of = cta.mma %p, %k into %first : vector<64x32xf16>, !k -> !cta.flight<64x128xf32>
      // The wait holds the 8 registers of A.
      // CHECK: "wgmma.wait_group.sync.aligned 0;", "=f,{{.*}}=f,r,r,r,r,r,r,r,r,0,1,
      %o = cta.wait %of : !cta.flight<64x128xf32>
      cta.store %o, %O[%c0, %c0] : vector<64x128xf32>, memref<?x128xf32>
    }
    gpu.return
  }
}
