// Keys that are padding, wherever they are: an integer for each key, 0 where no query may see it. Kernels read no booleans,
// so a mask of bool is converted: mask.int().
//
//   fa-run examples/key-padding.mlir --fa2 --check --sizes=B=2,Sq=100,Skv=300
//   fa-run examples/key-padding.mlir --fa2 --check --input=keep=keep.npy
//   fa-run examples/key-padding.mlir --fa3=rescale=auto --on=sim --check --sizes=Sq=100,Skv=300
//
// keep.npy is an array of integers [B, S], whose sizes the run takes. Without one ids are drawn from 0 on, as of documents.

func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                     %v: tensor<?x?x?x128xbf16>, %scale: f32, %keep: tensor<?x?xi32>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %zero = arith.constant 0 : i32
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale)
      mask(%b, %h, %i, %j) {
        %flag = tensor.extract %keep[%b, %j] : tensor<?x?xi32>
        %sees = arith.cmpi ne, %flag, %zero : i32
        attn.yield %sees : i1
      } : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
