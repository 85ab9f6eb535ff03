// When first-max folds twice: not for normal logits, and for large ones. Without the check large logits overflow; with the
// exact fold broken normal ones do not show it.

// RUN: fa-opt %s --fa2="br=64 bc=64 level=arithmetic rescale=first-max" > %t.mlir
// DEFINE: %{sizes} = --sizes=Hq=1,Hkv=1,Sq=64,Skv=512
// DEFINE: %{run} = fa-run - --reference=%s --check %{sizes}

// RUN: %{run} < %t.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: %{run} --dist=large:40 < %t.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}o max error {{.*}}: ok

// No sum is refused.
// RUN: sed 's/3.275200e+04/0x7F800000/' %t.mlir > %t.unchecked.mlir
// RUN: %{run} < %t.unchecked.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: not %{run} --dist=large:40 < %t.unchecked.mlir | FileCheck %s --check-prefix=WRONG
// WRONG: {{^}}o max error {{.*}}: WRONG

// The fold behind the check, the second half of the file, takes e for 2.
// RUN: sed '/3.275200e+04/,$ s/math.exp2/math.exp/' %t.mlir > %t.broken.mlir
// RUN: %{run} < %t.broken.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: not %{run} --dist=large:40 < %t.broken.mlir | FileCheck %s --check-prefix=WRONG

func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>,
                     %v: tensor<?x?x?x64xf16>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      using [#attn.causal] : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
