// Finite scores that hide keys or are large: of a row's first keys, and of whole rows, whose softmax is the mean then. log2(e) times
// such a score is rounded by up to 64 at 1e9 and by more beyond.
// DEFINE: %{size} = -1.0e+10
// DEFINE: %{type} = bf16
// DEFINE: %{how} = --fa2
// DEFINE: %{run} = sed "s/LARGE/%{size}/g; s/TYPE/%{type}/g" %s | fa-run - %{how} --check --sizes=Hq=2,Hkv=1,Sq=70,Skv=300
// RUN: %{run}
// REDEFINE: %{how} = --fa2=rescale=lazy
// RUN: %{run}
// REDEFINE: %{how} = --decompose-attention
// RUN: %{run}
// REDEFINE: %{how} = --fa3 --on=sim
// RUN: %{run}
// REDEFINE: %{how} = --fa3=rescale=first-max --on=sim
// RUN: %{run}
// REDEFINE: %{how} = --fa3=rescale=lazy --on=sim
// RUN: %{run}
// REDEFINE: %{how} = --fa2=split-kv=2
// RUN: %{run}
// REDEFINE: %{type} = f16
// REDEFINE: %{how} = --fa3 --on=sim
// RUN: %{run}
// REDEFINE: %{size} = -1.0e+09
// RUN: %{run}
// REDEFINE: %{size} = -1.3e+08
// RUN: %{run}
// REDEFINE: %{size} = -1.0e+30
// RUN: %{run}
// REDEFINE: %{size} = -8.0e+37
// RUN: %{run}
// REDEFINE: %{size} = -3.4e+38
// RUN: %{run}
// REDEFINE: %{size} = 1.0e+10
// RUN: %{run}
// REDEFINE: %{size} = 3.4e+38
// RUN: %{run}
// REDEFINE: %{how} = --fa2
// RUN: %{run}

func.func @attention(%q: tensor<?x?x?x64xTYPE>, %k: tensor<?x?x?x64xTYPE>, %v: tensor<?x?x?x64xTYPE>, %scale: f32)
    -> (tensor<?x?x?x64xTYPE>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xTYPE>, tensor<?x?x?x64xTYPE>, tensor<?x?x?x64xTYPE>) scale(%scale)
      score(%s, %b, %h, %i, %j) {
        %large = arith.constant LARGE : f32
        %c0 = arith.constant 0 : index
        %c3 = arith.constant 3 : index
        %c200 = arith.constant 200 : index
        %third = arith.remui %i, %c3 : index
        %whole = arith.cmpi eq, %third, %c0 : index
        %first = arith.cmpi ult, %j, %c200 : index
        %is = arith.ori %whole, %first : i1
        %t = arith.select %is, %large, %s : f32
        attn.yield %t : f32
      } : tensor<?x?x?x64xTYPE>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xTYPE>, tensor<?x?x?xf32>
}
