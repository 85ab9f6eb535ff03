// The kernels of --fa2 at level D are right, after each of the passes that stage copies: D 64 and 128, with and without a
// mask, grouped heads, odd sizes, rows that see nothing, and several orders of what is under way.

// DEFINE: %{file} = %s
// DEFINE: %{order} =
// DEFINE: %{sizes} = --sizes=Hkv=1,Sq=113,Skv=271 --sizes=B=2,Hq=4,Hkv=2,Sq=5,Skv=2 --sizes=Hq=1,Hkv=1,Sq=130,Skv=257 --sizes=Hq=1,Hkv=1,Sq=70,Skv=20 --sizes=Sq=0,Skv=16 --sizes=Sq=16,Skv=0
// DEFINE: %{run} = fa-run %{file} --on=sim --check %{sizes} %{order}
// DEFINE: %{mapped} = --choose-schedule --tile --interchange --delay-normalization --skip-masked-blocks --pad-tiles --online-softmax --map-warps

// RUN: %{run} %{mapped}
// RUN: %{run} %{mapped} --stage-tiles
// RUN: %{run} --fa2
// REDEFINE: %{order} = --sim-seed=1
// RUN: %{run} %{mapped}
// RUN: %{run} --fa2=stages=2
// REDEFINE: %{order} = --sim-seed=2 --sim-blocks=2
// RUN: %{run} --fa2=stages=3

// Without a mask, D 128 and bf16.
// RUN: sed -e s/f16/bf16/g -e s/x64x/x128x/g -e 's/using .#attn.causal.//' %s > %t.mlir
// REDEFINE: %{file} = %t.mlir
// REDEFINE: %{order} = --sim-seed=3
// RUN: %{run} %{mapped}
// RUN: %{run} --fa2
// RUN: %{run} --fa2=stages=2

// The note says where a pipeline ends, and --time what it would take.
// RUN: fa-run %s --fa2 --on=sim --time --sizes=Sq=16,Skv=16 2>&1 | FileCheck %s
// CHECK: the pipeline is run down to level D, before --lower-to-nvvm
// CHECK: blocks 2, the longest {{[1-9][0-9]*}} cycles
// CHECK: o shape 1x2x16x64, sum of finite elements

func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>,
                     %v: tensor<?x?x?x64xf16>, %scale: f32)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      scale(%scale) using [#attn.causal] : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
