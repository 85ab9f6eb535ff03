// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s

// Rows of 80 columns are a 128-byte segment and two chunks of a second one, for which only the threads of these chunks copy. The
// tile takes the room of 128 columns.
// CHECK-LABEL: gpu.func @columns_80
// CHECK-SAME: cta.shared_bytes = 4096
// CHECK: scf.if
// CHECK-COUNT-4: nvvm.cp.async.shared.global
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %{{.*}}, %c2_i32
// CHECK: scf.if %[[SOME]]
// CHECK-COUNT-4: nvvm.cp.async.shared.global
gpu.module @a {
  gpu.func @columns_80(%A: memref<?x80xbf16>, %C: memref<?x80xbf16>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      %a = cta.load each %A[%c0, %c0] : memref<?x80xbf16> -> !cta.tile<16x80xbf16, swizzle = 128>
      %f = cta.read %a : !cta.tile<16x80xbf16, swizzle = 128> -> vector<16x80xbf16>
      cta.store %f, %C[%c0, %c0] : vector<16x80xbf16>, memref<?x80xbf16>
    }
    gpu.return
  }
}
