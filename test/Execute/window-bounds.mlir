// Sliding windows: inclusive at both ends, 0 is one key and not "no window", and (S - 1, 0) is causal. The same numbers to the
// bit as the mask that says it in words.

// RUN: rm -rf %t && split-file %s %t
// DEFINE: %{options} = --sizes=Sq=150,Skv=150
// DEFINE: %{passes} = --fa2
// DEFINE: %{same} = fa-run %{passes} %{options} %t/a.mlir --output=%t/a && fa-run %{passes} %{options} %t/b.mlir --output=%t/b && cmp %t/a/o.npy %t/b/o.npy && cmp %t/a/lse.npy %t/b/lse.npy

// All keys up to a query's own.
// RUN: sed "s/WINDOW/#attn.window<left = 149, right = 0>/" %t/window.mlir > %t/a.mlir
// RUN: sed "s/WINDOW/#attn.causal/" %t/window.mlir > %t/b.mlir
// RUN: %{same}
// REDEFINE: %{passes} = --fa1
// RUN: %{same}
// RUN: sed "s/WINDOW/#attn.window<right = 0>/" %t/window.mlir > %t/a.mlir
// RUN: %{same}
// REDEFINE: %{options} = --sizes=Sq=40,Skv=150 --check
// RUN: sed "s/WINDOW/#attn.window<left = 149, right = 0>/" %t/window.mlir > %t/a.mlir
// RUN: %{same}

// Bounds.
// RUN: sed "s/WINDOW/#attn.window<left = 2, right = 1>/" %t/window.mlir > %t/a.mlir
// RUN: sed "s/LEFT/2/; s/RIGHT/1/" %t/words.mlir > %t/b.mlir
// REDEFINE: %{options} = --sizes=Sq=70,Skv=150
// REDEFINE: %{passes} = --fa1
// RUN: %{same}
// REDEFINE: %{passes} = --fa2
// RUN: %{same}
// REDEFINE: %{passes} = --decompose-attention
// RUN: %{same}
// RUN: %python %fa_source/scripts/every_pass.py %t/a.mlir --reference=%t/b.mlir --sizes=Sq=70,Skv=150 --sizes=Sq=150,Skv=70 --sizes=Sq=5,Skv=2
// More queries than keys, with a right bound.
// RUN: sed "s/WINDOW/#attn.window<left = 3, right = 20>/" %t/window.mlir > %t/a.mlir
// RUN: sed "s/LEFT/3/; s/RIGHT/20/" %t/words.mlir > %t/b.mlir
// REDEFINE: %{options} = --sizes=Sq=150,Skv=70
// REDEFINE: %{passes} = --fa1
// RUN: %{same}
// REDEFINE: %{passes} = --fa2
// RUN: %{same}
// REDEFINE: %{passes} = --decompose-attention
// RUN: %{same}
// RUN: %python %fa_source/scripts/every_pass.py %t/a.mlir --reference=%t/b.mlir --sizes=Sq=150,Skv=70 --sizes=Sq=200,Skv=10
// One key: o is its value.
// RUN: sed "s/WINDOW/#attn.window<left = 0, right = 0>/" %t/window.mlir > %t/a.mlir
// RUN: sed "s/LEFT/0/; s/RIGHT/0/" %t/words.mlir > %t/b.mlir
// REDEFINE: %{options} = --sizes=Sq=150,Skv=70
// REDEFINE: %{passes} = --fa1
// RUN: %{same}
// REDEFINE: %{passes} = --fa2
// RUN: %{same}
// REDEFINE: %{passes} = --decompose-attention
// RUN: %{same}
// RUN: %python %fa_source/scripts/every_pass.py %t/a.mlir --reference=%t/b.mlir --sizes=Sq=70,Skv=150 --sizes=Sq=5,Skv=2 --sizes=Sq=150,Skv=150
// RUN: %python %S/Inputs/npy.py write %t/v.npy "<f4" 1,1,3,32 7
// RUN: fa-run %t/a.mlir --fa2 --sizes=Hq=1,Hkv=1,Sq=1,Skv=3 --input=v=%t/v.npy --output=%t
// RUN: %python %S/Inputs/npy.py print %t/o.npy | FileCheck %s
// CHECK: (1, 1, 1, 32) 7 7 7

//--- window.mlir
func.func @attention(%q: tensor<?x?x?x32xf32>, %k: tensor<?x?x?x32xf32>, %v: tensor<?x?x?x32xf32>) -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>)
      using [WINDOW] : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
}

//--- words.mlir
func.func @attention(%q: tensor<?x?x?x32xf32>, %k: tensor<?x?x?x32xf32>, %v: tensor<?x?x?x32xf32>) -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>) {
  %c2 = arith.constant 2 : index
  %left = arith.constant LEFT : index
  %right = arith.constant RIGHT : index
  %sq = tensor.dim %q, %c2 : tensor<?x?x?x32xf32>
  %skv = tensor.dim %k, %c2 : tensor<?x?x?x32xf32>
  %shift = arith.subi %skv, %sq : index
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>)
      mask(%b, %h, %i, %j) {
        %place = arith.addi %i, %shift : index
        %first = arith.subi %place, %left : index
        %last = arith.addi %place, %right : index
        %after = arith.cmpi sge, %j, %first : index
        %before = arith.cmpi sle, %j, %last : index
        %sees = arith.andi %after, %before : i1
        attn.yield %sees : i1
      } : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
}
