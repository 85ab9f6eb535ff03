module {
  func.func @attention(%arg0: tensor<?x?x?x128xbf16>, %arg1: tensor<?x?x?x128xbf16>, %arg2: tensor<?x?x?x128xbf16>, %arg3: f32) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) attributes {attn.schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 128, teams = 2, warps = 4, stages = 2, partition = split_q, rescale = first_max>} {
    %cst = arith.constant 0.000000e+00 : bf16
    %cst_0 = arith.constant 3.000000e+01 : f32
    %cst_1 = arith.constant 0.0333333351 : f32
    %c128 = arith.constant 128 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %dim = tensor.dim %arg0, %c2 : tensor<?x?x?x128xbf16>
    %dim_2 = tensor.dim %arg1, %c2 : tensor<?x?x?x128xbf16>
    %dim_3 = tensor.dim %arg0, %c0 : tensor<?x?x?x128xbf16>
    %dim_4 = tensor.dim %arg0, %c1 : tensor<?x?x?x128xbf16>
    %0 = tensor.empty(%dim_3, %dim_4, %dim) : tensor<?x?x?xf32>
    %1 = tensor.empty(%dim_3, %dim_4, %dim) : tensor<?x?x?x128xbf16>
    %2:2 = scf.forall (%arg4, %arg5, %arg6) = (0, 0, 0) to (%dim, %dim_4, %dim_3) step (128, 1, 1) shared_outs(%arg7 = %1, %arg8 = %0) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
      %dim_5 = tensor.dim %arg1, %c1 : tensor<?x?x?x128xbf16>
      %3 = arith.divui %dim_4, %dim_5 : index
      %4 = arith.divui %arg5, %3 : index
      %5 = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 128)>(%arg4)[%dim]
      %6 = tensor.empty() : tensor<128x128xf32>
      %7 = tensor.empty() : tensor<128xf32>
      %cst_6 = arith.constant 0.000000e+00 : f32
      %8 = linalg.fill ins(%cst_6 : f32) outs(%6 : tensor<128x128xf32>) -> tensor<128x128xf32>
      %cst_7 = arith.constant 0xFF800000 : f32
      %9 = linalg.fill ins(%cst_7 : f32) outs(%7 : tensor<128xf32>) -> tensor<128xf32>
      %10 = linalg.fill ins(%cst_6 : f32) outs(%7 : tensor<128xf32>) -> tensor<128xf32>
      %extracted_slice = tensor.extract_slice %arg0[%arg6, %arg5, %arg4, 0] [1, 1, %5, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<?x128xbf16>
      %11 = arith.subi %c128, %5 : index
      %padded = tensor.pad %extracted_slice low[0, 0] high[%11, 0] {
      ^bb0(%arg9: index, %arg10: index):
        tensor.yield %cst : bf16
      } : tensor<?x128xbf16> to tensor<128x128xbf16>
      %12 = arith.maxsi %dim_2, %c0 : index
      %13 = arith.maxsi %12, %c0 : index
      %14 = arith.divui %13, %c128 : index
      %15 = arith.muli %14, %c128 : index
      %16:3 = scf.for %arg9 = %c0 to %15 step %c128 iter_args(%arg10 = %8, %arg11 = %9, %arg12 = %10) -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
        %extracted_slice_10 = tensor.extract_slice %arg1[%arg6, %4, %arg9, 0] [1, 1, 128, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<128x128xbf16>
        %extracted_slice_11 = tensor.extract_slice %arg2[%arg6, %4, %arg9, 0] [1, 1, 128, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<128x128xbf16>
        %26 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%padded, %extracted_slice_10 : tensor<128x128xbf16>, tensor<128x128xbf16>) outs(%8 : tensor<128x128xf32>) -> tensor<128x128xf32>
        %27 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%26 : tensor<128x128xf32>) {
        ^bb0(%out: f32):
          %38 = linalg.index 0 : index
          %39 = linalg.index 1 : index
          %40 = arith.mulf %out, %arg3 fastmath<contract> : f32
          %41 = arith.mulf %40, %cst_1 fastmath<contract> : f32
          %42 = math.tanh %41 fastmath<contract,afn> : f32
          %43 = arith.mulf %42, %cst_0 fastmath<contract> : f32
          linalg.yield %43 : f32
        } -> tensor<128x128xf32>
        %cst_12 = arith.constant 1.44269502 : f32
        %false = arith.constant false
        %28 = tensor.empty() : tensor<i1>
        %29 = linalg.fill ins(%false : i1) outs(%28 : tensor<i1>) -> tensor<i1>
        %30 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%arg11 : tensor<128xf32>) outs(%29 : tensor<i1>) {
        ^bb0(%in: f32, %out: i1):
          %38 = arith.cmpf oeq, %in, %cst_7 : f32
          %39 = arith.ori %38, %out : i1
          linalg.yield %39 : i1
        } -> tensor<i1>
        %extracted_13 = tensor.extract %30[] : tensor<i1>
        %31 = scf.if %extracted_13 -> (tensor<128xf32>) {
          %38 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%27 : tensor<128x128xf32>) outs(%9 : tensor<128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %40 = arith.maxnumf %in, %out : f32
            linalg.yield %40 : f32
          } -> tensor<128xf32>
          %39 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%38 : tensor<128xf32>) outs(%arg11 : tensor<128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %40 = arith.cmpf oeq, %out, %cst_7 : f32
            %41 = arith.select %40, %in, %out : f32
            linalg.yield %41 : f32
          } -> tensor<128xf32>
          scf.yield %39 : tensor<128xf32>
        } else {
          scf.yield %arg11 : tensor<128xf32>
        } {attn.any_row}
        %32 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%31 : tensor<128xf32>) outs(%7 : tensor<128xf32>) {
        ^bb0(%in: f32, %out: f32):
          %38 = arith.cmpf oeq, %in, %cst_7 : f32
          %39 = arith.mulf %in, %cst_12 : f32
          %40 = arith.select %38, %cst_6, %39 : f32
          linalg.yield %40 : f32
        } -> tensor<128xf32>
        %33 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%32 : tensor<128xf32>) outs(%27 : tensor<128x128xf32>) {
        ^bb0(%in: f32, %out: f32):
          %38 = arith.negf %in : f32
          %39 = math.fma %out, %cst_12, %38 : f32
          %40 = math.exp2 %39 fastmath<afn> : f32
          linalg.yield %40 : f32
        } -> tensor<128x128xf32>
        %34 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%33 : tensor<128x128xf32>) outs(%arg12 : tensor<128xf32>) {
        ^bb0(%in: f32, %out: f32):
          %38 = arith.addf %out, %in : f32
          linalg.yield %38 : f32
        } -> tensor<128xf32>
        %35 = tensor.empty() : tensor<128x128xbf16>
        %36 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%33 : tensor<128x128xf32>) outs(%35 : tensor<128x128xbf16>) {
        ^bb0(%in: f32, %out: bf16):
          %38 = arith.truncf %in : f32 to bf16
          linalg.yield %38 : bf16
        } -> tensor<128x128xbf16>
        %37 = linalg.matmul ins(%36, %extracted_slice_11 : tensor<128x128xbf16>, tensor<128x128xbf16>) outs(%arg10 : tensor<128x128xf32>) -> tensor<128x128xf32>
        scf.yield %37, %31, %34 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
      }
      %17:3 = scf.for %arg9 = %15 to %12 step %c128 iter_args(%arg10 = %16#0, %arg11 = %16#1, %arg12 = %16#2) -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
        %26 = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 128)>(%arg9)[%dim_2]
        %extracted_slice_10 = tensor.extract_slice %arg1[%arg6, %4, %arg9, 0] [1, 1, %26, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<?x128xbf16>
        %27 = arith.subi %c128, %26 : index
        %padded_11 = tensor.pad %extracted_slice_10 low[0, 0] high[%27, 0] {
        ^bb0(%arg13: index, %arg14: index):
          tensor.yield %cst : bf16
        } : tensor<?x128xbf16> to tensor<128x128xbf16>
        %extracted_slice_12 = tensor.extract_slice %arg2[%arg6, %4, %arg9, 0] [1, 1, %26, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<?x128xbf16>
        %padded_13 = tensor.pad %extracted_slice_12 low[0, 0] high[%27, 0] {
        ^bb0(%arg13: index, %arg14: index):
          tensor.yield %cst : bf16
        } : tensor<?x128xbf16> to tensor<128x128xbf16>
        %28 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%padded, %padded_11 : tensor<128x128xbf16>, tensor<128x128xbf16>) outs(%8 : tensor<128x128xf32>) -> tensor<128x128xf32>
        %29 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%28 : tensor<128x128xf32>) {
        ^bb0(%out: f32):
          %40 = linalg.index 0 : index
          %41 = linalg.index 1 : index
          %42 = arith.addi %arg9, %41 : index
          %43 = arith.mulf %out, %arg3 fastmath<contract> : f32
          %44 = arith.mulf %43, %cst_1 fastmath<contract> : f32
          %45 = math.tanh %44 fastmath<contract,afn> : f32
          %46 = arith.mulf %45, %cst_0 fastmath<contract> : f32
          %47 = arith.cmpi slt, %42, %dim_2 : index
          %48 = arith.select %47, %46, %cst_7 : f32
          linalg.yield %48 : f32
        } -> tensor<128x128xf32>
        %cst_14 = arith.constant 1.44269502 : f32
        %false = arith.constant false
        %30 = tensor.empty() : tensor<i1>
        %31 = linalg.fill ins(%false : i1) outs(%30 : tensor<i1>) -> tensor<i1>
        %32 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%arg11 : tensor<128xf32>) outs(%31 : tensor<i1>) {
        ^bb0(%in: f32, %out: i1):
          %40 = arith.cmpf oeq, %in, %cst_7 : f32
          %41 = arith.ori %40, %out : i1
          linalg.yield %41 : i1
        } -> tensor<i1>
        %extracted_15 = tensor.extract %32[] : tensor<i1>
        %33 = scf.if %extracted_15 -> (tensor<128xf32>) {
          %40 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%29 : tensor<128x128xf32>) outs(%9 : tensor<128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %42 = arith.maxnumf %in, %out : f32
            linalg.yield %42 : f32
          } -> tensor<128xf32>
          %41 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%40 : tensor<128xf32>) outs(%arg11 : tensor<128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %42 = arith.cmpf oeq, %out, %cst_7 : f32
            %43 = arith.select %42, %in, %out : f32
            linalg.yield %43 : f32
          } -> tensor<128xf32>
          scf.yield %41 : tensor<128xf32>
        } else {
          scf.yield %arg11 : tensor<128xf32>
        } {attn.any_row}
        %34 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%33 : tensor<128xf32>) outs(%7 : tensor<128xf32>) {
        ^bb0(%in: f32, %out: f32):
          %40 = arith.cmpf oeq, %in, %cst_7 : f32
          %41 = arith.mulf %in, %cst_14 : f32
          %42 = arith.select %40, %cst_6, %41 : f32
          linalg.yield %42 : f32
        } -> tensor<128xf32>
        %35 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%34 : tensor<128xf32>) outs(%29 : tensor<128x128xf32>) {
        ^bb0(%in: f32, %out: f32):
          %40 = arith.negf %in : f32
          %41 = math.fma %out, %cst_14, %40 : f32
          %42 = math.exp2 %41 fastmath<afn> : f32
          linalg.yield %42 : f32
        } -> tensor<128x128xf32>
        %36 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%35 : tensor<128x128xf32>) outs(%arg12 : tensor<128xf32>) {
        ^bb0(%in: f32, %out: f32):
          %40 = arith.addf %out, %in : f32
          linalg.yield %40 : f32
        } -> tensor<128xf32>
        %37 = tensor.empty() : tensor<128x128xbf16>
        %38 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<128x128xf32>) outs(%37 : tensor<128x128xbf16>) {
        ^bb0(%in: f32, %out: bf16):
          %40 = arith.truncf %in : f32 to bf16
          linalg.yield %40 : bf16
        } -> tensor<128x128xbf16>
        %39 = linalg.matmul ins(%38, %padded_13 : tensor<128x128xbf16>, tensor<128x128xbf16>) outs(%arg10 : tensor<128x128xf32>) -> tensor<128x128xf32>
        scf.yield %39, %33, %36 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
      }
      %18 = tensor.empty() : tensor<128x128xbf16>
      %true = arith.constant true
      %19 = tensor.empty() : tensor<i1>
      %20 = linalg.fill ins(%true : i1) outs(%19 : tensor<i1>) -> tensor<i1>
      %21 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%17#2 : tensor<128xf32>) outs(%20 : tensor<i1>) {
      ^bb0(%in: f32, %out: i1):
        %cst_10 = arith.constant 1.84467441E+19 : f32
        %26 = arith.cmpf ole, %in, %cst_10 : f32
        %27 = arith.andi %26, %out : i1
        linalg.yield %27 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %21[] : tensor<i1>
      %22:3 = scf.if %extracted -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
        scf.yield %17#0, %17#1, %17#2 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
      } else {
        %26 = linalg.fill ins(%cst_6 : f32) outs(%17#0 : tensor<128x128xf32>) -> tensor<128x128xf32>
        %27 = linalg.fill ins(%cst_7 : f32) outs(%17#1 : tensor<128xf32>) -> tensor<128xf32>
        %28 = linalg.fill ins(%cst_6 : f32) outs(%17#2 : tensor<128xf32>) -> tensor<128xf32>
        %29:3 = scf.for %arg9 = %c0 to %15 step %c128 iter_args(%arg10 = %26, %arg11 = %27, %arg12 = %28) -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
          %extracted_slice_10 = tensor.extract_slice %arg1[%arg6, %4, %arg9, 0] [1, 1, 128, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<128x128xbf16>
          %extracted_slice_11 = tensor.extract_slice %arg2[%arg6, %4, %arg9, 0] [1, 1, 128, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<128x128xbf16>
          %31 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%padded, %extracted_slice_10 : tensor<128x128xbf16>, tensor<128x128xbf16>) outs(%8 : tensor<128x128xf32>) -> tensor<128x128xf32>
          %32 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%31 : tensor<128x128xf32>) {
          ^bb0(%out: f32):
            %40 = linalg.index 0 : index
            %41 = linalg.index 1 : index
            %42 = arith.mulf %out, %arg3 fastmath<contract> : f32
            %43 = arith.mulf %42, %cst_1 fastmath<contract> : f32
            %44 = math.tanh %43 fastmath<contract,afn> : f32
            %45 = arith.mulf %44, %cst_0 fastmath<contract> : f32
            linalg.yield %45 : f32
          } -> tensor<128x128xf32>
          %cst_12 = arith.constant 1.44269502 : f32
          %33 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%32 : tensor<128x128xf32>) outs(%9 : tensor<128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %40 = arith.maxnumf %in, %out : f32
            linalg.yield %40 : f32
          } -> tensor<128xf32>
          %34:4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%33 : tensor<128xf32>) outs(%arg11, %arg12, %7, %7 : tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>) {
          ^bb0(%in: f32, %out: f32, %out_13: f32, %out_14: f32, %out_15: f32):
            %40 = arith.maxnumf %out, %in : f32
            %41 = arith.cmpf oeq, %40, %cst_7 : f32
            %42 = arith.mulf %40, %cst_12 : f32
            %43 = arith.select %41, %cst_6, %42 : f32
            %44 = arith.mulf %out, %cst_12 : f32
            %45 = arith.subf %44, %43 : f32
            %46 = math.exp2 %45 fastmath<afn> : f32
            %47 = arith.mulf %out_13, %46 : f32
            linalg.yield %40, %47, %43, %46 : f32, f32, f32, f32
          } -> (tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>)
          %35 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%34#2 : tensor<128xf32>) outs(%32 : tensor<128x128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %40 = arith.negf %in : f32
            %41 = math.fma %out, %cst_12, %40 : f32
            %42 = math.exp2 %41 fastmath<afn> : f32
            linalg.yield %42 : f32
          } -> tensor<128x128xf32>
          %36 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%35 : tensor<128x128xf32>) outs(%34#1 : tensor<128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %40 = arith.addf %out, %in : f32
            linalg.yield %40 : f32
          } -> tensor<128xf32>
          %37 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%34#3 : tensor<128xf32>) outs(%arg10 : tensor<128x128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %40 = arith.mulf %out, %in : f32
            linalg.yield %40 : f32
          } -> tensor<128x128xf32>
          %38 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<128x128xf32>) outs(%18 : tensor<128x128xbf16>) {
          ^bb0(%in: f32, %out: bf16):
            %40 = arith.truncf %in : f32 to bf16
            linalg.yield %40 : bf16
          } -> tensor<128x128xbf16>
          %39 = linalg.matmul ins(%38, %extracted_slice_11 : tensor<128x128xbf16>, tensor<128x128xbf16>) outs(%37 : tensor<128x128xf32>) -> tensor<128x128xf32>
          scf.yield %39, %34#0, %36 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
        }
        %30:3 = scf.for %arg9 = %15 to %12 step %c128 iter_args(%arg10 = %29#0, %arg11 = %29#1, %arg12 = %29#2) -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
          %31 = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 128)>(%arg9)[%dim_2]
          %extracted_slice_10 = tensor.extract_slice %arg1[%arg6, %4, %arg9, 0] [1, 1, %31, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<?x128xbf16>
          %32 = arith.subi %c128, %31 : index
          %padded_11 = tensor.pad %extracted_slice_10 low[0, 0] high[%32, 0] {
          ^bb0(%arg13: index, %arg14: index):
            tensor.yield %cst : bf16
          } : tensor<?x128xbf16> to tensor<128x128xbf16>
          %extracted_slice_12 = tensor.extract_slice %arg2[%arg6, %4, %arg9, 0] [1, 1, %31, 128] [1, 1, 1, 1] : tensor<?x?x?x128xbf16> to tensor<?x128xbf16>
          %padded_13 = tensor.pad %extracted_slice_12 low[0, 0] high[%32, 0] {
          ^bb0(%arg13: index, %arg14: index):
            tensor.yield %cst : bf16
          } : tensor<?x128xbf16> to tensor<128x128xbf16>
          %33 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%padded, %padded_11 : tensor<128x128xbf16>, tensor<128x128xbf16>) outs(%8 : tensor<128x128xf32>) -> tensor<128x128xf32>
          %34 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%33 : tensor<128x128xf32>) {
          ^bb0(%out: f32):
            %42 = linalg.index 0 : index
            %43 = linalg.index 1 : index
            %44 = arith.addi %arg9, %43 : index
            %45 = arith.mulf %out, %arg3 fastmath<contract> : f32
            %46 = arith.mulf %45, %cst_1 fastmath<contract> : f32
            %47 = math.tanh %46 fastmath<contract,afn> : f32
            %48 = arith.mulf %47, %cst_0 fastmath<contract> : f32
            %49 = arith.cmpi slt, %44, %dim_2 : index
            %50 = arith.select %49, %48, %cst_7 : f32
            linalg.yield %50 : f32
          } -> tensor<128x128xf32>
          %cst_14 = arith.constant 1.44269502 : f32
          %35 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%34 : tensor<128x128xf32>) outs(%9 : tensor<128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %42 = arith.maxnumf %in, %out : f32
            linalg.yield %42 : f32
          } -> tensor<128xf32>
          %36:4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%35 : tensor<128xf32>) outs(%arg11, %arg12, %7, %7 : tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>) {
          ^bb0(%in: f32, %out: f32, %out_15: f32, %out_16: f32, %out_17: f32):
            %42 = arith.maxnumf %out, %in : f32
            %43 = arith.cmpf oeq, %42, %cst_7 : f32
            %44 = arith.mulf %42, %cst_14 : f32
            %45 = arith.select %43, %cst_6, %44 : f32
            %46 = arith.mulf %out, %cst_14 : f32
            %47 = arith.subf %46, %45 : f32
            %48 = math.exp2 %47 fastmath<afn> : f32
            %49 = arith.mulf %out_15, %48 : f32
            linalg.yield %42, %49, %45, %48 : f32, f32, f32, f32
          } -> (tensor<128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>)
          %37 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%36#2 : tensor<128xf32>) outs(%34 : tensor<128x128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %42 = arith.negf %in : f32
            %43 = math.fma %out, %cst_14, %42 : f32
            %44 = math.exp2 %43 fastmath<afn> : f32
            linalg.yield %44 : f32
          } -> tensor<128x128xf32>
          %38 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%37 : tensor<128x128xf32>) outs(%36#1 : tensor<128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %42 = arith.addf %out, %in : f32
            linalg.yield %42 : f32
          } -> tensor<128xf32>
          %39 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%36#3 : tensor<128xf32>) outs(%arg10 : tensor<128x128xf32>) {
          ^bb0(%in: f32, %out: f32):
            %42 = arith.mulf %out, %in : f32
            linalg.yield %42 : f32
          } -> tensor<128x128xf32>
          %40 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%37 : tensor<128x128xf32>) outs(%18 : tensor<128x128xbf16>) {
          ^bb0(%in: f32, %out: bf16):
            %42 = arith.truncf %in : f32 to bf16
            linalg.yield %42 : bf16
          } -> tensor<128x128xbf16>
          %41 = linalg.matmul ins(%40, %padded_13 : tensor<128x128xbf16>, tensor<128x128xbf16>) outs(%39 : tensor<128x128xf32>) -> tensor<128x128xf32>
          scf.yield %41, %36#0, %38 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
        }
        scf.yield %30#0, %30#1, %30#2 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
      }
      %23 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%22#2 : tensor<128xf32>) outs(%7 : tensor<128xf32>) {
      ^bb0(%in: f32, %out: f32):
        %26 = arith.cmpf oeq, %in, %cst_6 : f32
        %cst_10 = arith.constant 1.000000e+00 : f32
        %27 = arith.divf %cst_10, %in : f32
        %28 = arith.select %26, %cst_6, %27 : f32
        linalg.yield %28 : f32
      } -> tensor<128xf32>
      %24 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%22#0, %23 : tensor<128x128xf32>, tensor<128xf32>) outs(%18 : tensor<128x128xbf16>) {
      ^bb0(%in: f32, %in_10: f32, %out: bf16):
        %26 = arith.mulf %in, %in_10 : f32
        %27 = arith.truncf %26 : f32 to bf16
        linalg.yield %27 : bf16
      } -> tensor<128x128xbf16>
      %25 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%22#1, %22#2 : tensor<128xf32>, tensor<128xf32>) outs(%7 : tensor<128xf32>) {
      ^bb0(%in: f32, %in_10: f32, %out: f32):
        %26 = math.log2 %in_10 fastmath<afn> : f32
        %cst_11 = arith.constant 0.693147182 : f32
        %27 = arith.mulf %26, %cst_11 : f32
        %28 = arith.addf %in, %27 : f32
        %29 = arith.cmpf oeq, %in_10, %cst_6 : f32
        %30 = arith.select %29, %cst_7, %28 : f32
        linalg.yield %30 : f32
      } -> tensor<128xf32>
      %extracted_slice_8 = tensor.extract_slice %24[0, 0] [%5, 128] [1, 1] : tensor<128x128xbf16> to tensor<?x128xbf16>
      %extracted_slice_9 = tensor.extract_slice %25[0] [%5] [1] : tensor<128xf32> to tensor<?xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %extracted_slice_8 into %arg7[%arg6, %arg5, %arg4, 0] [1, 1, %5, 128] [1, 1, 1, 1] : tensor<?x128xbf16> into tensor<?x?x?x128xbf16>
        tensor.parallel_insert_slice %extracted_slice_9 into %arg8[%arg6, %arg5, %arg4] [1, 1, %5] [1, 1, 1] : tensor<?xf32> into tensor<?x?x?xf32>
      }
    }
    return %2#0, %2#1 : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }
}
