// RUN: fa-opt --tile --skip-masked-blocks %s -verify-diagnostics -o /dev/null

// With the Q loop inside, the blocks that a KV block meets change inside its loop.
func.func @kv_outside(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x64xf16>) -> tensor<1x4x?x64xf16> {
  // expected-warning @+1 {{--skip-masked-blocks does not apply}}
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
      using [#attn.causal] : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf16>
}
