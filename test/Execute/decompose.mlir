// Standard attention on whole tensors: each element type, grouped heads, rows that see no key, masks and scores.

// DEFINE: %{sizes} = --sizes=Hkv=1,Sq=17,Skv=1000 --sizes=B=2,Hq=4,Hkv=2,Sq=113,Skv=271 --sizes=Sq=5,Skv=1 --sizes=Sq=200,Skv=130 --sizes=Sq=0,Skv=16 --sizes=Sq=16,Skv=0
// DEFINE: %{run} = fa-run - --check %{sizes} --decompose-attention
// RUN: %{run} < %s
// RUN: %{run} --dist=large:40 < %s
// RUN: %{run} --dist=constant:256 < %s
// RUN: sed s/bf16/f16/g %s | %{run}
// RUN: sed s/bf16/f32/g %s | %{run}
// RUN: sed "s/using .#attn.causal.//" %s | %{run}
// RUN: sed "s/#attn.causal/#attn.window<left = 40, right = 3>, #attn.softcap<20.0>, #attn.alibi/" %s | %{run}

// Sequences of different lengths, packed or not; one sequence.
// RUN: fa-run %S/packed.mlir --check --decompose-attention --seed=2 --sizes=B=1 --sizes=B=9,Sq=40,Skv=30 --sizes=B=0
// RUN: fa-run %S/kv-lens.mlir --check --decompose-attention
// RUN: fa-run %S/one-sequence.mlir --check --decompose-attention --sizes=Hkv=1,Sq=17,Skv=100

// The whole scores and weights, 4 MiB each for 2 heads in f32, and little else.
// RUN: sed s/bf16/f32/g %s | fa-run - --decompose-attention --time --sizes=B=1,Hq=2,Hkv=2,Sq=512,Skv=1024 | FileCheck %s
// CHECK: buffers 8.{{[0-9]+}} MiB

func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>,
                     %v: tensor<?x?x?x64xbf16>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      using [#attn.causal] : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
