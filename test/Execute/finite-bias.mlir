// A bias near the least finite number is a score and not a mask: a row of nothing else is the mean of V, and columns of it add
// nothing to the others.

// RUN: rm -rf %t && split-file %s %t
// RUN: %python %fa_source/scripts/every_pass.py %t/columns.mlir --sizes=Sq=70,Skv=441
// RUN: sed s/f16/bf16/g %t/columns.mlir > %t/bf16.mlir
// RUN: %python %fa_source/scripts/every_pass.py %t/bf16.mlir --sizes=Sq=441,Skv=441
// RUN: %python %fa_source/scripts/every_pass.py %t/rows.mlir --sizes=Sq=70,Skv=441 --sizes=Sq=3,Skv=2 --sizes=Sq=1,Skv=1
// RUN: sed s/4xf32/4xf16/g %t/rows.mlir > %t/f16.mlir
// RUN: %python %fa_source/scripts/every_pass.py %t/f16.mlir --sizes=Sq=70,Skv=441

// RUN: %python %S/Inputs/npy.py write %t/v.npy "<f4" 1,1,4,4 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
// DEFINE: %{run} = fa-run %t/rows.mlir --sizes=Hq=1,Hkv=1,Sq=2,Skv=4 --input=v=%t/v.npy --output=%t
// RUN: %{run} --fa1 && %python %S/Inputs/npy.py print %t/o.npy | FileCheck %s
// RUN: %{run} --fa2 && %python %S/Inputs/npy.py print %t/o.npy | FileCheck %s
// RUN: %{run} --decompose-attention && %python %S/Inputs/npy.py print %t/o.npy | FileCheck %s
// CHECK: (1, 1, 2, 4) 7 8 9 10

//--- columns.mlir
// The first 128 columns.
func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %c128 = arith.constant 128 : index
  %least = arith.constant -3.4e+38 : f32
  %zero = arith.constant 0.0 : f32
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      score(%s, %b, %h, %i, %j) {
        %early = arith.cmpi slt, %j, %c128 : index
        %bias = arith.select %early, %least, %zero : f32
        %t = arith.addf %s, %bias : f32
        attn.yield %t : f32
      } : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}

//--- rows.mlir
// Every second query, from the first on.
func.func @attention(%q: tensor<?x?x?x4xf32>, %k: tensor<?x?x?x4xf32>, %v: tensor<?x?x?x4xf32>) -> (tensor<?x?x?x4xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %least = arith.constant -3.4e+38 : f32
  %zero = arith.constant 0.0 : f32
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>)
      score(%s, %b, %h, %i, %j) {
        %rest = arith.remui %i, %c2 : index
        %even = arith.cmpi eq, %rest, %c0 : index
        %bias = arith.select %even, %least, %zero : f32
        %t = arith.addf %s, %bias : f32
        attn.yield %t : f32
      } : tensor<?x?x?x4xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x4xf32>, tensor<?x?x?xf32>
}
