// Sequences of different lengths one after the other, without padding between them and without a batch dimension. The
// mask of each is causal and its own:
//
//   fa-opt examples/packed-sequences.mlir --split-sequences
//   fa-run examples/packed-sequences.mlir --fa2 --check --q-lens=76,34,146 --kv-lens=76,300,146
//   fa-run examples/packed-sequences.mlir --fa2 --check --sizes=B=7 --seed=5
//   fa-run examples/packed-sequences.mlir --fa2 --on=sim --check --q-lens=76,34,146 --kv-lens=76,300,146
//   fa-gen examples/packed-sequences.mlir --arch=sm_80 -o out-packed
//
// The arguments are where each sequence begins, and the end: 0, 76, 110, 256.

func.func @attention(%q: tensor<?x?x64xf16>, %k: tensor<?x?x64xf16>, %v: tensor<?x?x64xf16>,
                     %scale: f32, %cuSeqlensQ: tensor<?xi32>, %cuSeqlensKV: tensor<?xi32>)
    -> (tensor<?x?x64xf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x64xf16>, tensor<?x?x64xf16>, tensor<?x?x64xf16>)
      cu_seqlens(%cuSeqlensQ, %cuSeqlensKV : tensor<?xi32>, tensor<?xi32>)
      scale(%scale) using [#attn.causal] : tensor<?x?x64xf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x64xf16>, tensor<?x?xf32>
}
