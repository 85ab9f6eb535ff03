// Heads of queries that share heads of keys: 1, 3, 4 and 8 to one, and all to one.

// DEFINE: %{every} = %python %fa_source/scripts/every_pass.py
// RUN: %{every} %s --sizes=Hq=3,Hkv=3,Sq=20,Skv=90 --sizes=Hq=6,Hkv=2,Sq=20,Skv=90 --sizes=Hq=8,Hkv=2,Sq=20,Skv=90 --sizes=B=2,Hq=16,Hkv=2,Sq=20,Skv=90 --sizes=Hq=5,Hkv=1,Sq=20,Skv=90
// A query's head takes the values of its group's head.
// RUN: %python %S/Inputs/npy.py write %t.npy "<f4" 1,2,3,1 1,1,1,2,2,2
// RUN: fa-run %s --fa2 --sizes=Hq=6,Sq=1 --input=v=%t.npy --output=%t
// RUN: %python %S/Inputs/npy.py print %t/o.npy | FileCheck %s
// CHECK: (1, 6, 1, 1) 1 1 1 2 2 2{{$}}
// RUN: not fa-run %s --sizes=Hq=5,Hkv=2 2>&1 | FileCheck %s --check-prefix=RATIO
// RATIO: error

func.func @attention(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x64xf32>, %v: tensor<?x?x?x1xf32>) -> (tensor<?x?x?x1xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x1xf32>)
      using [#attn.causal] : tensor<?x?x?x1xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x1xf32>, tensor<?x?x?xf32>
}
