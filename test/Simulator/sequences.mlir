// Caches and packed sequences as thread blocks run them. Keys past a cache's length, and rows of no sequence, hold NaN and
// infinities. The lengths are those that other implementations were reported to fault on: rows without a key, sequences
// without rows or keys, a cache of three rows of which one counts.
// RUN: split-file %s %t
// RUN: fa-run %t/cache.mlir --fa2=br=64 --on=sim --check --sizes=B=2,Skv=3 --kv-lens=1,3 | FileCheck %s
// RUN: fa-run %t/cache.mlir --fa2=br=64 --on=sim --check --sizes=B=3,Hq=4,Sq=33,Skv=200 --kv-lens=0,17,200 --sim-seed=3 | FileCheck %s
// RUN: fa-run %t/packed.mlir --fa2=br=64 --on=sim --check --q-lens=76,34,146 --kv-lens=1,1,1 | FileCheck %s
// RUN: fa-run %t/packed.mlir --fa2=br=64 --on=sim --check --q-lens=0,1,0,1 --kv-lens=0,3,0,5 --sizes=Hq=9,Hkv=3 | FileCheck %s
// RUN: fa-run %t/packed.mlir --fa2=br=64 --on=sim --check --q-lens=0,300,210,0 --kv-lens=530,400,210,70 | FileCheck %s
// RUN: fa-run %t/packed.mlir --fa2=br=64 --on=sim --check --q-lens=65,0,0,64,63,1 --kv-lens=0,9,0,64,128,129 --sim-seed=7 | FileCheck %s

// By --fa3, in twenty orders, with fewer thread blocks than items.
// DEFINE: %{lens} =
// DEFINE: %{fa3} = fa-run %t/packed.mlir --fa3=rescale=auto --on=sim --check %{lens} --sim-seed=1 --sim-seeds=20 --sim-blocks=3 | FileCheck %s
// REDEFINE: %{lens} = --q-lens=1,17,113 --kv-lens=1,17,113
// RUN: %{fa3}
// REDEFINE: %{lens} = --q-lens=0,300,0,1,129 --kv-lens=40,0,7,257,128 --sizes=Hq=4,Hkv=2
// RUN: %{fa3}
// REDEFINE: %{lens} = --q-lens=76,34,146 --kv-lens=1,1,1
// RUN: %{fa3}
// REDEFINE: %{lens} = --q-lens=17,0,113,4 --kv-lens=17,0,113,4
// RUN: %{fa3}
// REDEFINE: %{lens} = --q-lens=128,256 --kv-lens=256,128
// RUN: %{fa3}
// RUN: fa-run %t/cache.mlir --fa3=rescale=auto --on=sim --check --sizes=B=4,Hq=2,Sq=65,Skv=128 --kv-lens=0,1,17,128 --sim-seed=1 --sim-seeds=20 --sim-blocks=3 | FileCheck %s
// RUN: fa-run %t/cache.mlir --fa3=rescale=auto --on=sim --check --sizes=B=3,Hq=4,Sq=33,Skv=200 --kv-lens=0,17,200 --sim-seed=1 --sim-seeds=20 --sim-blocks=3 | FileCheck %s

// CHECK: o {{.*}}: ok
// CHECK: lse {{.*}}: ok

//--- cache.mlir
func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %scale: f32, %lens: tensor<?xi32>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      kv_lens(%lens : tensor<?xi32>) scale(%scale) using [#attn.causal] : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
//--- packed.mlir
func.func @attention(%q: tensor<?x?x64xf16>, %k: tensor<?x?x64xf16>, %v: tensor<?x?x64xf16>, %scale: f32, %cq: tensor<?xi32>, %ck: tensor<?xi32>)
    -> (tensor<?x?x64xf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x64xf16>, tensor<?x?x64xf16>, tensor<?x?x64xf16>)
      cu_seqlens(%cq, %ck : tensor<?xi32>, tensor<?xi32>) scale(%scale) using [#attn.causal] : tensor<?x?x64xf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x64xf16>, tensor<?x?xf32>
}
