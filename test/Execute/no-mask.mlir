// Each pass of the papers' pipelines, on attention without mask or score, for
// each element type. One process serves all sizes.

// DEFINE: %{sizes} = --sizes=Hkv=1,Sq=1,Skv=20 --sizes=B=2,Sq=5,Skv=2 --sizes=Hkv=1 --sizes=Sq=128,Skv=1000 --sizes=Sq=1000,Skv=128 --sizes=Sq=0,Skv=16 --sizes=Sq=16,Skv=0
// DEFINE: %{run} = fa-run --check %{sizes}
// DEFINE: %{fa2} = --tile --interchange --delay-normalization --skip-masked-blocks --pad-tiles --online-softmax

// RUN: %{run} %s
// RUN: %{run} %s --tile
// RUN: %{run} %s --tile --interchange
// RUN: %{run} %s --tile --interchange --delay-normalization
// RUN: %{run} %s --tile --interchange --delay-normalization --skip-masked-blocks
// RUN: %{run} %s --tile --interchange --delay-normalization --skip-masked-blocks --pad-tiles
// RUN: %{run} %s %{fa2}
// RUN: %{run} %s --fa1
// RUN: %{run} %s --fa2
// RUN: sed s/bf16/f16/g %s | %{run} - --fa1
// RUN: sed s/bf16/f16/g %s | %{run} - --fa2
// RUN: sed s/bf16/f32/g %s | %{run} - --fa1
// RUN: sed s/bf16/f32/g %s | %{run} - --fa2

func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>,
                     %v: tensor<?x?x?x64xbf16>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      scale(%scale) : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
