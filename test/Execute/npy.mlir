// Tensors from .npy files and into them. Sizes follow from the files.

// DEFINE: %{npy} = %python %S/Inputs/npy.py
// RUN: rm -rf %t && mkdir %t
// q is 0, so each of the two keys has weight 1/2: o is the mean of the rows of v, lse log(2).
// RUN: %{npy} write %t/q.npy "<f4" 1,1,2,4 0
// RUN: %{npy} write %t/k.npy "<f4" 1,1,2,4 1,2,3,4,5,6,7,8
// RUN: %{npy} write %t/v.npy "<f4" 1,1,2,4 1,2,3,4,5,6,7,8
// RUN: fa-run %s --check --input=q=%t/q.npy --input=1=%t/k.npy --input=arg2=%t/v.npy --output=%t/f32 | FileCheck %s
// CHECK: B=1,Hq=1,Hkv=1,Sq=2,Skv=2
// CHECK-NEXT: {{^}}o {{.*}}: ok
// RUN: %{npy} print %t/f32/o.npy | FileCheck %s --check-prefix=MEAN
// MEAN: <f4 (1, 1, 2, 4) 3 4 5 6 3 4 5 6
// RUN: %{npy} print %t/f32/lse.npy | FileCheck %s --check-prefix=LSE
// LSE: <f4 (1, 1, 2) 0.693147 0.693147

// The other types of floats, and versions of the format. bf16 is written as float32.
// RUN: %{npy} write %t/q.npy "<f2" 1,1,2,4 0
// RUN: %{npy} write %t/k.npy "<f8" 1,1,2,4 1 --version 2
// RUN: %{npy} write %t/v.npy "<f4" 1,1,2,4 1,2,3,4,5,6,7,8 --version 3
// DEFINE: %{files} = --input=q=%t/q.npy --input=k=%t/k.npy --input=v=%t/v.npy
// RUN: sed s/x4xf32/x4xf16/g %s > %t/f16.mlir
// RUN: fa-run %t/f16.mlir --check --fa2 %{files} --output=%t/f16
// RUN: %{npy} print %t/f16/o.npy | FileCheck %s --check-prefix=F16
// F16: <f2 (1, 1, 2, 4) 3 4 5 6 3 4 5 6
// RUN: sed s/f16/bf16/g %t/f16.mlir > %t/bf16.mlir
// RUN: fa-run %t/bf16.mlir --check --fa2 %{files} --output=%t/bf16
// RUN: %{npy} print %t/bf16/o.npy | FileCheck %s --check-prefix=MEAN
// 16256 is 1 in bf16. A dictionary may have its keys in any order.
// RUN: %{npy} write %t/bits.npy "|V2" 1,1,2,4 16256 --header "{ 'shape': (1,1,2,4,), 'fortran_order':False,\"descr\": '<V2'}"
// RUN: fa-run %t/bf16.mlir --check --input=v=%t/bits.npy --output=%t/bits
// RUN: %{npy} print %t/bits/o.npy | FileCheck %s --check-prefix=ONES
// ONES: <f4 (1, 2, 113, 4) 1 1
// ONES-NOT: 0

func.func @attention(%q: tensor<?x?x?x4xf32>, %k: tensor<?x?x?x4xf32>, %v: tensor<?x?x?x4xf32>)
    -> (tensor<?x?x?x4xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>)
      : tensor<?x?x?x4xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x4xf32>, tensor<?x?x?xf32>
}
