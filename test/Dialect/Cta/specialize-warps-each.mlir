// A tile that each team loads in a loop, as a bias is: loops that follow one another share one ring for each team, of the kernel's
// stages, beside the ring of what is loaded once.

// RUN: fa-opt %s --specialize-warps | FileCheck %s

!m = memref<?x64xf32>
!t = !cta.tile<64x64xf32, swizzle = 128>
!s = vector<64x64xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @each(
  // CHECK-SAME: %[[A:[^:]*]]: memref
  // CHECK-DAG: %[[ONCE:.*]] = cta.ring each(2) : !cta.ring<1, !cta.tile<64x64xf32, swizzle = 128>>
  // CHECK-DAG: %[[MANY:.*]] = cta.ring each(2) : !cta.ring<3, !cta.tile<64x64xf32, swizzle = 128>>
  // CHECK-NOT: = cta.ring
  // CHECK: cta.role "load"
  // CHECK: cta.acquire %[[ONCE]][%c0]
  // CHECK: cta.acquire %[[ONCE]][%c1]
  // CHECK: scf.for
  // CHECK: %[[T0:.*]] = cta.acquire %[[MANY]][%c0]
  // CHECK-NEXT: cta.copy %[[A]][{{.*}}] to %[[T0]]
  // CHECK-NEXT: %[[T1:.*]] = cta.acquire %[[MANY]][%c1]
  // CHECK-NEXT: cta.copy %[[A]][{{.*}}] to %[[T1]]
  // CHECK: scf.for
  // CHECK: %[[T0:.*]] = cta.acquire %[[MANY]][%c0]
  // CHECK-NEXT: cta.copy %[[A]][{{.*}}] to %[[T0]]
  // CHECK-NEXT: %[[T1:.*]] = cta.acquire %[[MANY]][%c1]
  // CHECK-NEXT: cta.copy %[[A]][{{.*}}] to %[[T1]]
  // CHECK: cta.role "compute"
  // CHECK: cta.consume %[[ONCE]]
  // CHECK: scf.for
  // CHECK: %[[FIRST:.*]] = cta.consume %[[MANY]]
  // CHECK-NEXT: cta.read %[[FIRST]]
  // CHECK-NEXT: cta.release %[[FIRST]]
  // CHECK: scf.for
  // CHECK: %[[SECOND:.*]] = cta.consume %[[MANY]]
  // CHECK-NEXT: cta.read %[[SECOND]]
  // CHECK-NEXT: cta.release %[[SECOND]]
  gpu.func @each(%A: !m, %O: !m) kernel attributes {cta.stages = 3 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %n = memref.dim %A, %c0 : !m
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %i = arith.muli %w, %c64 : index
        %q = cta.load each %A[%i, %c0] : !m -> !t
        %s0 = cta.read %q : !t -> !s
        %s1 = scf.for %j = %c0 to %b step %c1 iter_args(%s = %s0) -> (!s) {
          %row = arith.addi %i, %j : index
          %k = cta.load each %A[%row, %c0] : !m -> !t
          %f = cta.read %k : !t -> !s
          %next = arith.addf %s, %f : !s
          scf.yield %next : !s
        }
        %s2 = scf.for %j = %b to %n step %c1 iter_args(%s = %s1) -> (!s) {
          %row = arith.addi %i, %j : index
          %k = cta.load each %A[%row, %c0] : !m -> !t
          %f = cta.read %k : !t -> !s
          %next = arith.mulf %s, %f : !s
          scf.yield %next : !s
        }
        cta.store %s2, %O[%i, %c0] : !s, !m
      }
    }
    gpu.return
  }

  // A load may say how many stages its ring has.
  // CHECK-LABEL: gpu.func @own_stages(
  // CHECK: cta.ring each(2) : !cta.ring<1, !cta.tile<64x64xf32, swizzle = 128>>
  // CHECK-NOT: = cta.ring
  // CHECK: gpu.return
  gpu.func @own_stages(%A: !m, %O: !m) kernel attributes {cta.stages = 3 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %n = memref.dim %A, %c0 : !m
    %zero = arith.constant dense<0.0> : !s
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %i = arith.muli %w, %c64 : index
        %s1 = scf.for %j = %c0 to %b step %c1 iter_args(%s = %zero) -> (!s) {
          %row = arith.addi %i, %j : index
          %k = cta.load each %A[%row, %c0] {cta.stages = 1 : i64} : !m -> !t
          %f = cta.read %k : !t -> !s
          %next = arith.addf %s, %f : !s
          scf.yield %next : !s
        }
        cta.store %s1, %O[%i, %c0] : !s, !m
      }
    }
    gpu.return
  }
}
