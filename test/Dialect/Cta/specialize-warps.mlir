// A role that loads and computes becomes two. The loading role keeps copies, and the loops, branches and scalars they need,
// and nothing of the arithmetic; tiles of each team are loaded for one team after the other.

// RUN: fa-opt %s --specialize-warps | FileCheck %s
// RUN: fa-opt %s --specialize-warps="load-regs=40 compute-regs=152" | FileCheck %s --check-prefix=REGS
// RUN: fa-opt %s --specialize-warps --remarks-filter=specialize-warps -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: [Passed] roles | Category:specialize-warps | Function=attention | computeRegs=240, loadRegs=24, teams=2
// REGS: cta.role "load" {{.*}} regs(40)
// REGS: cta.role "compute" {{.*}} regs(152)

!m = memref<?x?x64xbf16>
!qt = !cta.tile<64x64xbf16, swizzle = 128>
!kt = !cta.tile<128x64xbf16, swizzle = 128>
!ring = !cta.ring<2, !kt>
!s = vector<64x128xf32>
!o = vector<64x64xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @attention
  // CHECK-SAME: %[[Q:[^:]*]]: memref<{{[^,]*}}, %[[K:[^:]*]]: memref
  // CHECK: %[[QR:.*]] = cta.ring each(2) : !cta.ring<1, !cta.tile<64x64xbf16, swizzle = 128>>
  // CHECK: %[[KR:.*]] = cta.ring : !cta.ring<2
  // CHECK: cta.role "load" teams(%{{.*}} in 1) warps(4) regs(24) {
  // CHECK:   cta.work (%[[QI:.*]], %[[H:.*]]) in (%{{.*}}, %{{.*}}) order(#cta.order<lpt>) {
  // CHECK:     %[[I0:.*]] = arith.muli %[[QI]], %c128
  // CHECK:     %[[I1:.*]] = arith.addi %[[I0]], %c64
  // CHECK:     %[[E0:.*]] = cta.acquire %[[QR]][%c0]
  // CHECK:     cta.copy %[[Q]][%[[H]], %[[I0]], %c0] to %[[E0]]
  // CHECK:     %[[E1:.*]] = cta.acquire %[[QR]][%c1]
  // CHECK:     cta.copy %[[Q]][%[[H]], %[[I1]], %c0] to %[[E1]]
  // CHECK:     scf.if
  // CHECK:       scf.for %[[J:.*]] = %c0 to
  // CHECK-NEXT:    %[[E:.*]] = cta.acquire %[[KR]]
  // CHECK-NEXT:    cta.copy %[[K]][%[[H]], %[[J]], %c0] to %[[E]]
  // CHECK-NEXT:  }
  // CHECK-NOT: vector
  // CHECK: cta.role "compute" teams(%[[W:.*]] in 2) warps(4) regs(240) {
  // CHECK:   cta.work {{.*}} order(#cta.order<lpt>) {
  // CHECK-NOT: cta.acquire
  // CHECK-NOT: cta.copy
  // CHECK:     %[[QC:.*]] = cta.consume %[[QR]]
  // CHECK:     scf.if
  // CHECK:       scf.for
  // CHECK-NEXT:    %[[KC:.*]] = cta.consume %[[KR]]
  // CHECK-NEXT:    cta.mma %[[QC]], transpose %[[KC]]
  // CHECK:         cta.release %[[KC]]
  // CHECK:     cta.release %[[QC]]
  // CHECK:     cta.store
  gpu.func @attention(%Q: !m, %K: !m, %O: memref<?x?x128xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %n = memref.dim %Q, %c1 : !m
    %h = memref.dim %Q, %c0 : !m
    %skv = memref.dim %K, %c1 : !m
    %nq = arith.ceildivui %n, %c128 : index
    %z = arith.constant dense<0.0> : !s
    %ring = cta.ring : !ring
    cta.work (%qi, %hi) in (%nq, %h) order(#cta.order<lpt>) {
      %q0 = arith.muli %qi, %c128 : index
      cta.role "all" teams(%w in 2) warps(4) {
        %wr = arith.muli %w, %c64 : index
        %i0 = arith.addi %q0, %wr : index
        %q = cta.load each %Q[%hi, %i0, %c0] : !m -> !qt
        %any = arith.cmpi slt, %c0, %skv : index
        %r = scf.if %any -> !s {
          %l = scf.for %j = %c0 to %skv step %c128 iter_args(%a = %z) -> (!s) {
            %e = cta.acquire %ring : !ring
            cta.copy %K[%hi, %j, %c0] to %e : !m, !kt
            %k = cta.consume %ring : !ring
            %f = cta.mma %q, transpose %k into %a : !qt, !kt -> !cta.flight<64x128xf32>
            %s = cta.wait %f : !cta.flight<64x128xf32>
            cta.release %k : !kt
            scf.yield %s : !s
          }
          scf.yield %l : !s
        } else {
          scf.yield %z : !s
        }
        cta.store %r, %O[%hi, %i0, %c0] : !s, memref<?x?x128xf32>
      }
    }
    gpu.return
  }

  // Loads of all teams outside of loops, and of each team inside of loops. A coordinate is read from memory.
  // CHECK-LABEL: gpu.func @gemm
  // CHECK-DAG: %[[AR:.*]] = cta.ring each(3) : !cta.ring<4, !cta.tile<64x64
  // CHECK-DAG: %[[BR:.*]] = cta.ring : !cta.ring<1, !cta.tile<128x64
  // CHECK: cta.role "load" teams(%{{.*}} in 1) warps(4) regs(32) {
  // CHECK:   %[[AT:.*]] = memref.load
  // CHECK:   %[[E:.*]] = cta.acquire %[[BR]] :
  // CHECK:   cta.copy %{{.*}}[%{{.*}}, %[[AT]], %c0] to %[[E]]
  // CHECK:   scf.for
  // CHECK:     cta.acquire %[[AR]][%c0]
  // CHECK:     cta.acquire %[[AR]][%c1]
  // CHECK:     cta.acquire %[[AR]][%c2]
  // CHECK: cta.role "compute" teams(%{{.*}} in 3) warps(4) regs(160) {
  gpu.func @gemm(%A: !m, %B: !m, %I: memref<?xindex>, %O: memref<?x?x128xf32>) kernel attributes {cta.stages = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant dense<0.0> : !s
    %n = memref.dim %A, %c1 : !m
    cta.work (%b) in (%c1) order(#cta.order<natural>) {
      %at = memref.load %I[%b] : memref<?xindex>
      cta.role "all" teams(%w in 3) warps(4) {
        %wr = arith.muli %w, %c64 : index
        %t = cta.load once %B[%b, %at, %c0] : !m -> !kt
        %r = scf.for %j = %c0 to %n step %c64 iter_args(%a = %z) -> (!s) {
          %i = arith.addi %j, %wr : index
          %s = cta.load each %A[%b, %i, %c0] : !m -> !qt
          %f = cta.mma %s, transpose %t into %a : !qt, !kt -> !cta.flight<64x128xf32>
          %p = cta.wait %f : !cta.flight<64x128xf32>
          scf.yield %p : !s
        }
        cta.store %r, %O[%b, %wr, %c0] : !s, memref<?x?x128xf32>
      }
    }
    gpu.return
  }

  // Where a tile lies may be searched in a table first: both roles do. Where its rows end early, the loading role has more to
  // do, and gets more registers.
  // CHECK-LABEL: gpu.func @searched
  // CHECK: cta.role "load" {{.*}} regs(40)
  // CHECK:   %[[AT:.*]] = scf.for {{.*}} iter_args
  // CHECK:     memref.load
  // CHECK:     scf.yield
  // CHECK:   scf.for %[[J:.*]] = %[[AT]] to
  // CHECK:     cta.copy %{{.*}}[%c0, %[[J]], %c0] until %[[AT]] to
  // CHECK: cta.role "compute" {{.*}} regs(232)
  // CHECK:   scf.for {{.*}} iter_args
  // CHECK:     memref.load
  // CHECK:     scf.yield
  gpu.func @searched(%K: !m, %I: memref<?xindex>, %O: memref<?x?x128xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c128 = arith.constant 128 : index
    %z = arith.constant dense<0.0> : !s
    %n = memref.dim %K, %c1 : !m
    %ring = cta.ring : !ring
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %at = scf.for %i = %c0 to %c5 step %c1 iter_args(%low = %c0) -> (index) {
          %entry = memref.load %I[%i] : memref<?xindex>
          %isLow = arith.cmpi sle, %entry, %b : index
          %next = arith.select %isLow, %i, %low : index
          scf.yield %next : index
        }
        %q = cta.load each %K[%c0, %b, %c0] : !m -> !qt
        %r = scf.for %j = %at to %n step %c128 iter_args(%a = %z) -> (!s) {
          %e = cta.acquire %ring : !ring
          cta.copy %K[%c0, %j, %c0] until %at to %e : !m, !kt
          %k = cta.consume %ring : !ring
          %f = cta.mma %q, transpose %k into %a : !qt, !kt -> !cta.flight<64x128xf32>
          %s = cta.wait %f : !cta.flight<64x128xf32>
          cta.release %k : !kt
          scf.yield %s : !s
        }
        cta.store %r, %O[%c0, %b, %c0] : !s, memref<?x?x128xf32>
      }
    }
    gpu.return
  }
}
