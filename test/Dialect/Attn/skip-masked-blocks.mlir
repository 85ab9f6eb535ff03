// RUN: fa-opt --tile --interchange --skip-masked-blocks %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s
// RUN: fa-opt --tile --interchange --skip-masked-blocks --split-input-file %s -verify-diagnostics | FileCheck %s --check-prefix=SECOND

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

// SECOND-LABEL: func @unknown
func.func @unknown(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x64xf16>) -> tensor<1x4x?x64xf16> {
  // expected-warning @+1 {{--skip-masked-blocks does not apply: the mask is no conjunction of affine bounds on the key}}
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %r = arith.muli %j, %i : index
        %sees = arith.cmpi ne, %r, %i : index
        attn.yield %sees : i1
      } : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf16>
}
