// Each pass of the papers' pipelines, with a mask region (a sliding window), a
// score region (a soft cap and a captured bias), Dv other than D, and the
// default scale.

// DEFINE: %{sizes} = --sizes=Hkv=1,Sq=1,Skv=20 --sizes=B=2,Sq=5,Skv=2 --sizes=Hkv=1 --sizes=Sq=128,Skv=1000 --sizes=Sq=1000,Skv=128 --sizes=Sq=0,Skv=16 --sizes=Sq=16,Skv=0
// DEFINE: %{run} = fa-run --check --arg=4=20 --arg=5=70 %{sizes}
// DEFINE: %{fa2} = --tile --interchange --delay-normalization --skip-masked-blocks --pad-tiles --online-softmax

// RUN: sed s/bf16/f32/g %s | %{run} -
// RUN: sed s/bf16/f32/g %s | %{run} - --tile
// RUN: sed s/bf16/f32/g %s | %{run} - --tile --interchange
// RUN: sed s/bf16/f32/g %s | %{run} - --tile --interchange --delay-normalization
// RUN: sed s/bf16/f32/g %s | %{run} - --tile --interchange --delay-normalization --skip-masked-blocks
// RUN: sed s/bf16/f32/g %s | %{run} - --tile --interchange --delay-normalization --skip-masked-blocks --pad-tiles
// RUN: sed s/bf16/f32/g %s | %{run} - %{fa2}
// RUN: sed s/bf16/f32/g %s | %{run} - --fa1
// RUN: sed s/bf16/f32/g %s | %{run} - --fa2
// RUN: sed s/bf16/f16/g %s | %{run} - --fa1
// RUN: sed s/bf16/f16/g %s | %{run} - --fa2
// RUN: %{run} %s --fa1
// RUN: %{run} %s --fa2

func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>,
                     %v: tensor<?x?x?x32xbf16>, %bias: tensor<?x?x?xf32>,
                     %cap: f32, %left: index)
    -> (tensor<?x?x?x32xbf16>, tensor<?x?x?xf32>) {
  %half = arith.constant 5.0e-01 : f32
  %limit = arith.mulf %cap, %half : f32
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x32xbf16>)
      score(%s, %b, %h, %i, %j) {
        %ratio = arith.divf %s, %limit : f32
        %soft = math.tanh %ratio : f32
        %capped = arith.mulf %soft, %limit : f32
        %shift = tensor.extract %bias[%h, %i, %j] : tensor<?x?x?xf32>
        %biased = arith.addf %capped, %shift : f32
        attn.yield %biased : f32
      } mask(%b, %h, %i, %j) {
        %first = arith.subi %i, %left : index
        %after = arith.cmpi sge, %j, %first : index
        %before = arith.cmpi sle, %j, %i : index
        %sees = arith.andi %after, %before : i1
        attn.yield %sees : i1
      } : tensor<?x?x?x32xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x32xbf16>, tensor<?x?x?xf32>
}
