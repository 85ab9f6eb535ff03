// Fragments read from global memory by the path of what was stored, and fragments of teams combined through shared memory.
// RUN: fa-opt %s --lower-to-nvvm=tiles-only | FileCheck %s
// RUN: fa-opt %s --lower-to-nvvm --emit-cubin=format=ptx | FileCheck %s --check-prefix=PTX

// PTX-LABEL: .entry state
// PTX: bar.warp.sync
// PTX: ld.global.b32
// PTX: ld.global.v2.b32
// PTX-LABEL: .entry teams
// PTX: st.shared.b32
// PTX: bar.sync
// PTX-COUNT-4: ld.shared.b32
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @state
  gpu.func @state(%A: memref<?x64xf32>, %M: memref<?xf32>, %B: memref<?x64xf32>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      // CHECK: %[[NINF:.*]] = arith.constant 0xFF800000 : f32
      // CHECK: nvvm.bar.warp.sync
      // CHECK: scf.if %{{.*}} -> (f32) {
      // CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
      // CHECK: } else {
      // CHECK: scf.yield %[[NINF]] : f32
      %m = cta.fetch %M[%i] pad(0xFF800000) : memref<?xf32> -> vector<16xf32>
      // CHECK: scf.if %{{.*}} -> (vector<2xf32>, vector<2xf32>,
      %a = cta.fetch %A[%i, %c0] : memref<?x64xf32> -> vector<16x64xf32>
      %c = vector.shape_cast %m : vector<16xf32> to vector<16x1xf32>
      %x = vector.broadcast %c : vector<16x1xf32> to vector<16x64xf32>
      %s = arith.addf %a, %x : vector<16x64xf32>
      cta.store %s, %B[%i, %c0] : vector<16x64xf32>, memref<?x64xf32>
    }
    gpu.return
  }

  // Two combinations in the loop need a barrier each: whoever comes again to the first has passed the second.
  // CHECK-LABEL: gpu.func @teams
  // CHECK-SAME: cta.shared_bytes = 2048
  gpu.func @teams(%M: memref<?xf32>, %i: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant dense<0.0> : vector<16xf32>
    cta.role "all" teams(%w in 4) warps(1) {
      // CHECK: scf.for
      %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (vector<16xf32>) {
        // CHECK-NOT: barrier
        // CHECK: llvm.store
        // CHECK: nvvm.barrier
        // CHECK-COUNT-8: llvm.load
        // CHECK: maxnumf
        %x = cta.combine <maxnumf> %a : vector<16xf32>
        // CHECK: llvm.store
        // CHECK: nvvm.barrier
        // CHECK-NOT: barrier
        // CHECK: scf.yield
        %y = cta.combine <add> %x : vector<16xf32>
        scf.yield %y : vector<16xf32>
      }
      cta.store %r, %M[%i] : vector<16xf32>, memref<?xf32>
    }
    gpu.return
  }
}
