// Tensors that a region reads: floats of each rank, integers of each type. Sizes come from the indexes.

// RUN: split-file %s %t
// RUN: fa-run %t/documents.mlir --check | FileCheck %s
// RUN: fa-run %t/documents.mlir --check --fa2 --sizes=Sq=200,Skv=90 | FileCheck %s
// RUN: sed s/i32/i8/g %t/documents.mlir | fa-run - --check --fa2 | FileCheck %s
// RUN: sed s/i32/i64/g %t/documents.mlir | fa-run - --check --fa2 | FileCheck %s
// RUN: sed s/i32/index/g %t/documents.mlir | fa-run - --check --fa2 | FileCheck %s
// RUN: fa-run %t/mask.mlir --check | FileCheck %s
// RUN: fa-run %t/mask.mlir --check --fa2 --sizes=B=3,Hq=4 | FileCheck %s
// RUN: fa-run %t/bias.mlir --check | FileCheck %s
// RUN: fa-run %t/bias.mlir --check --fa2 --sizes=B=2,Hq=6,Sq=30,Skv=150 | FileCheck %s
// CHECK: {{^}}o {{.*}}: ok
// CHECK-NEXT: {{^}}lse {{.*}}: ok

// RUN: not fa-run %t/sum.mlir 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: error: dimension 0 of argument 1 has an unknown size: it is dynamic, and not every index at which a region reads it is b, h, i, j or a constant
// RUN: not fa-run %t/small.mlir 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: error: dimension 0 of argument 1 is 100, which is too small: indexes go up to 112
// RUN: sed s/100xf32/113xf32/g %t/small.mlir | fa-run - --check
// RUN: sed s/i32/i4/g %t/documents.mlir | not fa-run - 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: argument 2 must be a scalar or a tensor of floats, or of integers of 1, 8, 16, 32 or 64 bits, found 'tensor<?x?xi4>'

//--- documents.mlir
// One tensor is read at i and at j: it is as long as the longer one.
func.func @f(%q: tensor<?x?x?x32xf32>, %k: tensor<?x?x?x32xf32>, %ids: tensor<?x?xi32>)
    -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>)
      mask(%b, %h, %i, %j) {
        %mine = tensor.extract %ids[%b, %i] : tensor<?x?xi32>
        %its = tensor.extract %ids[%b, %j] : tensor<?x?xi32>
        %same = arith.cmpi eq, %mine, %its : i32
        attn.yield %same : i1
      } : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
}

//--- mask.mlir
func.func @f(%q: tensor<?x?x?x32xf32>, %k: tensor<?x?x?x32xf32>, %bits: tensor<?x?x?x?xi1>)
    -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>)
      mask(%b, %h, %i, %j) {
        %sees = tensor.extract %bits[%b, %h, %i, %j] : tensor<?x?x?x?xi1>
        attn.yield %sees : i1
      } : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
}

//--- bias.mlir
// Ranks 0 to 2, one at an index that was cast and at a constant.
func.func @f(%q: tensor<?x?x?x32xf32>, %k: tensor<?x?x?x32xf32>, %one: tensor<f32>, %heads: tensor<?xf32>,
             %rows: tensor<?x?xf32>) -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>) {
  %c3 = arith.constant 3 : index
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>)
      score(%s, %b, %h, %i, %j) {
        %x = tensor.extract %one[] : tensor<f32>
        %y = tensor.extract %heads[%h] : tensor<?xf32>
        %narrow = arith.index_cast %j : index to i32
        %wide = arith.index_cast %narrow : i32 to index
        %z = tensor.extract %rows[%c3, %wide] : tensor<?x?xf32>
        %0 = arith.mulf %s, %x : f32
        %1 = arith.addf %0, %y : f32
        %2 = arith.addf %1, %z : f32
        attn.yield %2 : f32
      } : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
}

//--- sum.mlir
func.func @f(%q: tensor<?x?x?x32xf32>, %table: tensor<?xf32>, %k: tensor<?x?x?x32xf32>)
    -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>)
      score(%s, %b, %h, %i, %j) {
        %sum = arith.addi %i, %j : index
        %x = tensor.extract %table[%sum] : tensor<?xf32>
        %y = tensor.extract %table[%i] : tensor<?xf32>
        %0 = arith.addf %s, %x : f32
        %1 = arith.addf %0, %y : f32
        attn.yield %1 : f32
      } : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
}

//--- small.mlir
func.func @f(%q: tensor<?x?x?x32xf32>, %table: tensor<100xf32>, %k: tensor<?x?x?x32xf32>)
    -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>)
      score(%s, %b, %h, %i, %j) {
        %x = tensor.extract %table[%i] : tensor<100xf32>
        %0 = arith.addf %s, %x : f32
        attn.yield %0 : f32
      } : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
}
