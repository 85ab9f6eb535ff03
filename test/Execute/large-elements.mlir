// Every element of q and k is 256 at D = 128: scores of 8.4e6, 7.4e5 when scaled, are over f16's range and stay finite in f32.

// DEFINE: %{every} = %python %fa_source/scripts/every_pass.py
// DEFINE: %{options} = --dist=constant:256 --sizes=Sq=20,Skv=150 --sizes=Sq=5,Skv=2
// RUN: %{every} %s %{options}
// RUN: sed s/f16/bf16/g %s > %t.bf16.mlir
// RUN: %{every} %t.bf16.mlir %{options}
// RUN: sed s/xf16/xf32/g %s > %t.f32.mlir
// RUN: %{every} %t.f32.mlir %{options}

func.func @attention(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>) -> (tensor<?x?x?x128xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>)
      using [#attn.causal] : tensor<?x?x?x128xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xf16>, tensor<?x?x?xf32>
}
