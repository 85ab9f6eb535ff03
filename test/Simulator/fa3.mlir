// The kernels of --fa3 at level D are right after each of its passes: with and without a mask, windows, grouped heads, odd
// sizes, rows that see nothing, more work items than thread blocks, and many orders of what is under way.

// DEFINE: %{file} = %s
// DEFINE: %{order} =
// DEFINE: %{rescale} = always
// DEFINE: %{sizes} = --sizes=Hkv=1,Sq=213,Skv=371 --sizes=B=2,Hq=4,Hkv=2,Sq=5,Skv=2 --sizes=Hq=1,Hkv=1,Sq=130,Skv=257 --sizes=Hq=1,Hkv=1,Sq=70,Skv=20 --sizes=Sq=0,Skv=16 --sizes=Sq=16,Skv=0
// DEFINE: %{run} = fa-run %{file} --on=sim --check %{sizes} %{order}
// DEFINE: %{mapped} = --choose-schedule="policy=warpgroups target=sm_90a rescale=%{rescale} bc=64" --tile --interchange --delay-normalization --skip-masked-blocks --pad-tiles --online-softmax --map-warps
// DEFINE: %{divided} = %{mapped} --stage-tiles --specialize-warps

// RUN: %{run} %{mapped}
// REDEFINE: %{order} = --sim-seed=1
// RUN: %{run} %{divided}
// RUN: %{run} %{divided} --unroll-stages
// RUN: %{run} %{divided} --ping-pong --persistent
// RUN: %{run} %{divided} --overlap-softmax
// REDEFINE: %{order} = --sim-seed=2 --sim-blocks=2
// RUN: %{run} %{divided} --overlap-softmax --ping-pong
// RUN: %{run} %{divided} --overlap-softmax --ping-pong --persistent
// RUN: %{run} %{divided} --overlap-softmax --ping-pong --persistent=scheduler=dynamic
// REDEFINE: %{order} = --sim-seed=3 --sim-blocks=2
// RUN: %{run} %{divided} --overlap-softmax --ping-pong --persistent --unroll-stages
// RUN: %{run} --fa3
// RUN: %{run} --fa3=stages=1
// RUN: %{run} --fa3="br=128 teams=2 bc=64 stages=3"

// Lazy rescaling, through all of them.
// REDEFINE: %{rescale} = lazy
// RUN: %{run} %{divided} --overlap-softmax --ping-pong --unroll-stages
// RUN: %{run} --fa3=rescale=lazy

// References that stay, and tiles that are done again: at once, and at the end.
// REDEFINE: %{rescale} = first-max
// RUN: %{run} %{mapped}
// RUN: %{run} %{mapped} --dist=large:40
// RUN: %{run} %{mapped} --defer-redo --dist=large:40
// REDEFINE: %{divided} = %{mapped} --defer-redo --stage-tiles --specialize-warps
// RUN: %{run} %{divided} --dist=large:12
// RUN: %{run} %{divided} --overlap-softmax --ping-pong --dist=large:12
// RUN: %{run} %{divided} --overlap-softmax --ping-pong --persistent --unroll-stages --dist=large:40
// RUN: %{run} %{divided} --overlap-softmax --ping-pong --persistent=scheduler=dynamic --dist=large:40
// RUN: %{run} --fa3="rescale=first-max bc=64"
// RUN: %{run} --fa3="rescale=first-max bc=64" --dist=large:40
// RUN: %{run} --fa2=rescale=first-max --dist=large:40
// REDEFINE: %{divided} = %{mapped} --stage-tiles --specialize-warps

// A window, whose full blocks lie between partial ones; D 128 and bf16.
// RUN: sed -e s/f16/bf16/g -e s/x64x/x128x/g -e 's/#attn.causal/#attn.window<left = 150, right = 0>/' %s > %t.window.mlir
// REDEFINE: %{file} = %t.window.mlir
// REDEFINE: %{rescale} = always
// RUN: %{run} %{divided} --overlap-softmax --unroll-stages
// RUN: %{run} --fa3

// RUN: %{run} --fa3="rescale=first-max bc=64" --dist=large:12

// Without a mask.
// RUN: sed -e 's/using .#attn.causal.//' %s > %t.full.mlir
// REDEFINE: %{file} = %t.full.mlir
// RUN: %{run} %{divided} --overlap-softmax
// RUN: %{run} --fa3
// RUN: %{run} --fa3="rescale=first-max bc=64" --dist=large:12

func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>,
                     %v: tensor<?x?x?x64xf16>, %scale: f32)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      scale(%scale) using [#attn.causal] : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
