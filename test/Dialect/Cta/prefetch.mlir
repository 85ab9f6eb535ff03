// RUN: fa-opt %s --stage-tiles --prefetch -split-input-file | FileCheck %s
// RUN: fa-opt %s --stage-tiles=stages=3 --prefetch -split-input-file | FileCheck %s --check-prefix=THREE
// RUN: fa-opt %s --stage-tiles=stages=1 --prefetch -split-input-file | FileCheck %s --check-prefix=ONE

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>

// One loop: the first block is copied before it, each further one where a block is consumed, and the one past the end
// (rows past the memref's end) is drained.
// CHECK-LABEL: gpu.func @one_loop
// CHECK-SAME: %[[N:[a-z0-9_]+]]: index)
// CHECK: %[[IN:[a-z0-9_]+]] = arith.cmpi slt, %c0, %[[N]]
// CHECK: %[[FIRST:[a-z0-9_]+]] = arith.select %[[IN]], %c0, %
// CHECK: %[[E:[a-z0-9_]+]] = cta.acquire
// CHECK: cta.copy %{{.*}}[%[[FIRST]], %{{.*}}] to %[[E]]
// CHECK: scf.for %[[J:[a-z0-9_]+]] =
// CHECK-NEXT: cta.consume
// CHECK: %[[NEXT:[a-z0-9_]+]] = arith.addi %[[J]], %c64
// CHECK: %[[MORE:[a-z0-9_]+]] = arith.cmpi slt, %[[NEXT]], %[[N]]
// CHECK: %[[ROW:[a-z0-9_]+]] = arith.select %[[MORE]], %[[NEXT]], %
// CHECK: cta.acquire
// CHECK-NEXT: cta.copy %{{.*}}[%[[ROW]], %{{.*}}]
// CHECK-NOT: cta.copy
// CHECK: cta.mma
// CHECK: }
// CHECK: %[[D:[a-z0-9_]+]] = cta.consume
// CHECK: cta.release %[[D]]

// Three stages: two blocks before the loop, two drained.
// THREE-LABEL: gpu.func @one_loop
// THREE-COUNT-2: cta.copy
// THREE: scf.for
// THREE-COUNT-1: cta.copy
// THREE-NOT: cta.copy
// THREE-COUNT-3: cta.release
gpu.module @a {
  gpu.func @one_loop(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant dense<0.0> : vector<64x64xf32>
    cta.role "all" teams(%w in 1) warps(4) {
      %a = cta.load each %K[%c0, %c0] : !m -> !t
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %z) -> (vector<64x64xf32>) {
        %k = cta.load once %K[%j, %c0] : !m -> !t
        %f = cta.mma %a, %k into %acc : !t, !t -> !cta.flight<64x64xf32>
        %s = cta.wait %f : !cta.flight<64x64xf32>
        scf.yield %s : vector<64x64xf32>
      }
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>

// Two loops, one after the other, over two tensors: one prologue and one drain for the chain; in the first loop, the
// block after its last one is the second loop's first. K's stage is free again when V is consumed, V's when the next K
// is: K runs two blocks ahead, V one.
// CHECK-LABEL: gpu.func @chain
// CHECK-SAME: %[[K:[a-z0-9_]+]]: memref<?x64xbf16>, %[[V:[a-z0-9_]+]]: memref<?x64xbf16>
// CHECK-SAME: %[[MID:[a-z0-9_]+]]: index, %[[N:[a-z0-9_]+]]: index)
// CHECK: %[[END:[a-z0-9_]+]] = arith.maxsi %[[MID]], %[[N]]
// CHECK: cta.copy %[[K]]
// CHECK: cta.copy %[[V]]
// CHECK: cta.copy %[[K]]
// CHECK: scf.for %[[J:[a-z0-9_]+]] =
// CHECK: %[[NEXT:[a-z0-9_]+]] = arith.addi %[[J]], %c64
// CHECK: %[[CAP:[a-z0-9_]+]] = arith.minsi %[[NEXT]], %[[MID]]
// CHECK: cta.copy %[[V]]
// CHECK: cta.release
// CHECK-NEXT: cta.consume
// CHECK: cta.copy %[[K]]
// CHECK: scf.for
// CHECK-NOT: arith.minsi
// CHECK-COUNT-5: cta.release
// CHECK-NOT: cta.release

// One stage: the next block of K as soon as this one's is free, V where K is consumed.
// ONE-LABEL: gpu.func @chain
// ONE-SAME: %[[K:[a-z0-9_]+]]: memref<?x64xbf16>, %[[V:[a-z0-9_]+]]: memref<?x64xbf16>
// ONE: cta.copy %[[K]]
// ONE-NOT: cta.copy
// ONE: scf.for %[[J:[a-z0-9_]+]] =
// ONE-NEXT: %[[TK:[a-z0-9_]+]] = cta.consume
// ONE-NEXT: %[[EV:[a-z0-9_]+]] = cta.acquire
// ONE-NEXT: cta.copy %[[V]][%[[J]], %{{.*}}] to %[[EV]]
// ONE: cta.release %[[TK]]
// ONE: %[[EK:[a-z0-9_]+]] = cta.acquire
// ONE-NEXT: cta.copy %[[K]][%{{.*}}, %{{.*}}] to %[[EK]]
// ONE-NEXT: cta.consume
// ONE: scf.for
// ONE-COUNT-3: cta.release
// ONE-NOT: cta.release
gpu.module @b {
  gpu.func @chain(%K: !m, %V: !m, %O: !m, %mid: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    cta.role "all" teams(%w in 1) warps(4) {
      scf.for %j = %c0 to %mid step %c64 {
        %k = cta.load once %K[%j, %c0] : !m -> !t
        %f = cta.read %k : !t -> vector<64x64xbf16>
        %v = cta.load once %V[%j, %c0] : !m -> !t
        %g = cta.read %v : !t -> vector<64x64xbf16>
        %s = arith.addf %f, %g : vector<64x64xbf16>
        cta.store %s, %O[%j, %c0] : vector<64x64xbf16>, !m
      }
      scf.for %j = %mid to %n step %c64 {
        %k = cta.load once %K[%j, %c0] : !m -> !t
        %f = cta.read %k : !t -> vector<64x64xbf16>
        %v = cta.load once %V[%j, %c0] : !m -> !t
        %g = cta.read %v : !t -> vector<64x64xbf16>
        %s = arith.subf %f, %g : vector<64x64xbf16>
        cta.store %s, %O[%j, %c0] : vector<64x64xbf16>, !m
      }
    }
    gpu.return
  }
}

// -----

!kt = !cta.tile<64x128xbf16, swizzle = 128>
!m = memref<?x128xbf16>

// Fragments of 192 registers a thread leave no room for the copy's addresses: it waits for the next meeting. The bounds
// are seen to be whole steps, so that the next block needs no minimum; and the load that only the loop needs is moved
// below the first copy.
// CHECK-LABEL: gpu.func @crowded
// ONE-LABEL: gpu.func @crowded
// ONE: cta.copy
// ONE: cta.load each
// ONE: scf.for
// ONE: cta.release
// ONE-NOT: cta.copy
// ONE: cta.consume
// ONE-NOT: arith.minsi
// ONE: cta.copy
// ONE: cta.release
gpu.module @c {
  gpu.func @crowded(%Q: !m, %K: !m, %V: !m, %O: memref<?x128xf32>, %blocks: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant dense<0.0> : vector<32x128xf32>
    %n = arith.muli %blocks, %c64 : index
    cta.role "all" teams(%w in 4) warps(1) {
      %q = cta.load each %Q[%c0, %c0] : !m -> !cta.tile<32x128xbf16, swizzle = 128>
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %z) -> (vector<32x128xf32>) {
        %k = cta.load once %K[%j, %c0] : !m -> !kt
        %f = cta.mma %q, transpose %k : !cta.tile<32x128xbf16, swizzle = 128>, !kt -> !cta.flight<32x64xf32>
        %s = cta.wait %f : !cta.flight<32x64xf32>
        %p = arith.truncf %s : vector<32x64xf32> to vector<32x64xbf16>
        %v = cta.load once %V[%j, %c0] : !m -> !kt
        %g = cta.mma %p, %v into %acc : vector<32x64xbf16>, !kt -> !cta.flight<32x128xf32>
        %o = cta.wait %g : !cta.flight<32x128xf32>
        scf.yield %o : vector<32x128xf32>
      }
      cta.store %r, %O[%c0, %c0] : vector<32x128xf32>, memref<?x128xf32>
    }
    gpu.return
  }
}
