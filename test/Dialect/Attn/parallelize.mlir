// FlashAttention 1's loops with heads in parallel: the state stays in full-size tensors, K and V are read once for each block
// of keys, and the numbers stay.
// RUN: fa-opt "--choose-schedule=br=64 bc=64" --tile --parallelize %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s
// RUN: fa-opt --parallelize --split-input-file %s -verify-diagnostics | FileCheck %s --check-prefix=SECOND

// RUN: sed -e s/128xbf16/32xf16/g %S/../../../kernels-gen/specs/attention.mlir > %t.mlir
// RUN: fa-run %t.mlir "--choose-schedule=br=16 bc=32 teams=1" --tile --parallelize --check --sizes=Hkv=1,Sq=50,Skv=71
// RUN: fa-run %t.mlir "--choose-schedule=br=16 bc=32 teams=1" --tile --parallelize --pad-tiles --online-softmax --check --sizes=B=2,Sq=33,Skv=20 --sizes=Sq=5,Skv=0

// CHECK-LABEL: func @attention
// CHECK: scf.forall (%[[H:.*]], %[[B:.*]]) in (%{{.*}}, %{{.*}}) shared_outs({{.*}}) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>, tensor<?x?x?x128xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
// CHECK: scf.for {{.*}} step %c64
// CHECK: attn.init
// CHECK: tensor.insert_slice
// CHECK: scf.for %[[J:[^ ]*]] = {{.*}} step %c64
// CHECK: tensor.extract_slice %arg1[%[[B]], %{{.*}}, %[[J]], 0]
// CHECK: scf.for %[[I:[^ ]*]] = {{.*}} step %c64
// CHECK-NOT: tensor.extract_slice %arg1[
// CHECK: attn.update normalized
// CHECK: tensor.insert_slice {{.*}}[%[[B]], %[[H]], %[[I]], 0]
// CHECK: scf.for {{.*}} step %c64
// CHECK: attn.finalize normalized
// CHECK: scf.forall.in_parallel
// CHECK-COUNT-5: tensor.parallel_insert_slice
// CHECK: return %{{.*}}#0, %{{.*}}#1

// A nest that no op begins and ends stays.
// SECOND-LABEL: func @row_sums
// SECOND-NOT: scf.forall
func.func @row_sums(%m: tensor<256x512xf32>, %init: tensor<256xf32>) -> tensor<256xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  // expected-warning @below {{--parallelize does not apply: the state does not come from one op and go to one that can be tiled along with it}}
  %r = scf.for %i = %c0 to %c256 step %c32 iter_args(%a = %init) -> (tensor<256xf32>) {
    %s = scf.for %j = %c0 to %c512 step %c32 iter_args(%b = %a) -> (tensor<256xf32>) {
      %t = tensor.extract_slice %b[%i] [32] [1] : tensor<256xf32> to tensor<32xf32>
      %x = tensor.extract_slice %m[%i, %j] [32, 32] [1, 1] : tensor<256x512xf32> to tensor<32x32xf32>
      %u = linalg.reduce {arith.addf} ins(%x : tensor<32x32xf32>) outs(%t : tensor<32xf32>) dimensions = [1]
      %w = tensor.insert_slice %u into %b[%i] [32] [1] : tensor<32xf32> into tensor<256xf32>
      scf.yield %w : tensor<256xf32>
    }
    scf.yield %s : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}

// -----

// SECOND-LABEL: func @keys_outside
func.func @keys_outside(%m: tensor<256x512xf32>, %init: tensor<256xf32>) -> tensor<256xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  // expected-warning @below {{--parallelize does not apply: its outermost loop carries the state from one iteration to the next}}
  %r = scf.for %j = %c0 to %c512 step %c32 iter_args(%a = %init) -> (tensor<256xf32>) {
    %s = scf.for %i = %c0 to %c256 step %c32 iter_args(%b = %a) -> (tensor<256xf32>) {
      %t = tensor.extract_slice %b[%i] [32] [1] : tensor<256xf32> to tensor<32xf32>
      %x = tensor.extract_slice %m[%i, %j] [32, 32] [1, 1] : tensor<256x512xf32> to tensor<32x32xf32>
      %u = linalg.reduce {arith.addf} ins(%x : tensor<32x32xf32>) outs(%t : tensor<32xf32>) dimensions = [1]
      %w = tensor.insert_slice %u into %b[%i] [32] [1] : tensor<32xf32> into tensor<256xf32>
      scf.yield %w : tensor<256xf32>
    }
    scf.yield %s : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}
