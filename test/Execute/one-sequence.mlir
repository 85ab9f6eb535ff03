// One sequence without a batch dimension: the sizes are Hq, Hkv, Sq and Skv.

// DEFINE: %{run} = fa-run --check --sizes=Hq=4,Sq=1,Skv=20 --sizes=Sq=5,Skv=2 --sizes=Hkv=1,Sq=128,Skv=1000 --sizes=Sq=0
// RUN: %{run} %s | FileCheck %s
// RUN: %{run} %s --tile | FileCheck %s
// RUN: %{run} %s --fa1 | FileCheck %s
// RUN: sed s/f16/f32/g %s | %{run} - --fa2 | FileCheck %s
// CHECK: {{^}}B=1,Hq=4,Hkv=2,Sq=1,Skv=20{{$}}
// CHECK-NEXT: {{^}}o max error {{.*}}: ok
// CHECK-NEXT: {{^}}lse max error {{.*}}: ok
// CHECK-NEXT: Sq=5,Skv=2
// CHECK: Sq=128,Skv=1000
// CHECK: Sq=0,Skv=271

// RUN: fa-run %s --sizes=Sq=7 | FileCheck %s --check-prefix=SHAPE
// SHAPE: {{^}}o shape 2x7x64
// SHAPE-NEXT: {{^}}lse shape 2x7,
// RUN: not fa-run %s --sizes=B=2 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: error: q without a batch dimension fixes B to 1, found 2

func.func @attention(%q: tensor<?x?x64xf16>, %k: tensor<?x?x64xf16>, %v: tensor<?x?x64xf16>)
    -> (tensor<?x?x64xf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x64xf16>, tensor<?x?x64xf16>, tensor<?x?x64xf16>)
      using [#attn.causal] : tensor<?x?x64xf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x64xf16>, tensor<?x?xf32>
}
