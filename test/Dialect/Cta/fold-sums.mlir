// A row sum that loops only add to is carried as sums of columns, through loops that follow one another; one that a block
// rescales, or reads, is left.

// RUN: fa-opt %s --fold-sums | FileCheck %s
// RUN: fa-opt %s --fold-sums --remarks-filter=fold-sums -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir --fa3=level=cta "--remarks-filter=defer-redo|fold-sums" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSED
// MISSED: remark: [Missed] redo | Category:defer-redo | Function=attention | Reason="nothing is done again (rescale=first-max does)"
// MISSED: remark: [Missed] sums | Category:fold-sums | Function=attention | Reason="each loop rescales its sums, or has none"
// REMARK: remark: [Passed] sums | Category:fold-sums | Function=chain | sums=2

// Its lowering: a thread adds its own 16 elements of each of the 4 places; the quad meets behind the loops.
// RUN: fa-opt %s --fold-sums --lower-to-nvvm=tiles-only | FileCheck %s --check-prefix=THREAD

!p = vector<16x64xf32>
!l = vector<16xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @chain
  // CHECK: %[[FULL:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (vector<16x8xf32>) {
  // CHECK:   %[[S:.*]] = cta.fold %{{.*}} onto %[[A]] : vector<16x64xf32>, vector<16x8xf32>
  // CHECK:   scf.yield %[[S]] : vector<16x8xf32>
  // CHECK-NOT: vector.multi_reduction
  // CHECK: %[[ALL:.*]] = scf.for {{.*}} iter_args(%[[B:.*]] = %[[FULL]]) -> (vector<16x8xf32>) {
  // CHECK:   cta.fold %{{.*}} onto %[[B]]
  // CHECK: %[[L:.*]] = vector.multi_reduction <add>, %[[ALL]], %{{.*}} [1] : vector<16x8xf32> to vector<16xf32>
  // CHECK: cta.store %[[L]]

  // THREAD-LABEL: gpu.func @chain
  // THREAD: scf.for
  // THREAD-COUNT-32: arith.addf
  // THREAD-NOT: nvvm.shfl
  // THREAD: scf.for
  // THREAD-COUNT-32: arith.addf
  // THREAD-NOT: nvvm.shfl
  // THREAD: }
  // THREAD-COUNT-4: nvvm.shfl.sync bfly
  // THREAD-NOT: nvvm.shfl
  // THREAD: gpu.return
  gpu.func @chain(%L: memref<?xf32>, %n: index, %m: index, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !l
    cta.role "all" teams(%w in 1) warps(1) {
      %p = vector.broadcast %x : f32 to !p
      %full = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (!l) {
        %s = vector.multi_reduction <add>, %p, %l [1] : !p to !l
        scf.yield %s : !l
      }
      %all = scf.for %j = %n to %m step %c1 iter_args(%l = %full) -> (!l) {
        %s = vector.multi_reduction <add>, %p, %l [1] : !p to !l
        scf.yield %s : !l
      }
      cta.store %all, %L[%c0] : !l, memref<?xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @rescaled
  // CHECK-NOT: cta.fold
  gpu.func @rescaled(%L: memref<?xf32>, %n: index, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !l
    %half = arith.constant dense<0.5> : !l
    cta.role "all" teams(%w in 1) warps(1) {
      %p = vector.broadcast %x : f32 to !p
      %r = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (!l) {
        %a = arith.mulf %l, %half : !l
        %s = vector.multi_reduction <add>, %p, %a [1] : !p to !l
        scf.yield %s : !l
      }
      // Nor maxima.
      %m = scf.for %j = %c0 to %n step %c1 iter_args(%l = %r) -> (!l) {
        %s = vector.multi_reduction <maxnumf>, %p, %l [1] : !p to !l
        scf.yield %s : !l
      }
      // Nor what begins with another sum.
      %o = scf.for %j = %c0 to %n step %c1 iter_args(%l = %m) -> (!l) {
        %s = vector.multi_reduction <add>, %p, %l [1] : !p to !l
        scf.yield %s : !l
      }
      cta.store %o, %L[%c0] : !l, memref<?xf32>
    }
    gpu.return
  }
}
