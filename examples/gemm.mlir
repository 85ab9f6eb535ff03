// A matrix product with an epilogue, D = relu(A B + bias): a program of level C that is no attention. One thread block
// makes 64 x 64 elements of D, by two warps of 32 rows each; A may have any number of rows.
//
//   fa-opt examples/gemm.mlir --map-warps --stage-tiles --prefetch     # what a thread block does
//   fa-gen examples/gemm.mlir -o out-gemm                                   # a kernel: mma.sync, cp.async
//   fa-run examples/gemm.mlir --shape=a=333x256 --arg=2=0.5 --output=case   # tensors, and what must come out, by the CPU
//   fa-bench run out-gemm --program=gemm --data=case               # on the GPU, and compared with that

#schedule = #attn.schedule<target = "sm_80", br = 64, bc = 64, teams = 2, warps = 1, stages = 2, partition = split_q>
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i)[m] -> (-i + m, 64)>

func.func @gemm(%a: tensor<?x256xf16>, %b: tensor<256x512xf16>, %bias: f32) -> tensor<?x512xf16> attributes {attn.schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %zero16 = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x256xf16>
  %empty = tensor.empty(%m) : tensor<?x512xf16>
  %d = scf.forall (%i, %j) = (0, 0) to (%m, 512) step (64, 64) shared_outs(%out = %empty) -> (tensor<?x512xf16>) {
    %n = affine.min #rows(%i)[%m]
    %start = tensor.empty() : tensor<64x64xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
    // The sum over blocks of 64 columns of A and rows of B.
    %product = scf.for %k = %c0 to %c256 step %c64 iter_args(%sum = %zeros) -> tensor<64x64xf32> {
      %part = tensor.extract_slice %a[%i, %k] [%n, 64] [1, 1] : tensor<?x256xf16> to tensor<?x64xf16>
      %missing = arith.subi %c64, %n : index
      %at = tensor.pad %part low[0, 0] high[%missing, 0] {
      ^bb0(%x: index, %y: index):
        tensor.yield %zero16 : f16
      } : tensor<?x64xf16> to tensor<64x64xf16>
      %bt = tensor.extract_slice %b[%k, %j] [64, 64] [1, 1] : tensor<256x512xf16> to tensor<64x64xf16>
      %next = linalg.matmul ins(%at, %bt : tensor<64x64xf16>, tensor<64x64xf16>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    // The epilogue, on registers.
    %tile = tensor.empty() : tensor<64x64xf16>
    %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<64x64xf32>) outs(%tile : tensor<64x64xf16>) {
    ^bb0(%x: f32, %y: f16):
      %shifted = arith.addf %x, %bias : f32
      %positive = arith.maximumf %shifted, %zero : f32
      %narrow = arith.truncf %positive : f32 to f16
      linalg.yield %narrow : f16
    } -> tensor<64x64xf16>
    %cut = tensor.extract_slice %relu[0, 0] [%n, 64] [1, 1] : tensor<64x64xf16> to tensor<?x64xf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %cut into %out[%i, %j] [%n, 64] [1, 1] : tensor<?x64xf16> into tensor<?x512xf16>
    }
  }
  return %d : tensor<?x512xf16>
}
