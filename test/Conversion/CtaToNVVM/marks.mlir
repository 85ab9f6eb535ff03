// Items that are done again, on sm_90: marks in shared memory behind the mbarriers, which all warps that mark complete one of.

// RUN: fa-opt %s --lower-to-nvvm="chip=sm_90a tiles-only" | FileCheck %s
// RUN: fa-opt %s --lower-to-nvvm="chip=sm_90a tiles-only" | FileCheck %s --check-prefix=QUESTION
// RUN: not fa-opt %S/Inputs/marks-sm80.mlir --lower-to-nvvm=tiles-only 2>&1 | FileCheck %s --check-prefix=SM80
// SM80: error: 'cta.mark' op has no sm_80 form: one role's teams ask each other there (cta.any)

!row = vector<64xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @persistent
  // Four warps arrive; 128 words are cleared.
  // CHECK: nvvm.mbarrier.init %{{.*}}, %c4_i32
  // CHECK: %[[CLEARS:.*]] = arith.cmpi ult, %{{.*}}, %c128_i32
  // CHECK: scf.if %[[CLEARS]] {
  // CHECK:   llvm.store %c0_i32
  // CHECK: nvvm.barrier
  // CHECK: %[[FIRST:.*]] = nvvm.read.ptx.sreg.ctaid.x
  // CHECK: scf.for %[[ITEM:.*]] = %[[FIRST]] to %{{.*}} step %[[BLOCKS:[^ ]*]]
  // CHECK:   %[[DISTANCE:.*]] = arith.subi %[[ITEM]], %[[FIRST]]
  // CHECK:   %[[NUMBER:.*]] = arith.divui %[[DISTANCE]], %[[BLOCKS]]
  // CHECK:   %[[ANY:.*]] = nvvm.vote.sync any
  // CHECK:   scf.if %[[ANY]] {
  // CHECK:     scf.if
  // CHECK:       arith.remui %[[NUMBER]], %c508_i32
  // CHECK:       llvm.store %c1_i8
  // CHECK:       llvm.store %c1_i32
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
  // CHECK: nvvm.mbarrier.arrive
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: %[[MARKS:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK: arith.cmpi ne, %[[MARKS]], %c0_i32
  // CHECK: %[[SOME:.*]] = nvvm.vote.sync any
  // CHECK: scf.if %[[SOME]] {
  // CHECK: scf.for
  // CHECK:   %[[MARK:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i8
  // CHECK:   arith.cmpi ne, %[[MARK]], %c0_i8
  // CHECK:   %[[AGAIN:.*]] = nvvm.vote.sync any
  // CHECK:   scf.if %[[AGAIN]] {
  gpu.func @persistent(%O: memref<?xf32>, %n: index, %x: f32) kernel {
    %c64 = arith.constant 64 : index
    %one = arith.constant dense<1.0> : !row
    cta.role "all" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural, persistent = static>) {
        %i = arith.muli %b, %c64 : index
        %row = vector.broadcast %x : f32 to !row
        %bad = arith.cmpf ogt, %row, %one : !row
        cta.mark %bad : vector<64xi1>
        cta.store %row, %O[%i] : !row, memref<?xf32>
      }
      cta.work marked (%b) in (%n) order(#cta.order<natural, persistent = static>) {
        %i = arith.muli %b, %c64 : index
        cta.store %one, %O[%i] : !row, memref<?xf32>
      }
    }
    gpu.return
  }

  // A block of one item needs no loop.
  // CHECK-LABEL: gpu.func @one_item
  // CHECK-NOT: scf.for
  // CHECK: nvvm.mbarrier.arrive
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK: %[[SOME:.*]] = nvvm.vote.sync any
  // CHECK: scf.if %[[SOME]] {
  // CHECK-NOT: scf.for
  gpu.func @one_item(%O: memref<?xf32>, %n: index, %x: f32) kernel {
    %c64 = arith.constant 64 : index
    %one = arith.constant dense<1.0> : !row
    cta.role "all" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %i = arith.muli %b, %c64 : index
        %row = vector.broadcast %x : f32 to !row
        %bad = arith.cmpf ogt, %row, %one : !row
        cta.mark %bad : vector<64xi1>
        cta.store %row, %O[%i] : !row, memref<?xf32>
      }
      cta.work marked (%b) in (%n) order(#cta.order<natural>) {
        %i = arith.muli %b, %c64 : index
        cta.store %one, %O[%i] : !row, memref<?xf32>
      }
    }
    gpu.return
  }

  // A question to all is the block's barrier with a disjunction.
  // QUESTION-LABEL: gpu.func @any
  // QUESTION: %[[FLAG:.*]] = arith.extui %{{.*}} : i1 to i32
  // QUESTION: %[[OR:.*]] = nvvm.barrier #nvvm.reduction<or> %[[FLAG]] -> i32
  // QUESTION: %[[IS:.*]] = arith.cmpi ne, %[[OR]], %c0_i32
  // QUESTION: scf.if %[[IS]] {
  gpu.func @any(%O: memref<?xf32>, %n: index, %x: f32) kernel {
    %c64 = arith.constant 64 : index
    %one = arith.constant dense<1.0> : !row
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %row = vector.broadcast %x : f32 to !row
        %bad = arith.cmpf ogt, %row, %one : !row
        %any = cta.any %bad : vector<64xi1>
        %i = arith.muli %w, %c64 : index
        scf.if %any {
          cta.store %one, %O[%i] : !row, memref<?xf32>
        }
      }
    }
    gpu.return
  }
}
