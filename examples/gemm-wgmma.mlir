// The product of gemm.mlir in bf16 for Hopper: two teams of four warps, each with 64 of a block's 128 rows, whose
// products are wgmma; a role of its own loads tiles by tensor maps, and blocks take several tiles.
//
//   fa-opt examples/gemm-wgmma.mlir --map-warps --stage-tiles --specialize-warps --persistent
//   fa-gen examples/gemm-wgmma.mlir --arch=sm_90a -o out-gemm-wgmma
//   fa-run examples/gemm-wgmma.mlir --shape=a=333x512 --arg=2=0.5 --output=case
//   fa-bench run out-gemm-wgmma --program=gemm_wgmma --data=case

#schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 64, teams = 2, warps = 4, stages = 3, partition = split_q>
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i)[m] -> (-i + m, 128)>

func.func @gemm_wgmma(%a: tensor<?x512xbf16>, %b: tensor<512x512xbf16>, %bias: f32) -> tensor<?x512xbf16> attributes {attn.schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %zero16 = arith.constant 0.0 : bf16
  %m = tensor.dim %a, %c0 : tensor<?x512xbf16>
  %empty = tensor.empty(%m) : tensor<?x512xbf16>
  %d = scf.forall (%i, %j) = (0, 0) to (%m, 512) step (128, 128) shared_outs(%out = %empty) -> (tensor<?x512xbf16>) {
    %n = affine.min #rows(%i)[%m]
    %start = tensor.empty() : tensor<128x128xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%start : tensor<128x128xf32>) -> tensor<128x128xf32>
    // The sum over blocks of 64 columns of A and rows of B.
    %product = scf.for %k = %c0 to %c512 step %c64 iter_args(%sum = %zeros) -> tensor<128x128xf32> {
      %part = tensor.extract_slice %a[%i, %k] [%n, 64] [1, 1] : tensor<?x512xbf16> to tensor<?x64xbf16>
      %missing = arith.subi %c128, %n : index
      %at = tensor.pad %part low[0, 0] high[%missing, 0] {
      ^bb0(%x: index, %y: index):
        tensor.yield %zero16 : bf16
      } : tensor<?x64xbf16> to tensor<128x64xbf16>
      %bt = tensor.extract_slice %b[%k, %j] [64, 128] [1, 1] : tensor<512x512xbf16> to tensor<64x128xbf16>
      %next = linalg.matmul ins(%at, %bt : tensor<128x64xbf16>, tensor<64x128xbf16>) outs(%sum : tensor<128x128xf32>) -> tensor<128x128xf32>
      scf.yield %next : tensor<128x128xf32>
    }
    // The epilogue, on registers.
    %tile = tensor.empty() : tensor<128x128xbf16>
    %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<128x128xf32>) outs(%tile : tensor<128x128xbf16>) {
    ^bb0(%x: f32, %y: bf16):
      %shifted = arith.addf %x, %bias : f32
      %positive = arith.maximumf %shifted, %zero : f32
      %narrow = arith.truncf %positive : f32 to bf16
      linalg.yield %narrow : bf16
    } -> tensor<128x128xbf16>
    %cut = tensor.extract_slice %relu[0, 0] [%n, 128] [1, 1] : tensor<128x128xbf16> to tensor<?x128xbf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %cut into %out[%i, %j] [%n, 128] [1, 1] : tensor<?x128xbf16> into tensor<?x512xbf16>
    }
  }
  return %d : tensor<?x512xbf16>
}
