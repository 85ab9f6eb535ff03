// Several documents in one sequence: a query sees the keys of its own document up to its own position. The ids are an
// argument, so which blocks a query block sees is known at run time only, and becomes lists:
//
//   fa-opt examples/document-mask.mlir --fa2=level=blocks
//   fa-run examples/document-mask.mlir --fa2 --check --sizes=B=2,Sq=300,Skv=300
//   fa-run examples/document-mask.mlir --fa2 --check --input=ids=ids.npy
//
// ids.npy is an array of integers [B, S], numpy.save("ids.npy", ids), whose sizes the run takes. Without one the ids rise by 1 about every 32nd key.

func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>,
                     %v: tensor<?x?x?x64xf16>, %scale: f32, %ids: tensor<?x?xi32>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      scale(%scale) using [#attn.causal]
      mask(%b, %h, %i, %j) {
        %di = tensor.extract %ids[%b, %i] : tensor<?x?xi32>
        %dj = tensor.extract %ids[%b, %j] : tensor<?x?xi32>
        %sees = arith.cmpi eq, %di, %dj : i32
        attn.yield %sees : i1
      } : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
