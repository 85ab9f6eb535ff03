// Rows of K and V beyond a batch's keys, or outside every packed sequence, hold NaN and infinities here, and change no bit: 0
// times NaN must not enter through P V. After every pass, with a score and a mask, and with keys in parts.

// RUN: rm -rf %t && split-file %s %t
// RUN: %python %fa_source/scripts/every_pass.py %t/cache.mlir --sizes=Sq=20,Skv=300 --kv-lens=0,65,300,1
// RUN: %python %fa_source/scripts/every_pass.py %t/packed.mlir --q-lens=3,20 --kv-lens=5,150 --sizes=Tq=30,Tkv=170
// RUN: sed s/bf16/f16/g %t/cache.mlir > %t/f16.mlir
// RUN: %python %fa_source/scripts/every_pass.py %t/f16.mlir --dist=large:40 --sizes=Sq=20,Skv=150 --kv-lens=33,0,150

//--- cache.mlir
func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %lens: tensor<?xi32>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      kv_lens(%lens : tensor<?xi32>) using [#attn.window<left = 40>, #attn.softcap<20.0>] : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

//--- packed.mlir
func.func @attention(%q: tensor<?x?x64xbf16>, %k: tensor<?x?x64xbf16>, %v: tensor<?x?x64xbf16>, %starts: tensor<?xi32>, %ends: tensor<?xi32>) -> (tensor<?x?x64xbf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x64xbf16>, tensor<?x?x64xbf16>, tensor<?x?x64xbf16>)
      cu_seqlens(%starts, %ends : tensor<?xi32>, tensor<?xi32>) using [#attn.alibi, #attn.causal] : tensor<?x?x64xbf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x64xbf16>, tensor<?x?xf32>
}
