// The kernels of --fa1 at level D are right, with rows and with keys divided among teams, and so is each step from there to
// --fa2: odd sizes, grouped heads, rows that see nothing, and several orders of what is under way.

// DEFINE: %{file} = %s
// DEFINE: %{order} =
// DEFINE: %{sizes} = --sizes=Hkv=1,Sq=113,Skv=271 --sizes=B=2,Hq=4,Hkv=2,Sq=5,Skv=2 --sizes=Hq=1,Hkv=1,Sq=70,Skv=20 --sizes=Sq=16,Skv=0
// DEFINE: %{run} = fa-run %{file} --on=sim --check %{sizes} %{order}
// DEFINE: %{keys} = --choose-schedule=partition=split_k --tile

// RUN: %{run} --fa1
// RUN: %{run} --fa1=partition=split_k
// REDEFINE: %{order} = --sim-seed=1
// RUN: %{run} --fa1
// RUN: %{run} --fa1=partition=split_k
// REDEFINE: %{order} = --sim-seed=2 --sim-blocks=2
// RUN: %{run} --fa1=partition=split_k
// RUN: %{run} %{keys} --interchange --pad-tiles --online-softmax --map-warps
// RUN: %{run} %{keys} --interchange --delay-normalization --skip-masked-blocks --pad-tiles --online-softmax --map-warps

// Without a mask, D 128 and bf16.
// RUN: sed -e s/f16/bf16/g -e s/x64x/x128x/g -e 's/using .#attn.causal.//' %s > %t.mlir
// REDEFINE: %{file} = %t.mlir
// RUN: %{run} --fa1=partition=split_k

func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>,
                     %v: tensor<?x?x?x64xf16>, %scale: f32)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      scale(%scale) using [#attn.causal] : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
