// RUN: not fa-opt --tile --split-kv=splits=4 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: not fa-opt --tile --interchange --split-kv=splits=0 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not fa-opt --tile --interchange --split-kv=splits=many %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: fa-opt --tile --interchange --split-kv=splits=2 --split-kv=splits=2 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not fa-opt --tile --interchange --pad-tiles --split-kv=splits=2 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=PADDED

// COUNT: error: --split-kv takes splits=auto, argument or a number from 1 to 128, found '0'
// MANY: error: --split-kv takes splits=auto, argument or a number from 1 to 128, found 'many'
// TWICE: warning: --split-kv does not apply: the keys are split already
// PADDED: error: --split-kv does not apply: the tiles of o and lse are not stored as they are: run it before --pad-tiles
// INSIDE: error: --split-kv does not apply: the fold is not in a parallel loop over blocks of queries: run --interchange first
func.func @causal(%q: tensor<2x8x?x64xf16>, %k: tensor<2x8x?x64xf16>) -> (tensor<2x8x?x64xf16>, tensor<2x8x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>)
      using [#attn.causal] : tensor<2x8x?x64xf16>, tensor<2x8x?xf32>
  return %o, %lse : tensor<2x8x?x64xf16>, tensor<2x8x?xf32>
}
