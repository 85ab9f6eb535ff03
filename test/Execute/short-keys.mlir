// Packed sequences whose queries are many and whose keys are one each, causal: only a sequence's last query sees a key. And
// sequences without queries, without keys, or without both, with three heads to one of keys; with four, at D = 256.

// RUN: rm -rf %t && split-file %s %t
// RUN: %python %fa_source/scripts/every_pass.py %t/one-key.mlir --sizes=Hq=1,Hkv=1 --q-lens=76,34,146 --kv-lens=1,1,1
// RUN: %python %fa_source/scripts/every_pass.py %t/empty.mlir --sizes=Hq=9,Hkv=3 --q-lens=0,1,0,1 --kv-lens=0,3,0,5
// RUN: %python %fa_source/scripts/every_pass.py %t/empty.mlir --sizes=Hq=3,Hkv=1 --q-lens=2,0,0,7 --kv-lens=0,3,0,70
// RUN: fa-run %t/wide.mlir --check --fa1 --sizes=Hq=4,Hkv=1 --q-lens=0,151,105,0 --kv-lens=317,217,105,384
// RUN: fa-run %t/wide.mlir --check --fa2 --sizes=Hq=4,Hkv=1 --q-lens=0,151,105,0 --kv-lens=317,217,105,384

// Rows without a key are 0, their lse -inf, and the one that sees its sequence's key is that key's value.
// RUN: %python %S/Inputs/npy.py write %t/ones.npy "<f2" 2,2,2 1
// RUN: fa-run %t/tiny.mlir --fa2 --sizes=Hq=2,Hkv=2 --q-lens=2,1,1 --kv-lens=1,1,0 --input=v=%t/ones.npy --output=%t
// RUN: %python %S/Inputs/npy.py print %t/o.npy | FileCheck %s --check-prefix=O
// RUN: %python %S/Inputs/npy.py print %t/lse.npy | FileCheck %s --check-prefix=LSE
// O: (2, 4, 2) 0 0 1 1 1 1 0 0 0 0 1 1 1 1 0 0
// LSE: (2, 4) -inf {{[-0-9.]+ [-0-9.]+}} -inf -inf {{[-0-9.]+ [-0-9.]+}} -inf

//--- one-key.mlir
func.func @attention(%q: tensor<?x?x32xf16>, %k: tensor<?x?x32xf16>, %v: tensor<?x?x32xf16>, %starts: tensor<?xi32>, %ends: tensor<?xi32>) -> (tensor<?x?x32xf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x32xf16>, tensor<?x?x32xf16>, tensor<?x?x32xf16>)
      cu_seqlens(%starts, %ends : tensor<?xi32>, tensor<?xi32>) using [#attn.causal] : tensor<?x?x32xf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x32xf16>, tensor<?x?xf32>
}

//--- empty.mlir
func.func @attention(%q: tensor<?x?x64xbf16>, %k: tensor<?x?x64xbf16>, %v: tensor<?x?x64xbf16>, %starts: tensor<?xi32>, %ends: tensor<?xi32>) -> (tensor<?x?x64xbf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x64xbf16>, tensor<?x?x64xbf16>, tensor<?x?x64xbf16>)
      cu_seqlens(%starts, %ends : tensor<?xi32>, tensor<?xi32>) using [#attn.causal] : tensor<?x?x64xbf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x64xbf16>, tensor<?x?xf32>
}

//--- wide.mlir
func.func @attention(%q: tensor<?x?x256xbf16>, %k: tensor<?x?x256xbf16>, %v: tensor<?x?x256xbf16>, %starts: tensor<?xi32>, %ends: tensor<?xi32>) -> (tensor<?x?x256xbf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x256xbf16>, tensor<?x?x256xbf16>, tensor<?x?x256xbf16>)
      cu_seqlens(%starts, %ends : tensor<?xi32>, tensor<?xi32>) using [#attn.causal] : tensor<?x?x256xbf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x256xbf16>, tensor<?x?xf32>
}

//--- tiny.mlir
func.func @attention(%q: tensor<?x?x2xf16>, %k: tensor<?x?x2xf16>, %v: tensor<?x?x2xf16>, %starts: tensor<?xi32>, %ends: tensor<?xi32>) -> (tensor<?x?x2xf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x2xf16>, tensor<?x?x2xf16>, tensor<?x?x2xf16>)
      cu_seqlens(%starts, %ends : tensor<?xi32>, tensor<?xi32>) using [#attn.causal] : tensor<?x?x2xf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x2xf16>, tensor<?x?xf32>
}
