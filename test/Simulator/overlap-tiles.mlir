// Items that end in the next one (--overlap-tiles), by several orders of what is under way, with fewer thread blocks than items: rows that
// see nothing before and behind others, items of one block, thread blocks of one item and of none, no rows and no keys; stages that are
// given back; items that are done again; masks of other forms, lists of blocks, and lengths that are data.

// DEFINE: %{file} = %s
// DEFINE: %{options} =
// DEFINE: %{dist} =
// DEFINE: %{sizes} = --sizes=Hq=2,Hkv=1,Sq=300,Skv=400 --sizes=B=2,Hq=4,Hkv=2,Sq=5,Skv=2 --sizes=Hq=1,Hkv=1,Sq=530,Skv=257 --sizes=Hq=1,Hkv=1,Sq=400,Skv=20 --sizes=Sq=0,Skv=16 --sizes=Sq=16,Skv=0
// DEFINE: %{orders} = --on=sim --check --sim-seed=1 --sim-seeds=5 --sim-blocks=2
// DEFINE: %{run} = fa-opt %{file} --fa3="level=cta overlap-tiles=true %{options}" --remarks-filter=overlap-tiles -o /dev/null 2>&1 | FileCheck %s && fa-run %{file} --fa3="overlap-tiles=true %{options}" %{orders} %{sizes} %{dist}
// CHECK: remark: [Passed] items | Category:overlap-tiles

// RUN: %{run}
// REDEFINE: %{options} = rescale=lazy bc=64
// RUN: %{run}
// REDEFINE: %{options} = br=192 teams=3 bc=80 stages=2
// RUN: %{run}
// REDEFINE: %{options} = bc=64 stages=3 ping-pong=false
// RUN: %{run}
// REDEFINE: %{options} = rescale=first-max bc=64
// REDEFINE: %{dist} = --dist=large:40
// RUN: %{run}
// RUN: sed -e 's/using .#attn.causal.//' -e s/f16/bf16/g %s > %t.full.mlir
// REDEFINE: %{file} = %t.full.mlir
// RUN: %{run}
// REDEFINE: %{options} = rescale=auto
// RUN: %{run}
// One thread block does all items.
// REDEFINE: %{orders} = --on=sim --check --sim-seed=3 --sim-seeds=5 --sim-blocks=1
// RUN: %{run}
// REDEFINE: %{orders} = --on=sim --check --sim-seed=6 --sim-seeds=5 --sim-blocks=2
// REDEFINE: %{dist} =

// Other problems.
// REDEFINE: %{sizes} = --sizes=B=2,Hq=2,Hkv=1,Sq=300,Skv=271 --sizes=B=1,Hq=1,Hkv=1,Sq=400,Skv=1100
// REDEFINE: %{file} = %S/../../kernels-gen/specs/window1024.mlir
// RUN: %{run}
// REDEFINE: %{file} = %S/../../kernels-gen/specs/alibi.mlir
// RUN: %{run}
// REDEFINE: %{file} = %S/../../kernels-gen/specs/softcap.mlir
// RUN: %{run}
// REDEFINE: %{file} = %S/../../kernels-gen/specs/document.mlir
// RUN: %{run}
// REDEFINE: %{file} = %S/../../kernels-gen/specs/prefix-lm.mlir
// RUN: %{run}
// A bias, by tiles of each team; in its own schedule Q has one stage.
// REDEFINE: %{file} = %S/../../kernels-gen/specs/bias.mlir
// REDEFINE: %{options} = bc=48 stages=2
// RUN: %{run}
// Queries and keys of another dimension than values.
// RUN: sed -e 's/\([qk]: tensor<?x?x?x\)64/\196/g' -e 's/: tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, /: tensor<?x?x?x96xf16>, tensor<?x?x?x96xf16>, /' %s > %t.dims.mlir
// REDEFINE: %{file} = %t.dims.mlir
// REDEFINE: %{options} = rescale=auto bc=64
// RUN: %{run}
// REDEFINE: %{options} = rescale=auto
// REDEFINE: %{sizes} = --q-lens=0,300,0,1,129 --kv-lens=40,0,7,257,128 --sizes=Hq=4,Hkv=2
// REDEFINE: %{file} = %S/../../kernels-gen/specs/packed.mlir
// RUN: %{run}
// REDEFINE: %{sizes} = --sizes=B=4,Hq=2,Sq=65,Skv=128 --kv-lens=0,1,17,128
// REDEFINE: %{file} = %S/../../kernels-gen/specs/cache.mlir
// RUN: %{run}

// In other orders of the passes, and handed out as blocks become free.
// DEFINE: %{mapped} = --choose-schedule="policy=warpgroups target=sm_90a bc=64" --tile --interchange --delay-normalization --skip-masked-blocks --pad-tiles --online-softmax --map-warps --stage-tiles --specialize-warps
// DEFINE: %{passes} = fa-run %s %{mapped} --on=sim --check --sim-seed=1 --sim-seeds=5 --sim-blocks=2 --sizes=Hq=2,Hkv=1,Sq=300,Skv=400
// RUN: %{passes} --overlap-softmax --persistent=scheduler=dynamic --overlap-tiles
// RUN: %{passes} --trim-teams --overlap-softmax --persistent --overlap-tiles --unroll-stages --ping-pong

func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>,
                     %v: tensor<?x?x?x64xf16>, %scale: f32)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      scale(%scale) using [#attn.causal] : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
