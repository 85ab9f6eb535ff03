// Every rescale policy gives the same numbers, from normal logits to those that make first-max fold twice: causal, with rows
// that see no key (Sq > Skv), and without a mask; in FlashAttention 1's nest too, where the check is of the whole problem. (From large:40 on the rounding of scores to f32 is more than what is allowed in f32.)

// DEFINE: %{sizes} = --sizes=Hkv=1,Sq=17,Skv=1000 --sizes=Sq=113,Skv=271 --sizes=Sq=5,Skv=1 --sizes=Sq=200,Skv=130 --sizes=Sq=16,Skv=0
// RUN: fa-run %s --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=large:12
// RUN: fa-run %s --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=large:40
// RUN: fa-run %s --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=constant:256
// RUN: fa-run %s --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=normal
// RUN: sed s/bf16/f16/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=large:12
// RUN: sed s/bf16/f16/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=large:40
// RUN: sed s/bf16/f16/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=constant:256
// RUN: sed s/bf16/f16/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=normal
// RUN: sed s/bf16/f32/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=large:12
// RUN: sed s/bf16/f32/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=large:30
// RUN: sed s/bf16/f32/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=constant:256
// RUN: sed s/bf16/f32/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=normal
// RUN: fa-run %s --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=large:12
// RUN: fa-run %s --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=large:40
// RUN: fa-run %s --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=constant:256
// RUN: fa-run %s --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=normal
// RUN: sed s/bf16/f16/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=large:12
// RUN: sed s/bf16/f16/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=large:40
// RUN: sed s/bf16/f16/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=constant:256
// RUN: sed s/bf16/f16/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=normal
// RUN: sed s/bf16/f32/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=large:12
// RUN: sed s/bf16/f32/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=large:30
// RUN: sed s/bf16/f32/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=constant:256
// RUN: sed s/bf16/f32/g %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=normal

// DEFINE: %{open} = sed "s/using .#attn.causal.//"
// RUN: %{open} %s | fa-run - --check %{sizes} --fa2=rescale=lazy --dist=large:40
// RUN: %{open} %s | fa-run - --check %{sizes} --fa2=rescale=first-max --dist=large:40
// RUN: %{open} %s | sed s/bf16/f16/g | fa-run - --check %{sizes} --fa2=rescale=lazy --dist=large:40
// RUN: %{open} %s | sed s/bf16/f16/g | fa-run - --check %{sizes} --fa2=rescale=first-max --dist=large:40

// RUN: fa-run %s --check %{sizes} --tile --delay-normalization --pad-tiles --online-softmax=rescale=lazy --dist=large:40
// RUN: fa-run %s --check %{sizes} --tile --delay-normalization --pad-tiles --online-softmax=rescale=first-max --dist=large:40
// RUN: fa-run %s --check %{sizes} --tile --interchange --delay-normalization --online-softmax=rescale=lazy --dist=large:40
// RUN: fa-run %s --check %{sizes} --tile --interchange --delay-normalization --online-softmax=rescale=first-max --dist=large:40
// RUN: fa-run %s --check %{sizes} --tile --delay-normalization --online-softmax=rescale=lazy --interchange --dist=large:40
// RUN: fa-run %s --check %{sizes} --tile --delay-normalization --online-softmax=rescale=first-max --interchange --dist=large:40

// Where a left window opens late, the first block of a row that it sees a key of is not the first block.
// DEFINE: %{window} = sed "s/#attn.causal/#attn.window<left = 40, right = 3>, #attn.softcap<20.0>/"
// RUN: %{window} %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=lazy" --dist=large:40
// RUN: %{window} %s | fa-run - --check %{sizes} --fa2="bc=32 rescale=first-max" --dist=large:40
// RUN: %{window} %s | fa-run - --check %{sizes} --tile --delay-normalization --online-softmax=rescale=first-max --dist=large:40

// Packed sequences, some of them empty.
// RUN: fa-run %S/packed.mlir --check --fa2=rescale=lazy --dist=large:40 --seed=2 --sizes=B=9,Sq=40,Skv=30
// RUN: fa-run %S/packed.mlir --check --fa2=rescale=first-max --dist=large:40 --seed=2 --sizes=B=9,Sq=40,Skv=30

// Parts of the keys, each with references of its own, and lists of blocks.
// RUN: fa-run %s --check %{sizes} --tile --interchange --delay-normalization --split-kv=splits=3 --online-softmax=rescale=lazy --dist=large:40
// RUN: fa-run %S/../../kernels-gen/specs/document.mlir --check --fa2=rescale=lazy --dist=large:40
// RUN: fa-run %S/../../kernels-gen/specs/document.mlir --check --fa2=rescale=first-max --dist=large:40

func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>,
                     %v: tensor<?x?x?x64xbf16>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      using [#attn.causal] : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
