// What a team does again for a flag of any team becomes a second work, for the items that the first one marks.

// RUN: fa-opt %s --defer-redo | FileCheck %s
// RUN: fa-opt %s --defer-redo --stage-tiles --specialize-warps | FileCheck %s --check-prefix=ROLES
// RUN: fa-opt %s --defer-redo --remarks-filter=defer-redo -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: [Passed] redo | Category:defer-redo | Function=again | Reason="marked items are done again after the others"

!m = memref<?x64xbf16>
!o = memref<?x16xf32>
!t = !cta.tile<16x64xbf16, swizzle = 128>
!qt = !cta.tile<64x64xbf16, swizzle = 128>
!s = vector<64x16xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @again
  // CHECK: cta.role "all" teams(%{{.*}} in 2) warps(4) {
  // CHECK:   cta.work (%{{.*}}) in (%[[N:.*]]) order(#cta.order<lpt>) {
  // CHECK:     cta.load each
  // CHECK:     %[[FAST:.*]] = scf.for
  // CHECK:       math.exp2
  // CHECK:     cta.mark %{{.*}} : vector<64x16xi1>
  // CHECK-NOT: scf.for
  // CHECK:     cta.store %[[FAST]]
  // CHECK:   }
  // CHECK:   cta.work marked (%{{.*}}) in (%[[N]]) order(#cta.order<lpt>) {
  // CHECK:     cta.load each
  // CHECK-NOT: math.exp2
  // CHECK:     %[[EXACT:.*]] = scf.for
  // CHECK:       math.sqrt
  // CHECK-NOT: cta.any
  // CHECK:     cta.store %[[EXACT]]

  // One ring of Q for both works, and both works in both roles.
  // ROLES: cta.ring each(2) : !cta.ring<1
  // ROLES-NEXT: cta.ring : !cta.ring<2
  // ROLES-NOT: cta.ring
  // ROLES: cta.role "load"
  // ROLES: cta.work (
  // ROLES: scf.for
  // ROLES: cta.copy
  // ROLES: cta.work marked (
  // ROLES: scf.for
  // ROLES: cta.copy
  // ROLES-NOT: cta.mark
  // ROLES: cta.role "compute"
  // ROLES: cta.work (
  // ROLES: math.exp2
  // ROLES: cta.mark
  // ROLES: cta.work marked (
  // ROLES: math.sqrt
  gpu.func @again(%Q: !m, %K: !m, %O: !o, %n: index) kernel attributes {cta.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !s
    %one = arith.constant dense<1.0> : !s
    cta.work (%b) in (%n) order(#cta.order<lpt>) {
      %i = arith.muli %b, %c64 : index
      cta.role "all" teams(%w in 2) warps(4) {
        %q = cta.load each %Q[%i, %c0] : !m -> !qt
        %fast = scf.for %j = %c0 to %n step %c16 iter_args(%a = %zero) -> (!s) {
          %k = cta.load once %K[%j, %c0] : !m -> !t
          %f = cta.mma %q, transpose %k : !qt, !t -> !cta.flight<64x16xf32>
          %s = cta.wait %f : !cta.flight<64x16xf32>
          %p = math.exp2 %s : !s
          %x = arith.addf %a, %p : !s
          scf.yield %x : !s
        }
        %bad = arith.cmpf ogt, %fast, %one : !s
        %any = cta.any %bad : vector<64x16xi1>
        %r = scf.if %any -> (!s) {
          %exact = scf.for %j = %c0 to %n step %c16 iter_args(%a = %zero) -> (!s) {
            %k = cta.load once %K[%j, %c0] : !m -> !t
            %f = cta.mma %q, transpose %k : !qt, !t -> !cta.flight<64x16xf32>
            %s = cta.wait %f : !cta.flight<64x16xf32>
            %p = math.sqrt %s : !s
            %x = arith.addf %a, %p : !s
            scf.yield %x : !s
          }
          scf.yield %exact : !s
        } else {
          scf.yield %fast : !s
        }
        cta.store %r, %O[%i, %c0] : !s, !o
      }
    }
    gpu.return
  }

  // Nothing is done again.
  // CHECK-LABEL: gpu.func @once
  // CHECK: cta.work
  // CHECK: cta.role
  // CHECK-NOT: cta.work
  gpu.func @once(%O: !o, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !s
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        cta.store %zero, %O[%b, %c0] : !s, !o
      }
    }
    gpu.return
  }
}
