// Lengths that fit no block: decoding with 20 keys, and 113, 1000 and 4097 queries and keys.

// RUN: %python %fa_source/scripts/every_pass.py %s --sizes=Sq=1,Skv=20 --sizes=Sq=113,Skv=113 --sizes=Hq=1,Hkv=1,Sq=1,Skv=4097 --sizes=Hq=1,Hkv=1,Sq=17,Skv=1000
// DEFINE: %{sizes} = --sizes=Hq=1,Hkv=1,Sq=1000,Skv=1000 --sizes=Hq=1,Hkv=1,Sq=4097,Skv=4097
// RUN: fa-run %s --check --fa2 %{sizes}
// RUN: fa-run %s --check --fa1 %{sizes}

func.func @attention(%q: tensor<?x?x?x16xbf16>, %k: tensor<?x?x?x16xbf16>, %v: tensor<?x?x?x16xbf16>) -> (tensor<?x?x?x16xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x16xbf16>, tensor<?x?x?x16xbf16>, tensor<?x?x?x16xbf16>) using [#attn.causal] : tensor<?x?x?x16xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x16xbf16>, tensor<?x?x?xf32>
}
