module {
  func.func @attention(%arg0: tensor<?x?x?x128xbf16>, %arg1: tensor<?x?x?x128xbf16>, %arg2: tensor<?x?x?x128xbf16>, %arg3: f32) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) attributes {attn.schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 128, teams = 2, warps = 4, stages = 2, partition = split_q, rescale = first_max>} {
    %cst = arith.constant 0.000000e+00 : bf16
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 3.000000e+01 : f32
    %cst_2 = arith.constant 0.0333333351 : f32
    %c128 = arith.constant 128 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %dim = tensor.dim %arg0, %c2 : tensor<?x?x?x128xbf16>
    %dim_3 = tensor.dim %arg1, %c2 : tensor<?x?x?x128xbf16>
    %dim_4 = tensor.dim %arg0, %c0 : tensor<?x?x?x128xbf16>
    %dim_5 = tensor.dim %arg0, %c1 : tensor<?x?x?x128xbf16>
    %0 = tensor.empty(%dim_4, %dim_5, %dim) : tensor<?x?x?xf32>
    %1 = tensor.empty(%dim_4, %dim_5, %dim) : tensor<?x?x?x128xbf16>
    %2:2 = scf.forall (%arg4, %arg5, %arg6) = (0, 0, 0) to (%dim, %dim_5, %dim_4) step (128, 1, 1) shared_outs(%arg7 = %1, %arg8 = %0) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
      %dim_6 = tensor.dim %arg1, %c1 : tensor<?x?x?x128xbf16>
      %3 = arith.divui %dim_5, %dim_6 : index
      %4 = arith.divui %arg5, %3 : index
      %5 = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 128)>(%arg4)[%dim]
      %6 = tensor.empty() : tensor<128x128xf32>
      %7 = tensor.empty() : tensor<128xf32>
      %acc, %max, %sum = attn.init outs(%6, %7, %7 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>)
      %extracted_slice = tensor.extract_slice %arg0[%arg6, %arg5, %arg4, 0] [1, 1, %5, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<?x128xbf16>
      %8 = arith.subi %c128, %5 : index
      %padded = tensor.pad %extracted_slice low[0, 0] high[%8, 0] {
      ^bb0(%arg9: index, %arg10: index):
        tensor.yield %cst : bf16
      } : tensor<?x128xbf16> to tensor<128x128xbf16>
      %9 = arith.maxsi %dim_3, %c0 : index
      %10 = arith.maxsi %9, %c0 : index
      %11 = arith.divui %10, %c128 : index
      %12 = arith.muli %11, %c128 : index
      %13:3 = scf.for %arg9 = %c0 to %12 step %c128 iter_args(%arg10 = %acc, %arg11 = %max, %arg12 = %sum) -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
        %extracted_slice_9 = tensor.extract_slice %arg1[%arg6, %4, %arg9, 0] [1, 1, 128, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<128x128xbf16>
        %extracted_slice_10 = tensor.extract_slice %arg2[%arg6, %4, %arg9, 0] [1, 1, 128, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<128x128xbf16>
        %acc_11, %max_12, %sum_13 = attn.update ins(%padded, %extracted_slice_9, %extracted_slice_10 : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xbf16>) at(%arg6, %arg5, %arg4, %arg9) lens(%dim, %dim_3) scale(%arg3) outs(%arg10, %arg11, %arg12 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) score(%arg13, %arg14, %arg15, %arg16, %arg17) {
          %16 = arith.mulf %arg13, %cst_2 : f32
          %17 = math.tanh %16 fastmath<afn> : f32
          %18 = arith.mulf %17, %cst_1 : f32
          attn.yield %18 : f32
        } 
        scf.yield %acc_11, %max_12, %sum_13 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
      }
      %14:3 = scf.for %arg9 = %12 to %9 step %c128 iter_args(%arg10 = %13#0, %arg11 = %13#1, %arg12 = %13#2) -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
        %16 = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 128)>(%arg9)[%dim_3]
        %extracted_slice_9 = tensor.extract_slice %arg1[%arg6, %4, %arg9, 0] [1, 1, %16, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<?x128xbf16>
        %17 = arith.subi %c128, %16 : index
        %padded_10 = tensor.pad %extracted_slice_9 low[0, 0] high[%17, 0] {
        ^bb0(%arg13: index, %arg14: index):
          tensor.yield %cst : bf16
        } : tensor<?x128xbf16> to tensor<128x128xbf16>
        %extracted_slice_11 = tensor.extract_slice %arg2[%arg6, %4, %arg9, 0] [1, 1, %16, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<?x128xbf16>
        %padded_12 = tensor.pad %extracted_slice_11 low[0, 0] high[%17, 0] {
        ^bb0(%arg13: index, %arg14: index):
          tensor.yield %cst : bf16
        } : tensor<?x128xbf16> to tensor<128x128xbf16>
        %acc_13, %max_14, %sum_15 = attn.update ins(%padded, %padded_10, %padded_12 : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xbf16>) at(%arg6, %arg5, %arg4, %arg9) lens(%dim, %dim_3) scale(%arg3) outs(%arg10, %arg11, %arg12 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) score(%arg13, %arg14, %arg15, %arg16, %arg17) {
          %18 = arith.mulf %arg13, %cst_2 : f32
          %19 = math.tanh %18 fastmath<afn> : f32
          %20 = arith.mulf %19, %cst_1 : f32
          attn.yield %20 : f32
        } mask(%arg13, %arg14, %arg15, %arg16) {
          %18 = arith.cmpi slt, %arg16, %dim_3 : index
          attn.yield %18 : i1
        } 
        scf.yield %acc_13, %max_14, %sum_15 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
      }
      %15 = tensor.empty() : tensor<128x128xbf16>
      %o, %lse = attn.finalize ins(%14#0, %14#1, %14#2 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) unit(%cst_0) outs(%15, %7 : tensor<128x128xbf16>, tensor<128xf32>)
      %extracted_slice_7 = tensor.extract_slice %o[0, 0] [%5, 128] [1, 1] : tensor<128x128xbf16> to tensor<?x128xbf16>
      %extracted_slice_8 = tensor.extract_slice %lse[0] [%5] [1] : tensor<128xf32> to tensor<?xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %extracted_slice_7 into %arg7[%arg6, %arg5, %arg4, 0] [1, 1, %5, 128] [1, 1, 1, 1] : tensor<?x128xbf16> into tensor<?x?x?x128xbf16>
        tensor.parallel_insert_slice %extracted_slice_8 into %arg8[%arg6, %arg5, %arg4] [1, 1, %5] [1, 1, 1] : tensor<?xf32> into tensor<?x?x?xf32>
      }
    }
    return %2#0, %2#1 : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}
