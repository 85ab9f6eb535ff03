// The second product of a block runs one block late, through all loops that follow one another. What works on the accumulator,
// and what makes the late product's operand, comes after its wait.

// RUN: fa-opt %s --overlap-softmax | FileCheck %s
// RUN: fa-opt %s --overlap-softmax --remarks-filter=overlap-softmax -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: [Passed] pipeline | Category:overlap-softmax | Function=two_loops | loops=2

!qt = !cta.tile<64x64xbf16, swizzle = 128>
!kt = !cta.tile<128x64xbf16, swizzle = 128>
!ring = !cta.ring<2, !kt>
!s = vector<64x128xf32>
!sp = vector<64x128xbf16>
!o = vector<64x64xf32>
!row = vector<64xf32>
!sf = !cta.flight<64x128xf32>
!of = !cta.flight<64x64xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @two_loops
  // CHECK-SAME: %[[LO:[^:]*]]: index, %[[MID:[^:]*]]: index, %[[HI:[^:]*]]: index
  // CHECK-DAG: %[[Z:.*]] = arith.constant dense<0.000000e+00> : vector<64x64xf32>
  // CHECK-DAG: %[[ZP:.*]] = arith.constant dense<0.000000e+00> : vector<64x128xbf16>
  // CHECK: %[[Q:.*]] = cta.consume
  // The first block of all stands before the loops.
  // CHECK: %[[SECOND:.*]] = arith.addi %[[LO]], %c128
  // CHECK: %[[IN1:.*]] = arith.cmpi slt, %[[LO]], %[[MID]]
  // CHECK: %[[AFTER:.*]] = arith.addi %[[MID]], %c128
  // CHECK: %[[SECOND2:.*]] = arith.select %[[IN1]], %[[MID]], %[[AFTER]]
  // CHECK: %[[IN2:.*]] = arith.cmpi slt, %[[MID]], %[[HI]]
  // CHECK: %[[ANY:.*]] = arith.ori %[[IN1]], %[[IN2]]
  // CHECK: %[[F:.*]]:3 = scf.if %[[IN1]]
  // CHECK:   cta.mma %[[Q]], transpose
  // CHECK:   cta.wait %{{[^ ]*}} : !cta
  // CHECK:   scf.yield
  // CHECK: } else {
  // CHECK:   scf.if %[[IN2]]
  // CHECK:     cta.mma %[[Q]], transpose
  // CHECK:     arith.negf
  // CHECK:     scf.yield
  // CHECK:   } else {
  // CHECK:     scf.yield %[[Z]], %{{.*}}, %[[ZP]]
  // Both products are under way, the late one on what is carried.
  // CHECK: %[[R:.*]]:3 = scf.for %{{.*}} = %[[SECOND]] to %[[MID]] step %c128 iter_args(%[[A:.*]] = %[[F]]#0, %{{.*}} = %[[F]]#1, %[[P:.*]] = %[[F]]#2)
  // CHECK-NEXT: %[[K:.*]] = cta.consume %[[KR:.*]] :
  // CHECK-NEXT: %[[SF:.*]] = cta.mma %[[Q]], transpose %[[K]]
  // CHECK-NEXT: %[[V:.*]] = cta.consume %[[VR:.*]] :
  // CHECK-NEXT: %[[OF:.*]] = cta.mma %[[P]], %[[V]] into %[[A]]
  // CHECK-NEXT: %[[S:.*]] = cta.wait %[[SF]] pending 1
  // CHECK-NEXT: cta.release %[[K]]
  // CHECK: %[[E:.*]] = math.exp2 %[[S]]
  // CHECK: %[[ROW:.*]] = vector.multi_reduction
  // CHECK: %[[O:.*]] = cta.wait %[[OF]] : !cta
  // CHECK-NEXT: cta.release %[[V]]
  // CHECK: %[[AN:.*]] = cta.if_any
  // CHECK:   arith.mulf %[[O]]
  // CHECK:   cta.yield %[[O]]
  // CHECK: %[[PN:.*]] = arith.truncf %[[E]]
  // CHECK: scf.yield %[[AN]], %[[ROW]], %[[PN]]
  // The next loop goes on.
  // CHECK: %[[R2:.*]]:3 = scf.for %{{.*}} = %[[SECOND2]] to %[[HI]] step %c128 iter_args(%{{.*}} = %[[R]]#0, %{{.*}} = %[[R]]#1, %{{.*}} = %[[R]]#2)
  // CHECK: arith.negf
  // The last block's late product, after what only the first products read has been released.
  // CHECK: cta.release %[[Q]]
  // CHECK-NEXT: %[[LAST:.*]] = scf.if %[[ANY]]
  // CHECK-NEXT: %[[V:.*]] = cta.consume %[[VR]]
  // CHECK-NEXT: %[[OF:.*]] = cta.mma %[[R2]]#2, %[[V]] into %[[R2]]#0
  // CHECK-NEXT: %[[O:.*]] = cta.wait %[[OF]]
  // CHECK-NEXT: cta.release %[[V]]
  // CHECK-NEXT: scf.yield %[[O]]
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[R2]]#0
  // CHECK: cta.store %[[LAST]]
  // CHECK: cta.store %[[R2]]#1
  gpu.func @two_loops(%lo: index, %mid: index, %hi: index, %O: memref<?x64xf32>, %L: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %z = arith.constant dense<0.0> : !o
    %m0 = arith.constant dense<0.0> : !row
    %qr = cta.ring each(2) : !cta.ring<1, !qt>
    %kr = cta.ring : !ring
    %vr = cta.ring : !ring
    cta.role "compute" teams(%w in 2) warps(4) {
      %q = cta.consume %qr : !cta.ring<1, !qt>
      %r:2 = scf.for %j = %lo to %mid step %c128 iter_args(%a = %z, %m = %m0) -> (!o, !row) {
        %k = cta.consume %kr : !ring
        %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
        %s = cta.wait %sf : !sf
        cta.release %k : !kt
        %p = math.exp2 %s : !s
        %n = vector.multi_reduction <add>, %p, %m [1] : !s to !row
        %grew = arith.cmpf ogt, %n, %m : !row
        %b = cta.if_any %grew : vector<64xi1> -> (!o) {
          %nc = vector.shape_cast %n : !row to vector<64x1xf32>
          %nb = vector.broadcast %nc : vector<64x1xf32> to !o
          %ar = arith.mulf %a, %nb : !o
          cta.yield %ar : !o
        } else {
          cta.yield %a : !o
        }
        %pb = arith.truncf %p : !s to !sp
        %v = cta.consume %vr : !ring
        %of = cta.mma %pb, %v into %b : !sp, !kt -> !of
        %o = cta.wait %of : !of
        cta.release %v : !kt
        scf.yield %o, %n : !o, !row
      }
      %t:2 = scf.for %j = %mid to %hi step %c128 iter_args(%a = %r#0, %m = %r#1) -> (!o, !row) {
        %k = cta.consume %kr : !ring
        %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
        %s = cta.wait %sf : !sf
        cta.release %k : !kt
        %masked = arith.negf %s : !s
        %p = math.exp2 %masked : !s
        %n = vector.multi_reduction <add>, %p, %m [1] : !s to !row
        %pb = arith.truncf %p : !s to !sp
        %v = cta.consume %vr : !ring
        %of = cta.mma %pb, %v into %a : !sp, !kt -> !of
        %o = cta.wait %of : !of
        cta.release %v : !kt
        scf.yield %o, %n : !o, !row
      }
      cta.release %q : !qt
      cta.store %t#0, %O[%c0, %c0] : !o, memref<?x64xf32>
      cta.store %t#1, %L[%c0, %c0] : !row, memref<?x?xf32>
    }
    gpu.return
  }
}
