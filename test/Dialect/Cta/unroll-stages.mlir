// Loops that take a stage of each ring in a block are unrolled until all rings are where they were; of those over the same
// rings, the shortest.
// RUN: fa-opt %s --unroll-stages --verify-diagnostics | FileCheck %s

!t = !cta.tile<64x64xbf16, swizzle = 128>
!two = !cta.ring<2, !t>
!three = !cta.ring<3, !t>
!one = !cta.ring<1, !t>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @shortest
  // CHECK-SAME: %[[LO:[^:]*]]: index, %[[MID:[^:]*]]: index
  // An empty loop may end before it begins.
  // CHECK: %[[END:.*]] = arith.maxsi %[[LO]], %[[MID]]
  // CHECK: arith.subi %[[END]], %[[LO]]
  // CHECK: scf.for
  // CHECK-COUNT-2: cta.consume
  // CHECK-NOT: cta.consume
  // CHECK: scf.for
  // CHECK-COUNT-1: cta.consume
  // CHECK-NOT: cta.consume
  // The longer loop stays.
  // CHECK: scf.for
  // CHECK-NEXT: cta.consume
  // CHECK-NEXT: cta.sync
  // CHECK-NEXT: cta.release
  // CHECK-NEXT: }
  // CHECK-NOT: scf.for
  gpu.func @shortest(%lo: index, %mid: index, %hi: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %r = cta.ring : !two
    %b = cta.barrier : !cta.barrier<2>
    cta.role "compute" teams(%w in 2) warps(4) {
      scf.for %j = %lo to %mid step %c64 {
        %k = cta.consume %r : !two
        cta.release %k : !t
      }
      scf.for %j = %mid to %hi step %c64 {
        %k = cta.consume %r : !two
        cta.sync %b[%w] : !cta.barrier<2>
        cta.release %k : !t
      }
    }
    gpu.return
  }

  // Rings of two and of three stages are where they were after six blocks; values are carried through.
  // CHECK-LABEL: gpu.func @six
  // CHECK: scf.for {{.*}} step %c384 iter_args
  // CHECK-COUNT-6: arith.addi %{{.*}}, %{{.*}} : i32
  // CHECK: scf.yield
  // CHECK: scf.for {{.*}} step %c64 iter_args
  // CHECK: arith.addi %{{.*}}, %{{.*}} : i32
  // CHECK: scf.yield
  gpu.func @six(%x: i32) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %r = cta.ring : !two
    %s = cta.ring : !three
    cta.role "load" teams(%w in 1) warps(4) {
      %sum = scf.for %j = %c0 to %c1024 step %c64 iter_args(%a = %x) -> (i32) {
        %k = cta.acquire %r : !two
        %v = cta.acquire %s : !three
        %n = arith.addi %a, %x : i32
        scf.yield %n : i32
      }
    }
    gpu.return
  }

  // expected-warning @below {{unroll-stages finds no loop that takes a stage of rings of two or more a block in 'nothing'}}
  gpu.func @nothing(%n: index, %c: i1) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %r = cta.ring : !two
    %s = cta.ring : !one
    cta.role "load" teams(%w in 1) warps(4) {
      scf.for %j = %c0 to %n step %c64 {
        %k = cta.acquire %s : !one
      }
      scf.for %j = %c0 to %n step %c64 {
        %k = cta.acquire %r : !two
        %l = cta.acquire %r : !two
      }
      scf.for %j = %c0 to %n step %c64 {
        scf.if %c {
          %k = cta.acquire %r : !two
        }
      }
    }
    gpu.return
  }
}
