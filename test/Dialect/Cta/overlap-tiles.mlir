// An item leaves its last second product, and what is made of it, to the next one, whose first product starts beside it. Log-sum-exp is
// stored in its own item.

// RUN: fa-opt %s --overlap-tiles | FileCheck %s
// RUN: fa-opt %s --overlap-tiles | fa-opt | FileCheck %s
// RUN: fa-opt %s --overlap-tiles --remarks-filter=overlap-tiles -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: [Passed] items | Category:overlap-tiles | Function=items | carried=6

// A team that gives stages back does its late product in front of that; only others leave it.
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir "--fa3=level=cta bc=64 overlap-tiles=true" 2>&1 | FileCheck %s --check-prefix=DRAIN
// DRAIN-NOT: warning
// DRAIN: cta.role "compute"
// DRAIN: cta.store %{{.*}} : vector<64x128xbf16>
// DRAIN: %[[DRAINS:.*]] = arith.cmpi slt, %[[OWN:.*]], %[[BLOCK:.*]] : index
// DRAIN-NEXT: %[[NOW:.*]] = arith.andi %[[ANY:.*]], %[[DRAINS]] : i1
// DRAIN-NEXT: %[[O:.*]] = scf.if %[[NOW]]
// DRAIN-NEXT: cta.consume
// DRAIN-NEXT: cta.mma
// DRAIN: %[[LEFT:.*]] = arith.xori %[[ANY]], %[[NOW]] : i1
// DRAIN-NEXT: scf.for %{{.*}} = %[[OWN]] to %[[BLOCK]] step %c64 {
// DRAIN: cta.yield %[[O]], {{.*}}, %[[LEFT]], %true :
// What is marked is marked in its item, and the last item's end comes before the marked work.
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir "--fa3=level=cta rescale=first-max overlap-tiles=true" 2>&1 | FileCheck %s --check-prefix=MARK
// MARK: cta.role "compute"
// MARK: %[[END:.*]]:8 = cta.work (
// MARK-SAME: iter_args(
// MARK: cta.release %{{.*}} : !cta.tile<64x128xbf16, swizzle = 128>
// MARK: cta.mark
// MARK: cta.store %{{.*}} : vector<64xf32>
// MARK-NEXT: cta.yield
// MARK: %[[LAST:.*]] = scf.if %[[END]]#6
// MARK: cta.mma %[[END]]#1, %{{.*}} into %[[END]]#0
// MARK: scf.if %[[END]]#7
// MARK: cta.store {{.*}} : vector<64x128xbf16>
// MARK: cta.work marked

// What has another form stays as it is, and a remark says why: the lines of this file that begin with a word and a colon, one after the
// other, and kernels of other passes.
// DEFINE: %{remark} = --overlap-tiles --remarks-filter=overlap-tiles -o /dev/null 2>&1 | FileCheck %s --check-prefix
// RUN: sed 's|// fetched:||' %s | fa-opt %{remark}=FETCHED
// FETCHED: [Missed] items | {{.*}} | Reason="an item's result is read again"
// RUN: sed 's|// asked:||' %s | fa-opt %{remark}=ASKED
// ASKED: [Missed] items | {{.*}} | Reason="an item's result is more than stored"
// RUN: sed 's|// scores:||' %s | fa-opt %{remark}=SCORES
// SCORES: [Missed] items | {{.*}} | Reason="an item's result is made of more than one fragment and numbers of rows"
// RUN: sed 's|// behind:||' %s | fa-opt %{remark}=BEHIND
// BEHIND: [Missed] items | {{.*}} | Reason="stages of the late product's ring are read behind it"
// RUN: sed 's|// before:||' %s | fa-opt %{remark}=BEFORE
// BEFORE: [Missed] items | {{.*}} | Reason="both products read tiles of one ring"
// RUN: sed 's|// ahead:||' %s | fa-opt %{remark}=AHEAD
// AHEAD: [Missed] items | {{.*}} | Reason="stages of the late product's ring are read before an item's first block"
// RUN: sed 's|// twice:||' %s | fa-opt %{remark}=TWICE
// TWICE: [Missed] items | {{.*}} | Reason="an item's first block has several products"
// RUN: sed 's|// nothing:||' %s | fa-opt %{remark}=NOTHING
// NOTHING: [Missed] items | {{.*}} | Reason="an item's first block does more than one product and arithmetic"
// RUN: sed 's|= %f#2) ->|= %zp) ->|' %s | fa-opt %{remark}=BEGIN
// BEGIN: [Missed] items | {{.*}} | Reason="the late product's operands do not begin with an item's first block"
// RUN: sed 's|!qring = !cta.ring<2|!qring = !cta.ring<1|' %s | fa-opt %{remark}=QUERIES
// QUERIES: [Missed] items | {{.*}} | Reason="the next item's queries are there only when this one's last block is done: their ring has one stage"
// RUN: sed 's|!ring = !cta.ring<2|!ring = !cta.ring<1|' %s | fa-opt %{remark}=STAGE
// STAGE: [Missed] items | {{.*}} | Reason="the late product's ring has one stage"
// RUN: sed 's|, persistent = static||' %s | fa-opt %{remark}=ONE
// ONE: [Missed] items | {{.*}} | Reason="a block has one item (run --persistent first)"
// RUN: fa-opt %s --overlap-tiles | fa-opt %{remark}=AGAIN
// AGAIN: [Missed] items | {{.*}} | Reason="no role goes through items with products"
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir --fa3=level=arithmetic --map-warps --stage-tiles --specialize-warps --persistent %{remark}=EARLY
// EARLY: [Missed] items | {{.*}} | Reason="no second product of an item is late (run --overlap-softmax first)"

!qt = !cta.tile<64x64xbf16, swizzle = 128>
!kt = !cta.tile<128x64xbf16, swizzle = 128>
!qring = !cta.ring<2, !qt>
!ring = !cta.ring<2, !kt>
!s = vector<64x128xf32>
!sp = vector<64x128xbf16>
!o = vector<64x64xf32>
!row = vector<64xf32>
!sf = !cta.flight<64x128xf32>
!of = !cta.flight<64x64xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @items
  // CHECK-DAG: %[[Z:.*]] = arith.constant dense<0.000000e+00> : vector<64x64xf32>
  // CHECK-DAG: %[[ZP:.*]] = arith.constant dense<0.000000e+00> : vector<64x128xbf16>
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK: %[[END:.*]]:6 = cta.work (%[[I:.*]]) in (%{{.*}}) order(#cta.order<natural, persistent = static>)
  // CHECK-SAME: iter_args(%[[A:.*]] = %[[Z]], %[[P:.*]] = %[[ZP]], %[[AT:.*]] = %c0, %[[L:.*]] = %{{.*}}, %[[LATE:.*]] = %[[FALSE]], %[[ITEM:.*]] = %[[FALSE]])
  // CHECK-SAME: -> (vector<64x64xf32>, vector<64x128xbf16>, index, vector<64xf32>, i1, i1) {
  // CHECK: %[[FIRST:.*]] = arith.muli %[[I]], %c64
  // CHECK: %[[Q:.*]] = cta.consume %[[QR:.*]] :
  // CHECK: %[[ANY:.*]] = arith.cmpi sgt
  // Beside the late product; the item before is stored when that is done.
  // CHECK: %[[F:.*]]:3 = scf.if %[[LATE]]
  // CHECK:   %[[B:.*]]:3 = scf.if %[[ANY]]
  // CHECK-NEXT: %[[K:.*]] = cta.consume %[[KR:.*]] :
  // CHECK-NEXT: %[[SF:.*]] = cta.mma %[[Q]], transpose %[[K]]
  // CHECK-NEXT: %[[V:.*]] = cta.consume %[[VR:.*]] :
  // CHECK-NEXT: %[[OF:.*]] = cta.mma %[[P]], %[[V]] into %[[A]]
  // CHECK-NEXT: %[[S:.*]] = cta.wait %[[SF]] pending 1
  // CHECK-NEXT: cta.release %[[K]]
  // CHECK-NEXT: %[[E:.*]] = math.exp2 %[[S]]
  // CHECK-NEXT: %[[ROW:.*]] = vector.multi_reduction
  // CHECK-NEXT: %[[O:.*]] = cta.wait %[[OF]] :
  // CHECK-NEXT: cta.release %[[V]]
  // CHECK-NEXT: %[[PB:.*]] = arith.truncf %[[E]]
  // CHECK-NEXT: %[[COLUMN:.*]] = vector.shape_cast %[[L]]
  // CHECK-NEXT: %[[SPREAD:.*]] = vector.broadcast %[[COLUMN]]
  // CHECK-NEXT: %[[RESULT:.*]] = arith.mulf %[[O]], %[[SPREAD]]
  // CHECK-NEXT: cta.store %[[RESULT]], %{{.*}}[%[[AT]], %c0]
  // What works on this item's accumulator alone comes last.
  // CHECK-NEXT: %[[SUM:.*]] = vector.shape_cast %[[ROW]]
  // CHECK-NEXT: %[[SUMS:.*]] = vector.broadcast %[[SUM]]
  // CHECK-NEXT: %[[ACC:.*]] = arith.mulf %[[SUMS]], %[[Z]]
  // CHECK-NEXT: scf.yield %[[ACC]], %[[ROW]], %[[PB]]
  // CHECK-NEXT: } else {
  // An item without a block.
  // CHECK-NEXT: %[[V:.*]] = cta.consume %[[VR]]
  // CHECK-NEXT: %[[OF:.*]] = cta.mma %[[P]], %[[V]] into %[[A]]
  // CHECK-NEXT: %[[O:.*]] = cta.wait %[[OF]] :
  // CHECK-NEXT: cta.release %[[V]]
  // CHECK: %[[RESULT:.*]] = arith.mulf %[[O]]
  // CHECK-NEXT: cta.store %[[RESULT]]
  // CHECK-NEXT: scf.yield %[[Z]], %{{.*}}, %[[ZP]]
  // CHECK: scf.yield %[[B]]#0, %[[B]]#1, %[[B]]#2
  // By itself.
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.if %[[ITEM]] {
  // CHECK: %[[RESULT:.*]] = arith.mulf %[[A]]
  // CHECK-NEXT: cta.store %[[RESULT]], %{{.*}}[%[[AT]], %c0]
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[C:.*]]:3 = scf.if %[[ANY]]
  // CHECK: cta.wait %{{[^ ]*}} : !cta
  // CHECK: scf.yield %[[C]]#0, %[[C]]#1, %[[C]]#2
  // CHECK: %[[R:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %[[F]]#0, %{{.*}} = %[[F]]#1, %{{.*}} = %[[F]]#2)
  // CHECK: cta.release %[[Q]]
  // CHECK-NEXT: cta.store %[[R]]#1, %{{.*}}[%c0, %[[FIRST]]]
  // CHECK-NEXT: cta.yield %[[R]]#0, %[[R]]#2, %[[FIRST]], %[[R]]#1, %[[ANY]], %[[TRUE]]
  // CHECK-NEXT: }
  // What the last item leaves.
  // CHECK-NEXT: %[[LAST:.*]] = scf.if %[[END]]#4
  // CHECK-NEXT: %[[V:.*]] = cta.consume %[[VR]]
  // CHECK-NEXT: %[[OF:.*]] = cta.mma %[[END]]#1, %[[V]] into %[[END]]#0
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[END]]#0
  // CHECK: scf.if %[[END]]#5 {
  // CHECK: arith.mulf %[[LAST]]
  // CHECK-NEXT: cta.store %{{.*}}, %{{.*}}[%[[END]]#2, %c0]
  // CHECK-NOT: cta.store
  gpu.func @items(%n: index, %hi: index, %O: memref<?x64xf32>, %L: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %z = arith.constant dense<0.0> : !o
    %zp = arith.constant dense<0.0> : !sp
    %m0 = arith.constant dense<0.0> : !row
    %qr = cta.ring each(2) : !qring
    %kr = cta.ring : !ring
    %vr = cta.ring : !ring
    cta.role "compute" teams(%w in 2) warps(4) {
      cta.work (%i) in (%n) order(#cta.order<natural, persistent = static>) {
        %at = arith.muli %i, %c64 : index
        %q = cta.consume %qr : !qring
        // ahead: %y = cta.consume %vr : !ring
        // ahead: cta.release %y : !kt
        %any = arith.cmpi slt, %c0, %hi : index
        %f:3 = scf.if %any -> (!o, !row, !sp) {
          %k = cta.consume %kr : !ring
          %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
          %s = cta.wait %sf : !sf
          cta.release %k : !kt
          %p = math.exp2 %s : !s
          %l = vector.multi_reduction <add>, %p, %m0 [1] : !s to !row
          // before: %b = cta.consume %vr : !ring
          // before: cta.release %b : !kt
          // twice: %tf = cta.mma %q, transpose %k : !qt, !kt -> !sf
          // twice: %t = cta.wait %tf : !sf
          %sum = vector.shape_cast %l : !row to vector<64x1xf32>
          %sums = vector.broadcast %sum : vector<64x1xf32> to !o
          %acc = arith.mulf %sums, %z : !o
          %pb = arith.truncf %p : !s to !sp
          scf.yield %acc, %l, %pb : !o, !row, !sp
        } else {
          // nothing: cta.store %m0, %L[%c0, %at] : !row, memref<?x?xf32>
          scf.yield %z, %m0, %zp : !o, !row, !sp
        }
        %r:3 = scf.for %j = %c128 to %hi step %c128 iter_args(%a = %f#0, %m = %f#1, %p0 = %f#2) -> (!o, !row, !sp) {
          %k = cta.consume %kr : !ring
          %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
          %v = cta.consume %vr : !ring
          %of = cta.mma %p0, %v into %a : !sp, !kt -> !of
          %s = cta.wait %sf pending 1 : !sf
          cta.release %k : !kt
          %p = math.exp2 %s : !s
          %l = vector.multi_reduction <add>, %p, %m [1] : !s to !row
          %o = cta.wait %of : !of
          cta.release %v : !kt
          %pb = arith.truncf %p : !s to !sp
          scf.yield %o, %l, %pb : !o, !row, !sp
        }
        cta.release %q : !qt
        %last = scf.if %any -> (!o) {
          %v = cta.consume %vr : !ring
          %of = cta.mma %r#2, %v into %r#0 : !sp, !kt -> !of
          %o = cta.wait %of : !of
          cta.release %v : !kt
          scf.yield %o : !o
        } else {
          scf.yield %r#0 : !o
        }
        // behind: %b = cta.consume %vr : !ring
        // behind: cta.release %b : !kt
        // fetched: %x = cta.fetch %O[%at, %c0] : memref<?x64xf32> -> !o
        // asked: %x = arith.cmpf ogt, %last, %z : !o
        // asked: %y = cta.any %x : vector<64x64xi1>
        // scores: %x = arith.mulf %r#0, %r#0 : !o
        // scores: %y = arith.addf %last, %x : !o
        // scores: cta.store %y, %O[%at, %c0] : !o, memref<?x64xf32>
        %column = vector.shape_cast %r#1 : !row to vector<64x1xf32>
        %spread = vector.broadcast %column : vector<64x1xf32> to !o
        %result = arith.mulf %last, %spread : !o
        cta.store %result, %O[%at, %c0] : !o, memref<?x64xf32>
        cta.store %r#1, %L[%c0, %at] : !row, memref<?x?xf32>
      }
    }
    gpu.return
  }
}
