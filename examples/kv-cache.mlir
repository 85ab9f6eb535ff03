// Decoding with a cache: each batch has its own number of keys, what lies behind them is never used. One query is one
// block of queries, so the keys are shared out among parts, which attn.merge folds into one:
//
//   fa-opt examples/kv-cache.mlir --tile --interchange --delay-normalization --skip-masked-blocks --split-kv
//   fa-run examples/kv-cache.mlir --fa2 --check --sizes=B=3,Hq=8,Hkv=1,Sq=1,Skv=700 --kv-lens=700,1,65
//   fa-run examples/kv-cache.mlir --tile --interchange --delay-normalization --skip-masked-blocks --split-kv=splits=4 --pad-tiles --online-softmax --check --sizes=B=2,Hq=8,Hkv=2,Sq=1,Skv=700 --kv-lens=700,65
//   fa-run examples/kv-cache.mlir --fa2=split-kv=4 --on=sim --check --sizes=B=2,Hq=8,Hkv=2,Sq=1,Skv=700 --kv-lens=700,65
//   fa-gen examples/kv-cache.mlir --lengths=decode --arch=sm_80 -o out-cache

func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>,
                     %v: tensor<?x?x?x64xf16>, %scale: f32, %lengths: tensor<?xi32>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      kv_lens(%lengths : tensor<?xi32>)
      scale(%scale) using [#attn.causal] : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
