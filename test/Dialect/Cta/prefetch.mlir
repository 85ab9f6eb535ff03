// RUN: fa-opt %s --stage-tiles --prefetch -split-input-file | FileCheck %s
// RUN: fa-opt %s --stage-tiles=stages=3 --prefetch -split-input-file | FileCheck %s --check-prefix=THREE

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
// block after its last one is the second loop's first.
// CHECK-LABEL: gpu.func @chain
// CHECK-SAME: %[[MID:[a-z0-9_]+]]: index, %[[N:[a-z0-9_]+]]: index)
// CHECK: %[[END:[a-z0-9_]+]] = arith.maxsi %[[MID]], %[[N]]
// CHECK-COUNT-2: cta.copy
// CHECK: scf.for %[[J:[a-z0-9_]+]] =
// CHECK: %[[NEXT:[a-z0-9_]+]] = arith.addi %[[J]], %c64
// CHECK: %[[CAP:[a-z0-9_]+]] = arith.minsi %[[NEXT]], %[[MID]]
// CHECK-COUNT-2: cta.copy
// CHECK: scf.for
// CHECK-NOT: arith.minsi
// CHECK-COUNT-4: cta.release
// CHECK-NOT: cta.release
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
