// RUN: fa-opt "--choose-schedule=br=64 bc=64" --tile --interchange %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s
// RUN: fa-opt --interchange --split-input-file %s -verify-diagnostics | FileCheck %s --check-prefix=SECOND

// CHECK-LABEL: func @attention
// CHECK: scf.forall (%[[I:.*]], %[[H:.*]], %[[B:.*]]) = (0, 0, 0) to (%{{.*}}, %{{.*}}, %{{.*}}) step (64, 1, 1) shared_outs
// CHECK-SAME: -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
// CHECK: attn.init outs({{.*}} : tensor<?x128xf32>, tensor<?xf32>, tensor<?xf32>)
// CHECK: tensor.extract_slice %arg0[%[[B]], %[[H]], %[[I]], 0]
// CHECK: scf.for %[[J:[^ ]*]] = {{.*}} step %c64 iter_args({{.*}}) -> (tensor<?x128xf32>, tensor<?xf32>, tensor<?xf32>)
// CHECK-NOT: tensor.extract_slice %arg0
// CHECK: tensor.extract_slice %arg1
// CHECK: attn.update normalized
// CHECK-NOT: insert_slice
// CHECK: scf.yield
// CHECK: attn.finalize normalized
// CHECK: scf.forall.in_parallel
// CHECK: tensor.parallel_insert_slice {{.*}}[%[[B]], %[[H]], %[[I]], 0]

// Nothing of attention: row sums of a matrix by blocks of columns, a state without producer or consumer.
// SECOND-LABEL: func @row_sums
// SECOND: scf.forall (%[[I:.*]]) = (0) to (256) step (32) shared_outs(%[[OUT:.*]] = %arg1)
// SECOND: %[[T:.*]] = tensor.extract_slice %[[OUT]][%[[I]]] [32] [1]
// SECOND: scf.for %[[J:.*]] = {{.*}} iter_args(%[[S:.*]] = %[[T]]) -> (tensor<32xf32>)
// SECOND: linalg.reduce {{.*}} outs(%[[S]]
// SECOND: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[I]]] [32] [1]
func.func @row_sums(%m: tensor<256x512xf32>, %init: tensor<256xf32>) -> tensor<256xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %r = scf.for %j = %c0 to %c512 step %c32 iter_args(%a = %init) -> tensor<256xf32> {
    %r1 = scf.for %i = %c0 to %c256 step %c32 iter_args(%b = %a) -> tensor<256xf32> {
      %x = tensor.extract_slice %m[%i, %j] [32, 32] [1, 1] : tensor<256x512xf32> to tensor<32x32xf32>
      %s = tensor.extract_slice %b[%i] [32] [1] : tensor<256xf32> to tensor<32xf32>
      %u = linalg.reduce { arith.addf } ins(%x : tensor<32x32xf32>) outs(%s : tensor<32xf32>) dimensions = [1]
      %n = tensor.insert_slice %u into %b[%i] [32] [1] : tensor<32xf32> into tensor<256xf32>
      scf.yield %n : tensor<256xf32>
    }
    scf.yield %r1 : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}

// -----

// Slices that overlap: a step of 16 with sizes of 32.
func.func @overlap(%m: tensor<256x512xf32>, %init: tensor<256xf32>) -> tensor<256xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c224 = arith.constant 224 : index
  %c512 = arith.constant 512 : index
  // expected-warning @+1 {{--interchange does not apply: slices of different iterations may overlap}}
  %r = scf.for %j = %c0 to %c512 step %c32 iter_args(%a = %init) -> tensor<256xf32> {
    %r1 = scf.for %i = %c0 to %c224 step %c16 iter_args(%b = %a) -> tensor<256xf32> {
      %x = tensor.extract_slice %m[%i, %j] [32, 32] [1, 1] : tensor<256x512xf32> to tensor<32x32xf32>
      %s = tensor.extract_slice %b[%i] [32] [1] : tensor<256xf32> to tensor<32xf32>
      %u = linalg.reduce { arith.addf } ins(%x : tensor<32x32xf32>) outs(%s : tensor<32xf32>) dimensions = [1]
      %n = tensor.insert_slice %u into %b[%i] [32] [1] : tensor<32xf32> into tensor<256xf32>
      scf.yield %n : tensor<256xf32>
    }
    scf.yield %r1 : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}

// -----

// Written where it was not read.
func.func @elsewhere(%init: tensor<256xf32>) -> tensor<256xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  // expected-warning @+1 {{--interchange does not apply: a state tensor is read at one slice and written at another}}
  %r = scf.for %j = %c0 to %c256 step %c32 iter_args(%a = %init) -> tensor<256xf32> {
    %r1 = scf.for %i = %c0 to %c256 step %c32 iter_args(%b = %a) -> tensor<256xf32> {
      %s = tensor.extract_slice %b[%i] [32] [1] : tensor<256xf32> to tensor<32xf32>
      %n = tensor.insert_slice %s into %b[%j] [32] [1] : tensor<32xf32> into tensor<256xf32>
      scf.yield %n : tensor<256xf32>
    }
    scf.yield %r1 : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}

// -----

// A single loop has nothing to change places with.
func.func @single(%init: tensor<256xf32>) -> tensor<256xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  // expected-warning @+1 {{--interchange does not apply: the nest needs loops that choose the slices of the state and loops that do not}}
  %r = scf.for %i = %c0 to %c256 step %c32 iter_args(%b = %init) -> tensor<256xf32> {
    %s = tensor.extract_slice %b[%i] [32] [1] : tensor<256xf32> to tensor<32xf32>
    %n = tensor.insert_slice %s into %b[%i] [32] [1] : tensor<32xf32> into tensor<256xf32>
    scf.yield %n : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}

// -----

// expected-warning @+1 {{--interchange found no loop nest}}
func.func @nothing() {
  return
}

// -----

// The number that a forall keeps for a bound that is no constant (found by fa-fuzz).
// SECOND-LABEL: func.func @lowest_bound
// SECOND: %[[LOWEST:.*]] = arith.constant -9223372036854775808 : index
// SECOND: scf.forall (%{{.*}}) = (%[[LOWEST]]) to (256) step (32)
func.func @lowest_bound(%m: tensor<256x512xf32>, %init: tensor<256xf32>) -> tensor<256xf32> {
  %c0 = arith.constant -9223372036854775808 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %r = scf.for %j = %c0 to %c512 step %c32 iter_args(%a = %init) -> tensor<256xf32> {
    %r1 = scf.for %i = %c0 to %c256 step %c32 iter_args(%b = %a) -> tensor<256xf32> {
      %x = tensor.extract_slice %m[%i, %j] [32, 32] [1, 1] : tensor<256x512xf32> to tensor<32x32xf32>
      %s = tensor.extract_slice %b[%i] [32] [1] : tensor<256xf32> to tensor<32xf32>
      %u = linalg.reduce { arith.addf } ins(%x : tensor<32x32xf32>) outs(%s : tensor<32xf32>) dimensions = [1]
      %n = tensor.insert_slice %u into %b[%i] [32] [1] : tensor<32xf32> into tensor<256xf32>
      scf.yield %n : tensor<256xf32>
    }
    scf.yield %r1 : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}
