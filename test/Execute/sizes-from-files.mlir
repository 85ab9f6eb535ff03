// Sizes that nothing else gives follow from the files of tensors that regions read, first of those read at one of b, h, i and j, then of
// those read at several, in whatever order they are given. A file may have more than is read.

// DEFINE: %{npy} = %python %S/Inputs/npy.py
// RUN: rm -rf %t && mkdir %t
// RUN: %{npy} write %t/ids.npy "<i4" 500 0,0,1,1
// RUN: %{npy} write %t/rows.npy "<i4" 100 1,1,1,0
// RUN: fa-run %s --check --input=ids=%t/ids.npy --input=rows=%t/rows.npy | FileCheck %s
// RUN: fa-run %s --check --input=rows=%t/rows.npy --input=3=%t/ids.npy | FileCheck %s
// CHECK: B=1,Hq=2,Hkv=2,Sq=100,Skv=500
// CHECK-NEXT: {{^}}o {{.*}}: ok
// RUN: fa-run %s --check --input=ids=%t/ids.npy --sizes=Sq=30,Skv=40 | FileCheck %s --check-prefix=MORE
// MORE: Sq=30,Skv=40
// MORE-NEXT: {{^}}o {{.*}}: ok
// RUN: not fa-run %s --check --input=rows=%t/rows.npy --sizes=Sq=101 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: error: dimension 0 of argument 4 is 100, which is too small: indexes go up to 100

func.func @f(%q: tensor<?x?x?x32xf32>, %k: tensor<?x?x?x32xf32>, %v: tensor<?x?x?x32xf32>, %ids: tensor<?xi32>, %rows: tensor<?xi32>)
    -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : i32
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>)
      mask(%b, %h, %i, %j) {
        %mine = tensor.extract %ids[%i] : tensor<?xi32>
        %its = tensor.extract %ids[%j] : tensor<?xi32>
        %row = tensor.extract %rows[%i] : tensor<?xi32>
        %same = arith.cmpi eq, %mine, %its : i32
        %isOn = arith.cmpi ne, %row, %c0 : i32
        %sees = arith.andi %same, %isOn : i1
        attn.yield %sees : i1
      } : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
}
