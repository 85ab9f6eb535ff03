// RUN: not fa-opt --tile --skip-masked-blocks %s -o /dev/null 2>&1 | FileCheck %s

// CHECK: error: --skip-masked-blocks does not apply: the Q block changes inside the KV loop: run --interchange first
// With the Q loop inside, the blocks that a KV block meets change inside its loop.
func.func @kv_outside(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x64xf16>) -> tensor<1x4x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
      using [#attn.causal] : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf16>
}
