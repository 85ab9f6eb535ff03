// Products that are started without a wait between them are one turn; the last team gives the first turn, and team 0 takes the
// one that is left.

// RUN: fa-opt %s --split-input-file --ping-pong --verify-diagnostics | FileCheck %s

!t = !cta.tile<64x64xbf16, swizzle = 128>
!ring = !cta.ring<2, !t>
!f = vector<64x64xf32>
!h = vector<64x64xbf16>
!flight = !cta.flight<64x64xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @turns
  // CHECK: %[[TURN:.*]] = cta.barrier : !cta.barrier<3>
  // CHECK: cta.role "compute" teams(%[[W:.*]] in 3)
  // CHECK: %[[ONE:.*]] = arith.constant 1
  // CHECK: %[[COUNT:.*]] = arith.constant 3
  // CHECK: %[[AFTER:.*]] = arith.addi %[[W]], %[[ONE]]
  // CHECK: %[[NEXT:.*]] = arith.remui %[[AFTER]], %[[COUNT]]
  // CHECK: %[[LAST:.*]] = arith.constant 2
  // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[W]], %[[LAST]]
  // CHECK: scf.if %[[IS]] {
  // CHECK:   cta.arrive %[[TURN]][%c0
  // CHECK: cta.work
  // CHECK:   scf.for
  // CHECK:     cta.sync %[[TURN]][%[[W]]]
  // CHECK-NEXT: cta.mma
  // CHECK-NEXT: cta.mma
  // CHECK-NEXT: cta.arrive %[[TURN]][%[[NEXT]]]
  // CHECK-NEXT: cta.wait
  // CHECK-NEXT: cta.wait
  // CHECK-NEXT: cta.sync %[[TURN]][%[[W]]]
  // CHECK-NEXT: cta.mma
  // CHECK-NEXT: cta.arrive %[[TURN]][%[[NEXT]]]
  // CHECK:   cta.mma
  // CHECK-NOT: cta.arrive
  // CHECK: %[[IS0:.*]] = arith.cmpi eq, %[[W]], %c0
  // CHECK: scf.if %[[IS0]] {
  // CHECK:   cta.sync %[[TURN]][%c0
  gpu.func @turns(%n: index, %z: !f) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    cta.role "load" teams(%w in 1) warps(4) {
    }
    cta.role "compute" teams(%w in 3) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %k = cta.consume %kr : !ring
        %r = scf.for %j = %c0 to %b step %c64 iter_args(%a = %z) -> (!f) {
          %f0 = cta.mma %k, %k : !t, !t -> !flight
          %f1 = cta.mma %k, %k into %a : !t, !t -> !flight
          %s0 = cta.wait %f0 pending 1 : !flight
          %s1 = cta.wait %f1 : !flight
          %f2 = cta.mma %k, %k into %s0 : !t, !t -> !flight
          %s2 = cta.wait %f2 : !flight
          %s = arith.addf %s1, %s2 : !f
          scf.yield %s : !f
        }
        %f = cta.mma %k, %k into %r : !t, !t -> !flight
        %s = cta.wait %f : !flight
        cta.release %k : !t
      }
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!ring = !cta.ring<2, !t>
!f = vector<64x64xf32>
!flight = !cta.flight<64x64xf32>

gpu.module @kernels {
  // expected-warning @below {{ping-pong finds no loop with products of two teams or more in 'one_team'}}
  gpu.func @one_team(%n: index, %z: !f) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    cta.role "compute" teams(%w in 1) warps(4) {
      scf.for %j = %c0 to %n step %c64 {
        %k = cta.consume %kr : !ring
        %f = cta.mma %k, %k : !t, !t -> !flight
        %s = cta.wait %f : !flight
        cta.release %k : !t
      }
    }
    gpu.return
  }

  gpu.func @ranges(%n: index, %z: !f) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    // expected-warning @below {{ping-pong leaves role "compute": how often it runs differs from team to team}}
    cta.role "compute" teams(%w in 2) warps(4) {
      %hi = arith.addi %n, %w : index
      scf.for %j = %c0 to %hi step %c64 {
        %k = cta.consume %kr : !ring
        %f = cta.mma %k, %k : !t, !t -> !flight
        %s = cta.wait %f : !flight
        cta.release %k : !t
      }
    }
    gpu.return
  }

  gpu.func @carried(%n: index, %z: !f) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    // expected-warning @below {{ping-pong leaves role "compute": how often it runs differs from team to team}}
    cta.role "compute" teams(%w in 2) warps(4) {
      %hi = scf.for %i = %c0 to %n step %c64 iter_args(%x = %n) -> (index) {
        %y = arith.addi %x, %w : index
        scf.yield %y : index
      }
      scf.for %j = %c0 to %hi step %c64 {
        %k = cta.consume %kr : !ring
        %f = cta.mma %k, %k : !t, !t -> !flight
        %s = cta.wait %f : !flight
        cta.release %k : !t
      }
    }
    gpu.return
  }

  gpu.func @carried_items(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    // expected-warning @below {{ping-pong leaves role "compute": how often it runs differs from team to team}}
    cta.role "compute" teams(%w in 2) warps(4) {
      %end = cta.work (%b) in (%n) order(#cta.order<natural, persistent = static>) iter_args(%before = %c0) -> (index) {
        scf.for %j = %c0 to %before step %c64 {
          %k = cta.consume %kr : !ring
          %f = cta.mma %k, %k : !t, !t -> !flight
          %s = cta.wait %f : !flight
          cta.release %k : !t
        }
        %next = arith.addi %b, %w : index
        cta.yield %next : index
      }
    }
    gpu.return
  }

  gpu.func @branches(%n: index, %p: vector<64xi1>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    // expected-warning @below {{ping-pong leaves role "compute": it stands in a branch that each team takes for itself}}
    cta.role "compute" teams(%w in 2) warps(4) {
      cta.if_any %p : vector<64xi1> {
        scf.for %j = %c0 to %n step %c64 {
          %k = cta.consume %kr : !ring
          %f = cta.mma %k, %k : !t, !t -> !flight
          %s = cta.wait %f : !flight
          cta.release %k : !t
        }
      }
    }
    gpu.return
  }

  gpu.func @again(%n: index, %p: vector<64xi1>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    %turn = cta.barrier : !cta.barrier<2>
    // expected-warning @below {{ping-pong leaves role "compute": its teams wait for one another already}}
    cta.role "compute" teams(%w in 2) warps(4) {
      scf.for %j = %c0 to %n step %c64 {
        %k = cta.consume %kr : !ring
        cta.sync %turn[%w] : !cta.barrier<2>
        %f = cta.mma %k, %k : !t, !t -> !flight
        %s = cta.wait %f : !flight
        cta.release %k : !t
      }
    }
    gpu.return
  }
}
