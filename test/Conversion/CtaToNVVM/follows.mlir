// Kernels that a plan launches one behind another: the next one may begin while this one runs, and waits for it before it does
// anything. GPUs before sm_90 have no such launches: what says that a kernel waits goes.
// RUN: fa-opt %s --lower-to-nvvm="tiles-only chip=sm_90" | FileCheck %s
// RUN: fa-opt %s --lower-to-nvvm="tiles-only chip=sm_80" | FileCheck %s --check-prefix=AMPERE
// RUN: fa-opt %s --lower-to-nvvm=chip=sm_90 --emit-cubin="format=ptx chip=sm_90" | FileCheck %s --check-prefix=PTX

// AMPERE-NOT: griddepcontrol
// AMPERE-NOT: cta.follows
// PTX: follows
// PTX: .entry first
// PTX: griddepcontrol.launch_dependents
// PTX: st.global
// PTX: .entry second
// PTX: griddepcontrol.launch_dependents
// PTX: griddepcontrol.wait
// PTX: st.global
// PTX: .entry third
// PTX-NOT: griddepcontrol.launch_dependents
// PTX: griddepcontrol.wait
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @first
  // CHECK: nvvm.griddepcontrol launch_dependents
  // CHECK-NOT: nvvm.griddepcontrol
  gpu.func @first(%O: memref<?xf32>) kernel attributes {cta.followed} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    cta.role "all" teams(%w in 1) warps(1) {
      memref.store %one, %O[%c0] : memref<?xf32>
    }
    gpu.return
  }
  // CHECK-LABEL: gpu.func @second
  // CHECK: nvvm.griddepcontrol launch_dependents
  // CHECK: nvvm.griddepcontrol wait
  gpu.func @second(%O: memref<?xf32>) kernel attributes {cta.followed, cta.follows} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    cta.role "all" teams(%w in 1) warps(1) {
      memref.store %one, %O[%c0] : memref<?xf32>
    }
    gpu.return
  }
  // CHECK-LABEL: gpu.func @third
  // CHECK-NOT: launch_dependents
  // CHECK: nvvm.griddepcontrol wait
  gpu.func @third(%O: memref<?xf32>) kernel attributes {cta.follows} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    cta.role "all" teams(%w in 1) warps(1) {
      memref.store %one, %O[%c0] : memref<?xf32>
    }
    gpu.return
  }
}
