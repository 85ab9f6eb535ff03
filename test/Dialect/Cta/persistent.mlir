// Work inside of roles may be many items a block; work that starts the roles is left.
// RUN: fa-opt %s --persistent=scheduler=static --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,STATIC
// RUN: fa-opt %s --persistent 2>/dev/null | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: fa-opt %s --persistent="scheduler=dynamic group-bytes=4096" 2>/dev/null | FileCheck %s --check-prefixes=CHECK,DYNAMIC

// RUN: fa-opt %s --persistent=mirror-bytes=641 2>/dev/null | FileCheck %s --check-prefixes=CHECK,SMALLER

// RUN: not fa-opt %s --persistent=scheduler=never 2>&1 | FileCheck %s --check-prefix=SCHEDULER
// RUN: not fa-opt %s --persistent=group-bytes=-1 2>&1 | FileCheck %s --check-prefix=BYTES
// SCHEDULER: expects a scheduler of auto, static or dynamic, but found 'never'
// BYTES: error: expects group-bytes of at least 0, but found -1

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @roles
  // STATIC: cta.role "load"
  // STATIC: cta.work {{.*}} order(#cta.order<balanced, persistent = static>)
  // STATIC: cta.role "compute"
  // STATIC: cta.work {{.*}} order(#cta.order<balanced, persistent = static>)
  // DYNAMIC-COUNT-2: order(#cta.order<lpt, group_bytes = 1024, persistent = dynamic>)
  gpu.func @roles(%n: index) kernel {
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<lpt, group_bytes = 1024>) {
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<lpt, group_bytes = 1024>) {
      }
    }
    gpu.return
  }

  // Items of unequal length come in equal shares, or in groups where they are
  // handed out.
  // CHECK-LABEL: gpu.func @groups
  // STATIC: order(#cta.order<balanced, persistent = static>)
  // STATIC: order(#cta.order<natural, persistent = static>)
  // DYNAMIC: order(#cta.order<lpt, group_bytes = 4096, persistent = dynamic>)
  gpu.func @groups(%n: index) kernel {
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<lpt>) {
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
      }
    }
    gpu.return
  }

  // Where an item's sequence is searched in a table by its number, items do not grow with it: both roles run pairs of
  // neighbours, or what goes to whichever block is free. A table that is read at the number, as the lengths of caches are,
  // changes nothing.
  // CHECK-LABEL: gpu.func @searched(
  // STATIC-COUNT-2: order(#cta.order<paired, persistent = static>)
  // AUTO-COUNT-2: order(#cta.order<lpt, group_bytes = 33554432, persistent = dynamic>)
  gpu.func @searched(%n: index, %table: memref<?xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b, %h) in (%n, %n) order(#cta.order<lpt>) {
        %at = scf.for %i = %c0 to %n step %c1 iter_args(%low = %c0) -> (index) {
          %entry = memref.load %table[%i] : memref<?xindex>
          %isLow = arith.cmpi sle, %entry, %b : index
          %next = arith.select %isLow, %i, %low : index
          scf.yield %next : index
        }
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) {
      cta.work (%b, %h) in (%n, %n) order(#cta.order<lpt>) {
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @read(
  // STATIC: order(#cta.order<balanced, persistent = static>)
  // AUTO: order(#cta.order<balanced, persistent = static>)
  gpu.func @read(%n: index, %table: memref<?xindex>) kernel {
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b, %h) in (%n, %n) order(#cta.order<lpt>) {
        %length = memref.load %table[%b] : memref<?xindex>
      }
    }
    gpu.return
  }

  // Where lists say which blocks an item copies, its length is not known either: mirrored pairs, in both roles.
  // CHECK-LABEL: gpu.func @lists(
  // STATIC-COUNT-2: order(#cta.order<mirrored, persistent = static>)
  // AUTO-COUNT-2: order(#cta.order<lpt, group_bytes = 33554432, persistent = dynamic>)
  gpu.func @lists(%n: index, %table: memref<?xindex>, %k: memref<?x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ring = cta.ring : !cta.ring<2, !cta.tile<64x64xbf16>>
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b, %h) in (%n, %n) order(#cta.order<lpt>) {
        scf.for %j = %c0 to %n step %c1 {
          %row = memref.load %table[%j] : memref<?xindex>
          %e = cta.acquire %ring : !cta.ring<2, !cta.tile<64x64xbf16>>
          cta.copy %k[%row, %c0] to %e : memref<?x64xbf16>, !cta.tile<64x64xbf16>
        }
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) {
      cta.work (%b, %h) in (%n, %n) order(#cta.order<lpt>) {
      }
    }
    gpu.return
  }

  // So where heads are large: 192 and 128 columns of K and V are 640 bytes a row.
  // CHECK-LABEL: gpu.func @large_heads(
  // STATIC-COUNT-2: order(#cta.order<mirrored, persistent = static>)
  // SMALLER-COUNT-2: order(#cta.order<balanced, persistent = static>)
  gpu.func @large_heads(%n: index, %k: memref<?x192xbf16>, %v: memref<?x128xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %keys = cta.ring : !cta.ring<2, !cta.tile<64x192xbf16>>
    %values = cta.ring : !cta.ring<2, !cta.tile<64x128xbf16>>
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b, %h) in (%n, %n) order(#cta.order<lpt>) {
        scf.for %j = %c0 to %n step %c1 {
          %e = cta.acquire %keys : !cta.ring<2, !cta.tile<64x192xbf16>>
          cta.copy %k[%j, %c0] to %e : memref<?x192xbf16>, !cta.tile<64x192xbf16>
          %f = cta.acquire %values : !cta.ring<2, !cta.tile<64x128xbf16>>
          cta.copy %v[%j, %c0] to %f : memref<?x128xbf16>, !cta.tile<64x128xbf16>
        }
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) {
      cta.work (%b, %h) in (%n, %n) order(#cta.order<lpt>) {
      }
    }
    gpu.return
  }

  // Tiles that each team copies for its own rows, as of a bias, are not of a head's keys and values.
  // CHECK-LABEL: gpu.func @own_rows(
  // STATIC-COUNT-2: order(#cta.order<balanced, persistent = static>)
  gpu.func @own_rows(%n: index, %k: memref<?x128xbf16>, %bias: memref<?x256xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %keys = cta.ring : !cta.ring<2, !cta.tile<64x128xbf16>>
    %own = cta.ring each(1) : !cta.ring<1, !cta.tile<64x256xf32>>
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b, %h) in (%n, %n) order(#cta.order<lpt>) {
        scf.for %j = %c0 to %n step %c1 {
          %e = cta.acquire %keys : !cta.ring<2, !cta.tile<64x128xbf16>>
          cta.copy %k[%j, %c0] to %e : memref<?x128xbf16>, !cta.tile<64x128xbf16>
          %f = cta.acquire %own[%c0] : !cta.ring<1, !cta.tile<64x256xf32>>
          cta.copy %bias[%j, %c0] to %f : memref<?x256xf32>, !cta.tile<64x256xf32>
        }
      }
    }
    cta.role "compute" teams(%w in 1) warps(4) {
      cta.work (%b, %h) in (%n, %n) order(#cta.order<lpt>) {
      }
    }
    gpu.return
  }

  // What is filled once an item gets a stage for the next item's, as far as shared memory goes: not a ring that is
  // filled in a loop, and not the second of two where only one fits beside the tiles by which the result goes out.
  // CHECK-LABEL: gpu.func @next_item
  // CHECK: %[[ONCE:.*]] = cta.ring each(2) : !cta.ring<2, !cta.tile<64x128xbf16>>
  // CHECK: cta.ring : !cta.ring<1, !cta.tile<64x64xbf16>>
  // CHECK: cta.ring : !cta.ring<1, !cta.tile<448x128xbf16>>
  // CHECK: cta.acquire %[[ONCE]][%{{.*}}] : !cta.ring<2, !cta.tile<64x128xbf16>>
  // CHECK: cta.consume %[[ONCE]] : !cta.ring<2, !cta.tile<64x128xbf16>>
  gpu.func @next_item(%n: index, %q: memref<?x128xbf16>, %k: memref<?x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<64x128xbf16>
    %once = cta.ring each(2) : !cta.ring<1, !cta.tile<64x128xbf16>>
    %loop = cta.ring : !cta.ring<1, !cta.tile<64x64xbf16>>
    %large = cta.ring : !cta.ring<1, !cta.tile<448x128xbf16>>
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %e0 = cta.acquire %once[%c0] : !cta.ring<1, !cta.tile<64x128xbf16>>
        cta.copy %q[%b, %c0] to %e0 : memref<?x128xbf16>, !cta.tile<64x128xbf16>
        %e1 = cta.acquire %once[%c1] : !cta.ring<1, !cta.tile<64x128xbf16>>
        cta.copy %q[%b, %c0] to %e1 : memref<?x128xbf16>, !cta.tile<64x128xbf16>
        %e2 = cta.acquire %large : !cta.ring<1, !cta.tile<448x128xbf16>>
        cta.copy %q[%b, %c0] to %e2 : memref<?x128xbf16>, !cta.tile<448x128xbf16>
        scf.for %j = %c0 to %n step %c1 {
          %e3 = cta.acquire %loop : !cta.ring<1, !cta.tile<64x64xbf16>>
          cta.copy %k[%j, %c0] to %e3 : memref<?x64xbf16>, !cta.tile<64x64xbf16>
        }
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %t = cta.consume %once : !cta.ring<1, !cta.tile<64x128xbf16>>
        cta.release %t : !cta.tile<64x128xbf16>
        %l = cta.consume %large : !cta.ring<1, !cta.tile<448x128xbf16>>
        cta.release %l : !cta.tile<448x128xbf16>
        scf.for %j = %c0 to %n step %c1 {
          %s = cta.consume %loop : !cta.ring<1, !cta.tile<64x64xbf16>>
          cta.release %s : !cta.tile<64x64xbf16>
        }
        cta.store %zero, %q[%b, %c0] : vector<64x128xbf16>, memref<?x128xbf16>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_role
  // CHECK: order(#cta.order<natural>)
  gpu.func @one_role(%n: index) kernel {
    // expected-warning @below {{persistent leaves 'one_role': its work starts the roles (run --specialize-warps first)}}
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
      }
    }
    gpu.return
  }

  // expected-warning @below {{persistent finds no cta.work in 'no_work'}}
  gpu.func @no_work(%n: index) kernel {
    gpu.return
  }
}
