// A bias for each head, query and key, which a batch shares: s becomes s + bias[h, i, j].
//
//   fa-opt examples/bias.mlir --fa2=level=arithmetic
//   fa-run examples/bias.mlir --fa2 --check --sizes=B=2,Hq=4,Hkv=2,Sq=100,Skv=300
//   fa-run examples/bias.mlir --fa2 --check --sizes=Hq=2,Hkv=2,Sq=64,Skv=96 --input=4=bias.npy
//
// bias.npy is an array of floats [Hq, Sq, Skv]. Without one the bias is normal.

func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>,
                     %v: tensor<?x?x?x64xf16>, %scale: f32, %bias: tensor<?x?x?xf32>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      scale(%scale)
      score(%s, %b, %h, %i, %j) {
        %e = tensor.extract %bias[%h, %i, %j] : tensor<?x?x?xf32>
        %t = arith.addf %s, %e : f32
        attn.yield %t : f32
      } : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
