// RUN: fa-opt "--choose-schedule=br=64 bc=64" --tile --interchange --skip-masked-blocks %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s
// RUN: fa-opt --tile --interchange --skip-masked-blocks=block-lists=false --split-input-file %s -verify-diagnostics | FileCheck %s --check-prefix=SECOND

// Causal: full blocks without a mask and with static sizes, then partial ones up to the last visible key.
// CHECK-LABEL: func @attention
// CHECK: scf.forall (%[[I:.*]], %{{.*}}, %{{.*}}) =
// CHECK: %[[FULL:.*]]:3 = scf.for %{{.*}} = %c0 to %[[MID:.*]] step %c64
// CHECK: tensor.extract_slice %arg1[{{.*}}] [1, 1, 64, 128]
// CHECK: attn.update
// CHECK-NOT: mask(
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %[[MID]] to %{{.*}} step %c64 iter_args(%{{.*}} = %[[FULL]]#0
// CHECK: affine.min
// CHECK: attn.update {{.*}} mask(
// CHECK: scf.yield

// Where a row's first maximum is kept and scores depend on the key's place, the blocks at the upper edge come first, the last one before the others; else in the order
// of the keys.
// RUN: fa-opt "--choose-schedule=br=64 bc=64 rescale=first-max" --tile --interchange --skip-masked-blocks %S/../../../kernels-gen/specs/alibi.mlir | FileCheck %s --check-prefix=UPPER
// RUN: fa-opt "--choose-schedule=br=64 bc=64 rescale=always" --tile --interchange --skip-masked-blocks %S/../../../kernels-gen/specs/alibi.mlir | FileCheck %s --check-prefix=LOWER
// RUN: fa-opt "--choose-schedule=br=64 bc=64 rescale=first-max" --tile --interchange --skip-masked-blocks %S/../../../kernels-gen/specs/softcap.mlir | FileCheck %s --check-prefix=LOWER
// UPPER: %[[TWICE:.*]] = arith.addi %[[MID:.*]], %[[MID]] : index
// UPPER: %[[SUM:.*]] = arith.addi %[[TWICE]], %{{.*}} : index
// UPPER: %[[UPPER:.*]]:3 = scf.for %[[J:.*]] = %[[MID]] to %{{.*}} step %c64
// UPPER-NEXT: %[[KEY:.*]] = arith.subi %[[SUM]], %[[J]] : index
// UPPER: affine.min #{{.*}}(%[[KEY]])
// UPPER: attn.update
// UPPER: } mask(
// UPPER: scf.for %{{.*}} = %c0 to %[[MID]] step %c64 iter_args(%{{.*}} = %[[UPPER]]#0
// UPPER-NOT: mask(
// UPPER: return
// LOWER: scf.for %{{.*}} = %c0 to %[[MID:.*]] step %c64
// LOWER: scf.for %{{.*}} = %[[MID]] to

// A window of one's own, as a region: partial blocks at both edges.
// SECOND-LABEL: func @window
// SECOND: scf.for %{{.*}} = %[[BEGIN:.*]] to %[[LOW:.*]] step
// SECOND: attn.update {{.*}} mask(
// SECOND: scf.for %{{.*}} = %[[LOW]] to %[[HIGH:.*]] step
// SECOND: attn.update
// SECOND-NOT: mask(
// SECOND: scf.yield
// SECOND: scf.for %{{.*}} = %[[HIGH]] to %{{.*}} step
// SECOND: attn.update {{.*}} mask(
func.func @window(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x64xf16>, %left: index) -> tensor<1x4x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %first = arith.subi %i, %left : index
        %notBefore = arith.cmpi sge, %j, %first : index
        %notAfter = arith.cmpi sge, %i, %j : index
        %sees = arith.andi %notBefore, %notAfter : i1
        attn.yield %sees : i1
      } : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf16>
}

// -----

// No mask: the blocks before the last one are full.
// SECOND-LABEL: func @plain
// SECOND: scf.for
// SECOND: tensor.extract_slice %arg1[{{.*}}] [1, 1, {{(32|64)}}, 64]
// SECOND: scf.for
// SECOND: affine.min
func.func @plain(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x64xf16>) -> tensor<1x4x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
      : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf16>
}

// -----

// A factor that is not affine beside one that is: cut, but no block is known to be full.
// SECOND-LABEL: func @mixed
// SECOND: scf.forall
// SECOND: arith.minsi
// SECOND: scf.for
// SECOND: attn.update {{.*}} mask(
// SECOND-NOT: scf.for %
func.func @mixed(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x64xf16>) -> tensor<1x4x?x64xf16> {
  %c3 = arith.constant 3 : index
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %r = arith.remui %j, %c3 : index
        %some = arith.cmpi ne, %r, %c3 : index
        %past = arith.cmpi sle, %j, %i : index
        %sees = arith.andi %some, %past : i1
        attn.yield %sees : i1
      } : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf16>
}

// -----

// An expression that doubles forty times over is read once, and given up when it grows too large.
// SECOND-LABEL: func @doubling
// SECOND: scf.for
// SECOND: attn.update {{.*}} mask(
func.func @doubling(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x64xf16>, %n: index) -> tensor<1x4x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %x0 = arith.addi %n, %n : index
        %x1 = arith.addi %x0, %x0 : index
        %x2 = arith.addi %x1, %x1 : index
        %x3 = arith.addi %x2, %x2 : index
        %x4 = arith.addi %x3, %x3 : index
        %x5 = arith.addi %x4, %x4 : index
        %x6 = arith.addi %x5, %x5 : index
        %x7 = arith.addi %x6, %x6 : index
        %x8 = arith.addi %x7, %x7 : index
        %x9 = arith.addi %x8, %x8 : index
        %x10 = arith.addi %x9, %x9 : index
        %x11 = arith.addi %x10, %x10 : index
        %x12 = arith.addi %x11, %x11 : index
        %x13 = arith.addi %x12, %x12 : index
        %x14 = arith.addi %x13, %x13 : index
        %x15 = arith.addi %x14, %x14 : index
        %x16 = arith.addi %x15, %x15 : index
        %x17 = arith.addi %x16, %x16 : index
        %x18 = arith.addi %x17, %x17 : index
        %x19 = arith.addi %x18, %x18 : index
        %x20 = arith.addi %x19, %x19 : index
        %x21 = arith.addi %x20, %x20 : index
        %x22 = arith.addi %x21, %x21 : index
        %x23 = arith.addi %x22, %x22 : index
        %x24 = arith.addi %x23, %x23 : index
        %x25 = arith.addi %x24, %x24 : index
        %x26 = arith.addi %x25, %x25 : index
        %x27 = arith.addi %x26, %x26 : index
        %x28 = arith.addi %x27, %x27 : index
        %x29 = arith.addi %x28, %x28 : index
        %x30 = arith.addi %x29, %x29 : index
        %x31 = arith.addi %x30, %x30 : index
        %x32 = arith.addi %x31, %x31 : index
        %x33 = arith.addi %x32, %x32 : index
        %x34 = arith.addi %x33, %x33 : index
        %x35 = arith.addi %x34, %x34 : index
        %x36 = arith.addi %x35, %x35 : index
        %x37 = arith.addi %x36, %x36 : index
        %x38 = arith.addi %x37, %x37 : index
        %x39 = arith.addi %x38, %x38 : index
        %x40 = arith.addi %x39, %x39 : index
        %x41 = arith.addi %x40, %x40 : index
        %x42 = arith.addi %x41, %x41 : index
        %x43 = arith.addi %x42, %x42 : index
        %x44 = arith.addi %x43, %x43 : index
        %x45 = arith.addi %x44, %x44 : index
        %x46 = arith.addi %x45, %x45 : index
        %x47 = arith.addi %x46, %x46 : index
        %x48 = arith.addi %x47, %x47 : index
        %x49 = arith.addi %x48, %x48 : index
        %x50 = arith.addi %x49, %x49 : index
        %x51 = arith.addi %x50, %x50 : index
        %x52 = arith.addi %x51, %x51 : index
        %x53 = arith.addi %x52, %x52 : index
        %x54 = arith.addi %x53, %x53 : index
        %x55 = arith.addi %x54, %x54 : index
        %x56 = arith.addi %x55, %x55 : index
        %x57 = arith.addi %x56, %x56 : index
        %x58 = arith.addi %x57, %x57 : index
        %x59 = arith.addi %x58, %x58 : index
        %x60 = arith.addi %x59, %x59 : index
        %x61 = arith.addi %x60, %x60 : index
        %x62 = arith.addi %x61, %x61 : index
        %x63 = arith.addi %x62, %x62 : index
        %x64 = arith.addi %x63, %x63 : index
        %x65 = arith.addi %x64, %x64 : index
        %x66 = arith.addi %x65, %x65 : index
        %x67 = arith.addi %x66, %x66 : index
        %x68 = arith.addi %x67, %x67 : index
        %x69 = arith.addi %x68, %x68 : index
        %x70 = arith.addi %x69, %x69 : index
        %past = arith.cmpi sle, %j, %i : index
        %far = arith.cmpi sle, %j, %x70 : index
        %sees = arith.andi %past, %far : i1
        attn.yield %sees : i1
      } : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf16>
}

// -----

// SECOND-LABEL: func @unknown
func.func @unknown(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x64xf16>) -> tensor<1x4x?x64xf16> {
  // expected-warning @+1 {{--skip-masked-blocks does not apply: the mask bounds no keys by affine comparisons of i and j}}
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %r = arith.muli %j, %i : index
        %sees = arith.cmpi ne, %r, %i : index
        attn.yield %sees : i1
      } : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf16>
}

// -----

// A prefix or the past: the full blocks end where the later of the two does at the first row. The prefix's length does not
// depend on i and j and moves out of the region.
// SECOND-LABEL: func @prefix
// SECOND: scf.forall (%[[I:.*]], %{{.*}}, %[[B:.*]]) =
// SECOND: %[[ROWS:.*]] = affine.min
// SECOND: %[[N:.*]] = tensor.extract %{{.*}}[%[[B]]]
// SECOND: %[[PREFIX:.*]] = arith.index_cast %[[N]]
// SECOND-DAG: %[[LAST:.*]] = arith.addi %[[I]], %[[ROWS]]
// SECOND-DAG: %[[FIRST:.*]] = arith.addi %[[I]], %c1
// SECOND-DAG: %[[SOME:.*]] = arith.maxsi %[[PREFIX]], %[[LAST]]
// SECOND-DAG: %[[ALL:.*]] = arith.maxsi %[[PREFIX]], %[[FIRST]]
// SECOND-DAG: %[[END:.*]] = arith.minsi %[[SOME]]
// SECOND-DAG: arith.minsi %[[ALL]]
// SECOND: scf.for
// SECOND: scf.for
func.func @prefix(%q: tensor<2x4x?x64xf16>, %k: tensor<2x4x?x64xf16>, %lengths: tensor<2xi32>) -> tensor<2x4x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %n = tensor.extract %lengths[%b] : tensor<2xi32>
        %length = arith.index_cast %n : i32 to index
        %inPrefix = arith.cmpi slt, %j, %length : index
        %past = arith.cmpi sle, %j, %i : index
        %sees = arith.ori %inPrefix, %past : i1
        attn.yield %sees : i1
      } : tensor<2x4x?x64xf16>, tensor<2x4x?xf32>
  return %o : tensor<2x4x?x64xf16>
}

// -----

// Not in the future, by a negation; every second key by a coefficient.
// SECOND-LABEL: func @negated
// SECOND: arith.floordivsi
// SECOND: scf.for
// SECOND-NOT: mask(
// SECOND: scf.yield
// SECOND: scf.for
// SECOND: mask(
func.func @negated(%q: tensor<2x4x?x64xf16>, %k: tensor<2x4x?x64xf16>) -> tensor<2x4x?x64xf16> {
  %c2 = arith.constant 2 : index
  %true = arith.constant true
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %twice = arith.muli %j, %c2 : index
        %future = arith.cmpi sgt, %twice, %i : index
        %sees = arith.xori %future, %true : i1
        attn.yield %sees : i1
      } : tensor<2x4x?x64xf16>, tensor<2x4x?xf32>
  return %o : tensor<2x4x?x64xf16>
}

// -----

// Rows that see all or nothing: the block is cut where no row of it sees.
// SECOND-LABEL: func @rows
// SECOND: arith.cmpi sle
// SECOND: arith.select
// SECOND: scf.for
func.func @rows(%q: tensor<2x4x?x64xf16>, %k: tensor<2x4x?x64xf16>, %n: index) -> tensor<2x4x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %sees = arith.cmpi slt, %i, %n : index
        attn.yield %sees : i1
      } : tensor<2x4x?x64xf16>, tensor<2x4x?xf32>
  return %o : tensor<2x4x?x64xf16>
}
