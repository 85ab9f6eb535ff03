// Lengths, documents and caches from .npy files.

// DEFINE: %{npy} = %python %S/Inputs/npy.py
// RUN: rm -rf %t && split-file %s %t

// The sequences begin at row 2 and end before the last: other rows are neither read nor compared.
// RUN: %{npy} write %t/cq.npy "<i8" 4 2,5,5,9
// RUN: %{npy} write %t/ck.npy "<i4" 4 0,1,7,30
// RUN: %{npy} write %t/q.npy "<f4" 2,12,32 0.5,-1,0.25,2
// RUN: fa-run %t/packed.mlir --check --fa2 --input=cu_seqlens_q=%t/cq.npy --input=cu_seqlens_kv=%t/ck.npy --input=q=%t/q.npy | FileCheck %s
// CHECK: B=3,Hq=2,Hkv=2,Sq=4,Skv=23,Tq=12,Tkv=30 --q-lens=3,0,4 --kv-lens=1,6,23
// CHECK-NEXT: {{^}}o {{.*}}: ok
// CHECK-NEXT: {{^}}lse {{.*}}: ok
// CHECK-NEXT: unused rows {{.*}}: ok

// RUN: not fa-run %t/packed.mlir --input=cu_seqlens_q=%t/cq.npy --q-lens=1,2,3 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: --q-lens and '{{.*}}cq.npy' both say where sequences begin
// RUN: not fa-run %t/packed.mlir --input=cu_seqlens_q=%t/cq.npy --kv-lens=1,2 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: --kv-lens fixes B to 2, found 3
// RUN: %{npy} write %t/down.npy "<i4" 3 0,4,3
// RUN: not fa-run %t/packed.mlir --input=cu_seqlens_q=%t/down.npy 2>&1 | FileCheck %s --check-prefix=DOWN
// RUN: %{npy} write %t/down.npy "<i4" 2 " -1,4"
// RUN: not fa-run %t/packed.mlir --input=cu_seqlens_q=%t/down.npy 2>&1 | FileCheck %s --check-prefix=DOWN
// DOWN: error: '{{.*}}down.npy' must begin at 0 or more and not decrease
// RUN: %{npy} write %t/none.npy "<i4" 0 0
// RUN: not fa-run %t/packed.mlir --input=cu_seqlens_q=%t/none.npy 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: '{{.*}}none.npy' must have an entry more than there are sequences, found none
// RUN: %{npy} write %t/long.npy "<i4" 2 0,13
// RUN: not fa-run %t/packed.mlir --input=cu_seqlens_q=%t/long.npy --input=q=%t/q.npy 2>&1 | FileCheck %s --check-prefix=END
// END: error: the sequences end at row 13, which is more than Tq, 12

// What a cache holds beyond its lengths changes no bit of the results.
// RUN: %{npy} write %t/n.npy "<i4" 2 1,3
// RUN: %{npy} write %t/zeros.npy "<f4" 2,1,3,2 1,2,0,0,0,0,5,6,7,8,9,10
// RUN: %{npy} write %t/nans.npy "<f4" 2,1,3,2 1,2,nan,inf,-inf,nan,5,6,7,8,9,10
// DEFINE: %{cache} = fa-run %t/cache.mlir --input=kv_lens=%t/n.npy --sizes=Hq=3,Sq=5
// RUN: %{cache} --input=k=%t/zeros.npy --input=v=%t/zeros.npy --output=%t/zeros
// RUN: %{cache} --input=k=%t/nans.npy --input=v=%t/nans.npy --output=%t/nans
// RUN: cmp %t/zeros/o.npy %t/nans/o.npy
// RUN: cmp %t/zeros/lse.npy %t/nans/lse.npy
// The first batch has one key, so o is its value.
// RUN: %{npy} print %t/nans/o.npy | FileCheck %s --check-prefix=FIRST
// FIRST: <f4 (2, 3, 5, 2) 1 2 1 2 1 2 1 2 1 2 1 2
// RUN: %{npy} write %t/n.npy "<i4" 2 1,-3
// RUN: not fa-run %t/cache.mlir --input=kv_lens=%t/n.npy 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: a length must be from 0 to 2147483647, found -3
// RUN: not fa-run %t/cache.mlir --input=kv_lens=%t/n.npy --kv-lens=1,2 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: --kv-lens and '{{.*}}n.npy' both say how many keys there are

// A table whose size no index tells, read at i + j.
// RUN: not fa-run %t/table.mlir --sizes=Sq=3,Skv=5 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: dimension 0 of argument 2 has an unknown size: {{.*}}; --input=2=FILE.npy gives the tensor
// RUN: %{npy} write %t/table.npy "|u1" 7 0,3,1
// RUN: fa-run %t/table.mlir --check --sizes=Sq=3,Skv=5 --input=2=%t/table.npy

//--- packed.mlir
func.func @f(%q: tensor<?x?x32xf32>, %k: tensor<?x?x32xf32>, %cq: tensor<?xi32>, %ck: tensor<?xi32>)
    -> (tensor<?x?x32xf32>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>)
      cu_seqlens(%cq, %ck : tensor<?xi32>, tensor<?xi32>) : tensor<?x?x32xf32>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x32xf32>, tensor<?x?xf32>
}

//--- cache.mlir
func.func @f(%q: tensor<?x?x?x2xf32>, %k: tensor<?x?x?x2xf32>, %v: tensor<?x?x?x2xf32>, %n: tensor<?xi32>)
    -> (tensor<?x?x?x2xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x2xf32>, tensor<?x?x?x2xf32>, tensor<?x?x?x2xf32>)
      kv_lens(%n : tensor<?xi32>) : tensor<?x?x?x2xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x2xf32>, tensor<?x?x?xf32>
}

//--- table.mlir
func.func @f(%q: tensor<?x?x?x32xf32>, %k: tensor<?x?x?x32xf32>, %table: tensor<?xi32>)
    -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>)
      score(%s, %b, %h, %i, %j) {
        %sum = arith.addi %i, %j : index
        %x = tensor.extract %table[%sum] : tensor<?xi32>
        %y = arith.sitofp %x : i32 to f32
        %0 = arith.addf %s, %y : f32
        attn.yield %0 : f32
      } : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
}
