// Items that go to whichever block is free, on sm_90: a thread beside the one that loads takes their numbers from a
// counter, a parameter behind the tensors, and tells the roles their coordinates.

// DEFINE: %{dynamic} = sed "s/balanced, persistent = static/lpt, persistent = dynamic/" %S/Inputs/specialised.mlir
// RUN: %{dynamic} | fa-opt - --lower-to-nvvm="chip=sm_90a tiles-only" | FileCheck %s
// RUN: sed "s/natural, persistent = static/natural, persistent = dynamic/" %S/marks.mlir | not fa-opt - --lower-to-nvvm="chip=sm_90a tiles-only" 2>&1 | FileCheck %s --check-prefix=LOADER
// RUN: fa-opt %S/../../../kernels-gen/specs/document.mlir --fa3="rescale=auto level=cta" | fa-opt - --pass-pipeline="builtin.module(gpu.module(lower-to-nvvm{chip=sm_90a tiles-only}))" | FileCheck %s --check-prefix=AGAIN

// CHECK-LABEL: gpu.func @persistent
// CHECK-SAME: %[[COUNTER:arg5]]: !llvm.ptr<1>, %arg6: !llvm.ptr
// CHECK-SAME: cta.counter
// Eight warps that compute and the thread that loads read what is told.
// CHECK: nvvm.mbarrier.init %{{.*}}, %c9_i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %c9_i32
// CHECK: nvvm.setmaxregister decrease 24

// 1. The thread that tells. It asks when an item is wanted, but for what is the block's own.
// CHECK: scf.if
// CHECK: %[[BLOCKS:.*]] = nvvm.read.ptx.sreg.nctaid.x
// CHECK: %[[ROUNDS:.*]] = arith.divui %[[ITEMS:.*]], %[[BLOCKS]] : i32
// CHECK: %[[OWN:.*]] = arith.maxsi %{{.*}}, %c1_i32 : i32
// CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: scf.while (%[[N:.*]] = %c0_i32) : (i32) -> i32 {
// CHECK:   nvvm.mbarrier.try_wait.parity
// CHECK:   nvvm.mbarrier.try_wait.parity
// CHECK:   %[[ISOWN:.*]] = arith.cmpi ult, %[[N]], %[[OWN]] : i32
// CHECK:   scf.if %[[ISOWN]] -> (i32) {
// CHECK:     %[[ROUND:.*]] = arith.muli %[[N]], %[[BLOCKS]] : i32
// CHECK:     arith.addi %[[ROUND]], %[[BLOCK]] : i32
// CHECK:   } else {
// CHECK:     %[[ANSWER:.*]] = llvm.atomicrmw add %[[COUNTER]], %c1_i32 syncscope("device") monotonic
// CHECK:     llvm.store
// CHECK:   arith.select %{{.*}}, %{{.*}}, %c-1_i32 : i32
// CHECK-COUNT-3: llvm.store
// CHECK:   nvvm.mbarrier.arrive
// CHECK:   scf.condition
// The last block to end leaves the counter as it found it.
// CHECK: %[[ENDED:.*]] = llvm.getelementptr %[[COUNTER]][1]
// CHECK: %[[BEFORE:.*]] = llvm.atomicrmw add %[[ENDED]], %c1_i32 syncscope("device") acq_rel
// CHECK: %[[COUNT:.*]] = arith.addi %[[BEFORE]], %c1_i32 : i32
// CHECK: arith.cmpi eq, %[[COUNT]], %[[BLOCKS]] : i32
// CHECK: llvm.store %c0_i32, %[[COUNTER]]

// 2. The thread that loads says that it wants the next item. The loop carries its rings.
// CHECK: scf.while (%{{.*}} = %c0_i32, %{{.*}} = %c1_i32,
// CHECK:   nvvm.mbarrier.arrive
// CHECK:   nvvm.mbarrier.try_wait.parity
// CHECK-COUNT-3: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK:   nvvm.mbarrier.arrive
// CHECK:   arith.cmpi sge, %{{.*}}, %c0_i32 : i32
// CHECK: nvvm.setmaxregister increase 240

// 3. Teams that compute: one lane of a warp reads, and says that it has.
// CHECK: scf.while
// CHECK:   nvvm.mbarrier.try_wait.parity
// CHECK:   scf.if %{{.*}} -> (i32, i32, i32) {
// CHECK-COUNT-3: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK:     nvvm.mbarrier.arrive
// CHECK:     scf.yield
// CHECK:   } else {
// CHECK:     scf.yield %c-1_i32, %c-1_i32, %c-1_i32
// CHECK-COUNT-3: nvvm.redux.sync max
// CHECK:   scf.condition

// LOADER: 'cta.work' op has no sm_90 form with the order #cta.order<natural, persistent = dynamic> where not one role does nothing but load (--specialize-warps)

// What is marked is told once more, from what the thread remembers.
// AGAIN-LABEL: gpu.func @attention_2
// AGAIN-COUNT-1: llvm.atomicrmw add %{{.*}} monotonic
// AGAIN: llvm.atomicrmw add %{{.*}} acq_rel
// AGAIN: scf.while
// AGAIN-NOT: llvm.atomicrmw
// AGAIN: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// AGAIN: nvvm.mbarrier.arrive
