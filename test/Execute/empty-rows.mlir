// Rows that see no key: O is 0 and lse exactly -inf. Queries before the first key (causal, 5 queries and 2 keys), a mask that is
// false in whole rows, one that is false everywhere, and no keys at all; with states of parts that are all empty merged.

// RUN: rm -rf %t && split-file %s %t
// RUN: %python %fa_source/scripts/every_pass.py %t/causal.mlir --sizes=Sq=5,Skv=2 --sizes=Sq=200,Skv=1 --sizes=Sq=3,Skv=0 --sizes=Sq=0,Skv=3 --sizes=B=0 --sizes=B=0,Sq=0,Skv=0
// RUN: %python %fa_source/scripts/every_pass.py %t/rows.mlir --sizes=Sq=12,Skv=7 --sizes=Sq=70,Skv=300
// RUN: %python %fa_source/scripts/every_pass.py %t/never.mlir --sizes=Sq=5,Skv=2 --sizes=Sq=70,Skv=300
// RUN: %python %fa_source/scripts/every_pass.py %t/packed.mlir --sizes=B=0

// DEFINE: %{print} = %python %S/Inputs/npy.py print
// DEFINE: %{split} = --tile --interchange --delay-normalization --skip-masked-blocks --split-kv=splits=2 --pad-tiles
// RUN: fa-run %t/causal.mlir --fa2 --sizes=Hq=1,Hkv=1,Sq=4,Skv=1 --output=%t
// RUN: %{print} %t/o.npy | FileCheck %s --check-prefix=O
// RUN: %{print} %t/lse.npy | FileCheck %s --check-prefix=LSE
// RUN: fa-run %t/causal.mlir --fa1 --sizes=Hq=1,Hkv=1,Sq=4,Skv=1 --output=%t
// RUN: %{print} %t/o.npy | FileCheck %s --check-prefix=O
// RUN: %{print} %t/lse.npy | FileCheck %s --check-prefix=LSE
// O: (1, 1, 4, 4) 0 0 0 0 0 0 0 0 0 0 0 0 {{[-0-9.]+ [-0-9.]+ [-0-9.]+ [-0-9.]+$}}
// LSE: (1, 1, 4) -inf -inf -inf {{[-0-9.]+$}}
// RUN: fa-run %t/never.mlir %{split} --sizes=Hq=1,Hkv=1,Sq=2,Skv=300 --output=%t
// RUN: %{print} %t/o.npy | FileCheck %s --check-prefix=MERGED-O
// RUN: %{print} %t/lse.npy | FileCheck %s --check-prefix=MERGED-LSE
// MERGED-O: (1, 1, 2, 4) 0 0 0 0 0 0 0 0{{$}}
// MERGED-LSE: (1, 1, 2) -inf -inf{{$}}

//--- causal.mlir
func.func @attention(%q: tensor<?x?x?x4xf32>, %k: tensor<?x?x?x4xf32>, %v: tensor<?x?x?x4xf32>) -> (tensor<?x?x?x4xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>) using [#attn.causal] : tensor<?x?x?x4xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x4xf32>, tensor<?x?x?xf32>
}

//--- rows.mlir
// Every third query sees nothing, which no loop bound can say.
func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %c3 = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      mask(%b, %h, %i, %j) {
        %rest = arith.remui %i, %c3 : index
        %sees = arith.cmpi ne, %rest, %c0 : index
        attn.yield %sees : i1
      } : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

//--- never.mlir
func.func @attention(%q: tensor<?x?x?x4xf32>, %k: tensor<?x?x?x4xf32>, %v: tensor<?x?x?x4xf32>) -> (tensor<?x?x?x4xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>)
      mask(%b, %h, %i, %j) {
        %never = arith.constant false
        attn.yield %never : i1
      } : tensor<?x?x?x4xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x4xf32>, tensor<?x?x?xf32>
}

//--- packed.mlir
func.func @attention(%q: tensor<?x?x32xf32>, %k: tensor<?x?x32xf32>, %v: tensor<?x?x32xf32>, %starts: tensor<?xi32>, %ends: tensor<?xi32>) -> (tensor<?x?x32xf32>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>)
      cu_seqlens(%starts, %ends : tensor<?xi32>, tensor<?xi32>) using [#attn.causal] : tensor<?x?x32xf32>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x32xf32>, tensor<?x?xf32>
}
