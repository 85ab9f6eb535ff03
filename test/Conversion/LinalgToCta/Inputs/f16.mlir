func.func @attention(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x64xf16>) -> (tensor<1x4x?x64xf16>, tensor<1x4x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
      : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
  return %o, %lse : tensor<1x4x?x64xf16>, tensor<1x4x?xf32>
}
