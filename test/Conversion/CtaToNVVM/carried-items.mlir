// What a team carries from item to item is what the loop over its items carries, indices in 32 bits; what is done behind the work comes
// before the team says that it marks no more.

// RUN: fa-opt %s --lower-to-nvvm="chip=sm_90a tiles-only" | FileCheck %s

!row = vector<64xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @carried
  // CHECK: %[[FIRST:.*]] = nvvm.read.ptx.sreg.ctaid.x
  // CHECK: %[[END:.*]]:3 = scf.for %[[ITEM:.*]] = %[[FIRST]] to %{{.*}} step %{{.*}} iter_args(%[[V:.*]] = %{{.*}}, %[[AT:.*]] = %c0_i32, %[[IS:.*]] = %false) -> (vector<1x2xf32>, i32, i1)
  // CHECK:   scf.if %[[IS]] {
  // CHECK:     llvm.store
  // CHECK:   nvvm.vote.sync any
  // CHECK:   scf.yield %{{.*}}, %[[ITEM]], %true : vector<1x2xf32>, i32, i1
  // CHECK: }
  // CHECK: scf.if %[[END]]#2 {
  // CHECK:   llvm.store
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
  // CHECK: nvvm.mbarrier.arrive
  // CHECK: nvvm.mbarrier.try_wait.parity
  gpu.func @carried(%O: memref<?xf32>, %n: index, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %false = arith.constant false
    %true = arith.constant true
    %one = arith.constant dense<1.0> : !row
    cta.role "all" teams(%w in 1) warps(4) {
      %end:3 = cta.work (%b) in (%n) order(#cta.order<natural, persistent = static>)
          iter_args(%before = %one, %at = %c0, %is = %false) -> (!row, index, i1) {
        scf.if %is {
          %i = arith.muli %at, %c64 : index
          cta.store %before, %O[%i] : !row, memref<?xf32>
        }
        %row = vector.broadcast %x : f32 to !row
        %bad = arith.cmpf ogt, %row, %before : !row
        cta.mark %bad : vector<64xi1>
        %next = arith.addf %before, %row : !row
        cta.yield %next, %b, %true : !row, index, i1
      }
      scf.if %end#2 {
        %i = arith.muli %end#1, %c64 : index
        cta.store %end#0, %O[%i] : !row, memref<?xf32>
      }
      cta.work marked (%b) in (%n) order(#cta.order<natural, persistent = static>) {
        %i = arith.muli %b, %c64 : index
        cta.store %one, %O[%i] : !row, memref<?xf32>
      }
    }
    gpu.return
  }
}
