// All cores or one: the same bits, and the same reference. Sequences in packed tensors run one after the other, their
// tiles on all cores.

// RUN: rm -rf %t && mkdir %t
// DEFINE: %{run} = fa-run --optimize=always --check --time --sizes=Sq=200,Skv=300
// RUN: %{run} %s --fa2 --output=%t/all | FileCheck %s
// RUN: %{run} %s --fa2 --output=%t/one --sequential | FileCheck %s
// RUN: cmp %t/all/o.npy %t/one/o.npy
// RUN: cmp %t/all/lse.npy %t/one/lse.npy
// RUN: %{run} %S/packed.mlir --fa2 --output=%t/all | FileCheck %s
// RUN: %{run} %S/packed.mlir --fa2 --output=%t/one --sequential | FileCheck %s
// RUN: cmp %t/all/o.npy %t/one/o.npy
// RUN: cmp %t/all/lse.npy %t/one/lse.npy
// RUN: %{run} %s --fa1 | FileCheck %s
// CHECK: compile {{[0-9.]+}} s
// CHECK-NEXT: Sq=200,Skv=300
// CHECK-NEXT: time {{[0-9.]+}} s, of all cores {{[0-9.]+}} s, buffers {{[0-9.]+}} MiB
// CHECK-NEXT: {{^}}o {{.*}}: ok
// CHECK-NEXT: {{^}}lse {{.*}}: ok

// RUN: fa-run %s --check --progress --optimize=always 2>&1 >%t/out | FileCheck %s --check-prefix=PROGRESS
// PROGRESS: fa-run: compilation, 0.0 s
// PROGRESS: fa-run: float64 reference
// PROGRESS: fa-run: float64 reference, 64 of 64 parts, [[#]].[[#]] s
// PROGRESS: fa-run: naive reference
// PROGRESS: fa-run: run, 0.0 s
// RUN: fa-run %s --check --optimize=always 2>&1 >%t/out | count 0

func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      using [#attn.causal] : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
