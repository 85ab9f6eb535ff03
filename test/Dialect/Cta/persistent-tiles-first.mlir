// What has one stage and is loaded once an item (Q) waits for the item before until its last block; the loop's first tile (K) is
// loaded before it, if there is a first block. The rest of that round (V) follows Q, and the loop begins a round later.
// RUN: fa-opt %s --persistent=shared-bytes=60000 | FileCheck %s
// RUN: fa-opt %s --persistent="shared-bytes=60000 tiles-first=false" | FileCheck %s --check-prefix=OFF
// RUN: fa-opt %s --persistent=shared-bytes=1000000 | FileCheck %s --check-prefix=ROOM

// OFF: cta.work
// OFF-NOT: scf.if
// OFF: gpu.return

// Where there is room for the next item's Q nothing has to wait.
// ROOM: cta.ring : !cta.ring<2, !cta.tile<128x64xbf16>>
// ROOM: cta.work
// ROOM-NOT: scf.if
// ROOM: gpu.return

!q = !cta.tile<128x64xbf16>
!t = !cta.tile<64x64xbf16>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @first_keys
  // CHECK: %[[Q:.*]] = cta.ring : !cta.ring<1, !cta.tile<128x64xbf16>>
  // CHECK: %[[K:.*]] = cta.ring : !cta.ring<2,
  // CHECK: %[[V:.*]] = cta.ring : !cta.ring<2,
  // CHECK: cta.work (%[[ITEM:.*]]) in
  // CHECK: %[[END:.*]] = arith.muli %[[ITEM]], %{{.*}}
  // CHECK: %[[SOME:.*]] = arith.cmpi slt, %c0, %[[END]]
  // CHECK: scf.if %[[SOME]] {
  // CHECK-NEXT: %[[KEYS:.*]] = cta.acquire %[[K]]
  // CHECK-NEXT: cta.copy %{{.*}}[%c0, %c0] to %[[KEYS]]
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[QUERIES:.*]] = cta.acquire %[[Q]]
  // CHECK-NEXT: cta.copy %{{.*}} to %[[QUERIES]]
  // CHECK-NEXT: scf.if %[[SOME]] {
  // CHECK-NEXT: %[[VALUES:.*]] = cta.acquire %[[V]]
  // CHECK-NEXT: cta.copy %{{.*}}[%c0, %c0] to %[[VALUES]]
  // CHECK-NEXT: }
  // CHECK: scf.for %{{.*}} = %c64{{.*}} to %[[END]] step %c64
  // CHECK-NEXT: cta.acquire %[[K]]
  gpu.func @first_keys(%n: index, %q: memref<?x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %qs = cta.ring : !cta.ring<1, !q>
    %ks = cta.ring : !cta.ring<2, !t>
    %vs = cta.ring : !cta.ring<2, !t>
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %e0 = cta.acquire %qs : !cta.ring<1, !q>
        cta.copy %q[%b, %c0] to %e0 : memref<?x64xbf16>, !q
        %end = arith.muli %b, %c64 : index
        scf.for %j = %c0 to %end step %c64 {
          %e1 = cta.acquire %ks : !cta.ring<2, !t>
          cta.copy %k[%j, %c0] to %e1 : memref<?x64xbf16>, !t
          %e2 = cta.acquire %vs : !cta.ring<2, !t>
          cta.copy %v[%j, %c0] to %e2 : memref<?x64xbf16>, !t
        }
      }
    }
    cta.role "compute" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %t0 = cta.consume %qs : !cta.ring<1, !q>
        %end = arith.muli %b, %c64 : index
        scf.for %j = %c0 to %end step %c64 {
          %t1 = cta.consume %ks : !cta.ring<2, !t>
          cta.release %t1 : !t
          %t2 = cta.consume %vs : !cta.ring<2, !t>
          cta.release %t2 : !t
        }
        cta.release %t0 : !q
      }
    }
    gpu.return
  }

  // Both stages are taken before the first copy: each is taken once.
  // CHECK-LABEL: gpu.func @acquires_first
  // CHECK: scf.if
  // CHECK-NEXT: cta.acquire
  // CHECK-NEXT: cta.copy
  // CHECK-NEXT: }
  // CHECK-NEXT: cta.acquire
  // CHECK-NEXT: cta.copy
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: cta.acquire
  // CHECK-NEXT: cta.copy
  // CHECK-NEXT: }
  gpu.func @acquires_first(%n: index, %q: memref<?x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %qs = cta.ring : !cta.ring<1, !q>
    %ks = cta.ring : !cta.ring<2, !t>
    %vs = cta.ring : !cta.ring<2, !t>
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %e0 = cta.acquire %qs : !cta.ring<1, !q>
        cta.copy %q[%b, %c0] to %e0 : memref<?x64xbf16>, !q
        scf.for %j = %c0 to %b step %c64 {
          %e1 = cta.acquire %ks : !cta.ring<2, !t>
          %e2 = cta.acquire %vs : !cta.ring<2, !t>
          cta.copy %k[%j, %c0] to %e1 : memref<?x64xbf16>, !t
          cta.copy %v[%j, %c0] to %e2 : memref<?x64xbf16>, !t
        }
      }
    }
    gpu.return
  }

  // A loop that looks up where the tiles are is not the one that loads them.
  // CHECK-LABEL: gpu.func @searched
  // CHECK: %[[AT:.*]] = scf.for
  // CHECK: scf.if
  // CHECK-NEXT: cta.acquire
  // CHECK-NEXT: cta.copy %{{.*}}[%[[AT]], %c0]
  // CHECK-NEXT: }
  // CHECK-NEXT: cta.acquire
  // CHECK-NEXT: cta.copy
  // CHECK-NEXT: scf.if
  gpu.func @searched(%n: index, %table: memref<?xindex>, %q: memref<?x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %qs = cta.ring : !cta.ring<1, !q>
    %ks = cta.ring : !cta.ring<2, !t>
    %vs = cta.ring : !cta.ring<2, !t>
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %at = scf.for %i = %c0 to %n step %c1 iter_args(%low = %c0) -> (index) {
          %entry = memref.load %table[%i] : memref<?xindex>
          %next = arith.minsi %entry, %low : index
          scf.yield %next : index
        }
        %e0 = cta.acquire %qs : !cta.ring<1, !q>
        cta.copy %q[%b, %c0] to %e0 : memref<?x64xbf16>, !q
        scf.for %j = %at to %n step %c64 {
          %e1 = cta.acquire %ks : !cta.ring<2, !t>
          cta.copy %k[%j, %c0] to %e1 : memref<?x64xbf16>, !t
          %e2 = cta.acquire %vs : !cta.ring<2, !t>
          cta.copy %v[%j, %c0] to %e2 : memref<?x64xbf16>, !t
        }
      }
    }
    gpu.return
  }
}
