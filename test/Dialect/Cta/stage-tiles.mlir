// RUN: fa-opt %s --stage-tiles -split-input-file -verify-diagnostics | FileCheck %s
// RUN: fa-opt %s --stage-tiles=stages=3 -split-input-file 2>/dev/null | FileCheck %s --check-prefix=THREE

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>

// Two loops over one tensor share its ring; a copy goes out where the load stood, its tile is consumed where it is
// used first and released after the wait.
// CHECK-LABEL: gpu.func @two_loops
// CHECK: %[[RING:[a-z0-9_]+]] = cta.ring : !cta.ring<2, !cta.tile<64x64xbf16, swizzle = 128>>
// CHECK-NOT: cta.ring
// CHECK: scf.for %[[J:[a-z0-9_]+]] =
// CHECK: %[[E:[a-z0-9_]+]] = cta.acquire %[[RING]]
// CHECK-NEXT: cta.copy %{{.*}}[%[[J]], %{{.*}}] to %[[E]]
// CHECK-NEXT: arith.addf
// CHECK-NEXT: %[[K:[a-z0-9_]+]] = cta.consume %[[RING]]
// CHECK-NEXT: cta.mma %{{.*}}, %[[K]] into
// CHECK-NEXT: cta.wait
// CHECK-NEXT: cta.release %[[K]]
// CHECK: scf.for
// CHECK: cta.acquire %[[RING]]
// CHECK-LABEL: gpu.func @reads
// THREE: cta.ring : !cta.ring<3,
gpu.module @a {
  gpu.func @two_loops(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant dense<0.0> : vector<64x64xf32>
    cta.role "all" teams(%w in 1) warps(4) {
      %a = cta.load each %K[%c0, %c0] : !m -> !t
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %z) -> (vector<64x64xf32>) {
        %k = cta.load once %K[%j, %c0] : !m -> !t
        %x = arith.addf %acc, %acc : vector<64x64xf32>
        %f = cta.mma %a, %k into %x : !t, !t -> !cta.flight<64x64xf32>
        %s = cta.wait %f : !cta.flight<64x64xf32>
        scf.yield %s : vector<64x64xf32>
      }
      %q = scf.for %j = %n to %c64 step %c64 iter_args(%acc = %r) -> (vector<64x64xf32>) {
        %k = cta.load once %K[%j, %c0] : !m -> !t
        %f = cta.mma %a, %k into %acc : !t, !t -> !cta.flight<64x64xf32>
        %s = cta.wait %f : !cta.flight<64x64xf32>
        scf.yield %s : vector<64x64xf32>
      }
    }
    gpu.return
  }

  // CHECK: %[[A:[a-z0-9_]+]] = cta.ring
  // CHECK: %[[B:[a-z0-9_]+]] = cta.ring
  // CHECK: %[[T:[a-z0-9_]+]] = cta.consume %[[A]]
  // CHECK-NEXT: cta.read %[[T]]
  // CHECK-NEXT: cta.release %[[T]]
  // CHECK: cta.consume %[[B]]
  gpu.func @reads(%K: !m, %V: !m, %O: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    cta.role "all" teams(%w in 1) warps(4) {
      scf.for %j = %c0 to %n step %c64 {
        %k = cta.load once %K[%j, %c0] : !m -> !t
        %f = cta.read %k : !t -> vector<64x64xbf16>
        %v = cta.load once %V[%j, %c0] : !m -> !t
        %g = cta.read %v : !t -> vector<64x64xbf16>
        %s = arith.addf %f, %g : vector<64x64xbf16>
        cta.store %s, %O[%j, %c0] : vector<64x64xbf16>, !m
      }
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!m = memref<?x64xbf16>

gpu.module @b {
  // expected-warning @below {{stage-tiles finds no shared load in a loop of 'nothing'}}
  gpu.func @nothing(%K: !m) kernel {
    gpu.return
  }

  gpu.func @unused(%K: !m, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    cta.role "all" teams(%w in 1) warps(4) {
      scf.for %j = %c0 to %n step %c64 {
        // expected-warning @below {{stage-tiles leaves this load: the tile is not used}}
        %k = cta.load once %K[%j, %c0] : !m -> !t
      }
      scf.for %j = %c0 to %n step %c64 {
        // expected-warning @below {{stage-tiles leaves this load: a product that reads the tile is not waited for}}
        %k = cta.load once %K[%j, %c0] : !m -> !t
        %f = cta.mma %k, %k : !t, !t -> !cta.flight<64x64xf32>
      }
    }
    gpu.return
  }
}
