// Inputs with large scores, and rows whose scores are all one large number.

// DEFINE: %{run} = fa-run --check --seed=7
// RUN: %{run} %s --fa1 --dist=large:12
// RUN: %{run} %s --fa2 --dist=large:12
// RUN: %{run} %s --fa2 --dist=constant:256
// RUN: sed s/bf16/f32/g %s | %{run} - --fa2 --dist=large:12
// RUN: sed s/bf16/f32/g %s | %{run} - --fa2 --dist=constant:256
// RUN: sed s/bf16/f16/g %s | %{run} - --fa2 --dist=large:12
// RUN: sed s/bf16/f16/g %s | %{run} - --fa2 --dist=constant:256

func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                     %v: tensor<?x?x?x128xbf16>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      using [#attn.causal] : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
