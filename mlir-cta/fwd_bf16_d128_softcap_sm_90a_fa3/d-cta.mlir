module {
  gpu.module @attention_kernels {
    gpu.func @attention(%arg0: memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, %arg1: memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, %arg2: memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, %arg3: f32, %arg4: memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, %arg5: memref<?x?x?xf32, strided<[?, ?, 1]>, #gpu.address_space<global>>) kernel attributes {attn.schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 128, teams = 2, warps = 4, stages = 2, partition = split_q, rescale = first_max>, cta.extents = [#cta.extent<arg = 4, dim = 2, tile = 128>, #cta.extent<arg = 4, dim = 1, tile = 1>, #cta.extent<arg = 4, dim = 0, tile = 1>], cta.stages = 2 : i64} {
      %0 = cta.barrier : !cta.barrier<2>
      %cst = arith.constant dense<0.000000e+00> : vector<64x128xbf16>
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %c64 = arith.constant 64 : index
      %cst_0 = arith.constant dense<true> : vector<64xi1>
      %cst_1 = arith.constant dense<0.000000e+00> : vector<64x128xf32>
      %cst_2 = arith.constant dense<0xFF800000> : vector<64xf32>
      %cst_3 = arith.constant dense<0.000000e+00> : vector<64xf32>
      %cst_4 = arith.constant dense<0.0333333351> : vector<64x128xf32>
      %cst_5 = arith.constant dense<3.000000e+01> : vector<64x128xf32>
      %cst_6 = arith.constant dense<1.44269502> : vector<64xf32>
      %cst_7 = arith.constant dense<1.44269502> : vector<64x128xf32>
      %cst_8 = arith.constant dense<0xFF800000> : vector<64x128xf32>
      %cst_9 = arith.constant dense<1.84467441E+19> : vector<64xf32>
      %cst_10 = arith.constant dense<1.000000e+00> : vector<64xf32>
      %cst_11 = arith.constant dense<0.693147182> : vector<64xf32>
      %cst_12 = arith.constant dense<0.000000e+00> : vector<64x8xf32>
      %1 = cta.ring each(2) : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
      %2 = cta.ring : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
      %3 = cta.ring : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
      %dim = memref.dim %arg0, %c2 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>
      %dim_13 = memref.dim %arg1, %c2 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>
      %dim_14 = memref.dim %arg0, %c0 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>
      %dim_15 = memref.dim %arg0, %c1 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>
      %4 = arith.ceildivui %dim, %c128 : index
      cta.role "load" teams(%arg6 in 1) warps(4) regs(24) {
        cta.work (%arg7, %arg8, %arg9) in (%4, %dim_15, %dim_14) order(#cta.order<natural, persistent = static>) {
          %5 = arith.muli %arg7, %c128 : index
          %dim_16 = memref.dim %arg1, %c1 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>
          %6 = arith.divui %dim_15, %dim_16 : index
          %7 = arith.divui %arg8, %6 : index
          %8 = arith.addi %5, %c64 : index
          %9 = cta.acquire %1[%c0] : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
          cta.copy %arg0[%arg9, %arg8, %5, %c0] to %9 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<64x128xbf16, swizzle = 128>
          %10 = cta.acquire %1[%c1] : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
          cta.copy %arg0[%arg9, %arg8, %8, %c0] to %10 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<64x128xbf16, swizzle = 128>
          %11 = arith.maxsi %dim_13, %c0 : index
          %12 = arith.maxsi %11, %c0 : index
          %13 = arith.divui %12, %c128 : index
          %14 = arith.muli %13, %c128 : index
          scf.for %arg10 = %c0 to %14 step %c128 {
            %15 = cta.acquire %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.copy %arg1[%arg9, %7, %arg10, %c0] to %15 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<128x128xbf16, swizzle = 128>
            %16 = cta.acquire %3 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.copy %arg2[%arg9, %7, %arg10, %c0] to %16 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<128x128xbf16, swizzle = 128>
          }
          scf.for %arg10 = %14 to %11 step %c128 {
            %15 = cta.acquire %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.copy %arg1[%arg9, %7, %arg10, %c0] to %15 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<128x128xbf16, swizzle = 128>
            %16 = cta.acquire %3 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.copy %arg2[%arg9, %7, %arg10, %c0] until %dim_13 to %16 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<128x128xbf16, swizzle = 128>
          }
        }
        cta.work marked (%arg7, %arg8, %arg9) in (%4, %dim_15, %dim_14) order(#cta.order<natural, persistent = static>) {
          %5 = arith.muli %arg7, %c128 : index
          %dim_16 = memref.dim %arg1, %c1 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>
          %6 = arith.divui %dim_15, %dim_16 : index
          %7 = arith.divui %arg8, %6 : index
          %8 = arith.addi %5, %c64 : index
          %9 = cta.acquire %1[%c0] : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
          cta.copy %arg0[%arg9, %arg8, %5, %c0] to %9 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<64x128xbf16, swizzle = 128>
          %10 = cta.acquire %1[%c1] : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
          cta.copy %arg0[%arg9, %arg8, %8, %c0] to %10 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<64x128xbf16, swizzle = 128>
          %11 = arith.maxsi %dim_13, %c0 : index
          %12 = arith.maxsi %11, %c0 : index
          %13 = arith.divui %12, %c128 : index
          %14 = arith.muli %13, %c128 : index
          scf.for %arg10 = %c0 to %14 step %c128 {
            %15 = cta.acquire %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.copy %arg1[%arg9, %7, %arg10, %c0] to %15 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<128x128xbf16, swizzle = 128>
            %16 = cta.acquire %3 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.copy %arg2[%arg9, %7, %arg10, %c0] to %16 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<128x128xbf16, swizzle = 128>
          }
          scf.for %arg10 = %14 to %11 step %c128 {
            %15 = cta.acquire %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.copy %arg1[%arg9, %7, %arg10, %c0] to %15 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<128x128xbf16, swizzle = 128>
            %16 = cta.acquire %3 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.copy %arg2[%arg9, %7, %arg10, %c0] until %dim_13 to %16 : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, !cta.tile<128x128xbf16, swizzle = 128>
          }
        }
      }
      cta.role "compute" teams(%arg6 in 2) warps(4) regs(240) {
        %c1_16 = arith.constant 1 : index
        %c2_17 = arith.constant 2 : index
        %5 = arith.addi %arg6, %c1_16 : index
        %6 = arith.remui %5, %c2_17 : index
        %c1_18 = arith.constant 1 : index
        %7 = arith.cmpi eq, %arg6, %c1_18 : index
        scf.if %7 {
          %c0_20 = arith.constant 0 : index
          cta.arrive %0[%c0_20] : !cta.barrier<2>
        }
        cta.work (%arg7, %arg8, %arg9) in (%4, %dim_15, %dim_14) order(#cta.order<natural, persistent = static>) {
          %9 = arith.muli %arg7, %c128 : index
          %10 = arith.muli %arg6, %c64 : index
          %11 = arith.addi %9, %10 : index
          %12 = arith.maxsi %dim_13, %c0 : index
          %13 = arith.maxsi %12, %c0 : index
          %14 = arith.divui %13, %c128 : index
          %15 = arith.muli %14, %c128 : index
          %16 = cta.consume %1 : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
          %17 = arith.cmpi sgt, %15, %c0 : index
          %18 = arith.addi %15, %c128 : index
          %19 = arith.select %17, %15, %18 : index
          %20 = arith.cmpi slt, %15, %12 : index
          %21 = arith.ori %17, %20 : i1
          %22:4 = scf.if %17 -> (vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>) {
            %40 = cta.consume %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            %41 = cta.mma %16, transpose %40 : !cta.tile<64x128xbf16, swizzle = 128>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            %42 = cta.wait %41 : !cta.flight<64x128xf32>
            cta.release %40 : !cta.tile<128x128xbf16, swizzle = 128>
            %43 = vector.broadcast %arg3 : f32 to vector<64x128xf32>
            %44 = arith.mulf %42, %43 fastmath<contract> : vector<64x128xf32>
            %45 = arith.mulf %44, %cst_4 fastmath<contract> : vector<64x128xf32>
            %46 = math.tanh %45 fastmath<contract,afn> : vector<64x128xf32>
            %47 = arith.mulf %46, %cst_5 fastmath<contract> : vector<64x128xf32>
            %48 = arith.cmpf oeq, %cst_2, %cst_2 : vector<64xf32>
            %49 = cta.if_any %48 : vector<64xi1> -> (vector<64xf32>) {
              %60 = vector.multi_reduction <maxnumf>, %47, %cst_2 [1] : vector<64x128xf32> to vector<64xf32>
              %61 = arith.select %48, %60, %cst_2 : vector<64xi1>, vector<64xf32>
              cta.yield %61 : vector<64xf32>
            } else {
              cta.yield %cst_2 : vector<64xf32>
            }
            %50 = arith.cmpf oeq, %49, %cst_2 : vector<64xf32>
            %51 = arith.mulf %49, %cst_6 : vector<64xf32>
            %52 = arith.select %50, %cst_3, %51 : vector<64xi1>, vector<64xf32>
            %53 = arith.negf %52 : vector<64xf32>
            %54 = vector.shape_cast %53 : vector<64xf32> to vector<64x1xf32>
            %55 = vector.broadcast %54 : vector<64x1xf32> to vector<64x128xf32>
            %56 = math.fma %47, %cst_7, %55 : vector<64x128xf32>
            %57 = math.exp2 %56 fastmath<afn> : vector<64x128xf32>
            %58 = cta.fold %57 onto %cst_12 : vector<64x128xf32>, vector<64x8xf32>
            %59 = arith.truncf %57 : vector<64x128xf32> to vector<64x128xbf16>
            scf.yield %cst_1, %49, %58, %59 : vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>
          } else {
            %40:4 = scf.if %20 -> (vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>) {
              %41 = cta.consume %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
              %42 = cta.mma %16, transpose %41 : !cta.tile<64x128xbf16, swizzle = 128>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
              %43 = cta.wait %42 : !cta.flight<64x128xf32>
              cta.release %41 : !cta.tile<128x128xbf16, swizzle = 128>
              %44 = arith.index_cast %15 : index to i32
              %45 = cta.col %44 : vector<1x128xi32>
              %46 = vector.broadcast %arg3 : f32 to vector<64x128xf32>
              %47 = arith.mulf %43, %46 fastmath<contract> : vector<64x128xf32>
              %48 = arith.mulf %47, %cst_4 fastmath<contract> : vector<64x128xf32>
              %49 = math.tanh %48 fastmath<contract,afn> : vector<64x128xf32>
              %50 = arith.mulf %49, %cst_5 fastmath<contract> : vector<64x128xf32>
              %51 = arith.index_cast %dim_13 : index to i32
              %52 = vector.broadcast %51 : i32 to vector<1x128xi32>
              %53 = arith.cmpi slt, %45, %52 : vector<1x128xi32>
              %54 = vector.broadcast %53 : vector<1x128xi1> to vector<64x128xi1>
              %55 = arith.select %54, %50, %cst_8 : vector<64x128xi1>, vector<64x128xf32>
              %56 = arith.cmpf oeq, %cst_2, %cst_2 : vector<64xf32>
              %57 = cta.if_any %56 : vector<64xi1> -> (vector<64xf32>) {
                %68 = vector.multi_reduction <maxnumf>, %55, %cst_2 [1] : vector<64x128xf32> to vector<64xf32>
                %69 = arith.select %56, %68, %cst_2 : vector<64xi1>, vector<64xf32>
                cta.yield %69 : vector<64xf32>
              } else {
                cta.yield %cst_2 : vector<64xf32>
              }
              %58 = arith.cmpf oeq, %57, %cst_2 : vector<64xf32>
              %59 = arith.mulf %57, %cst_6 : vector<64xf32>
              %60 = arith.select %58, %cst_3, %59 : vector<64xi1>, vector<64xf32>
              %61 = arith.negf %60 : vector<64xf32>
              %62 = vector.shape_cast %61 : vector<64xf32> to vector<64x1xf32>
              %63 = vector.broadcast %62 : vector<64x1xf32> to vector<64x128xf32>
              %64 = math.fma %55, %cst_7, %63 : vector<64x128xf32>
              %65 = math.exp2 %64 fastmath<afn> : vector<64x128xf32>
              %66 = cta.fold %65 onto %cst_12 : vector<64x128xf32>, vector<64x8xf32>
              %67 = arith.truncf %65 : vector<64x128xf32> to vector<64x128xbf16>
              scf.yield %cst_1, %57, %66, %67 : vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>
            } else {
              scf.yield %cst_1, %cst_2, %cst_12, %cst : vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>
            }
            scf.yield %40#0, %40#1, %40#2, %40#3 : vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>
          }
          %23:4 = scf.for %arg10 = %c128 to %15 step %c128 iter_args(%arg11 = %22#0, %arg12 = %22#1, %arg13 = %22#2, %arg14 = %22#3) -> (vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>) {
            %40 = cta.consume %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.sync %0[%arg6] : !cta.barrier<2>
            %41 = cta.mma %16, transpose %40 : !cta.tile<64x128xbf16, swizzle = 128>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            %42 = cta.consume %3 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            %43 = cta.mma %arg14, %42 into %arg11 : vector<64x128xbf16>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            cta.arrive %0[%6] : !cta.barrier<2>
            %44 = cta.wait %41 pending 1 : !cta.flight<64x128xf32>
            cta.release %40 : !cta.tile<128x128xbf16, swizzle = 128>
            %45 = vector.broadcast %arg3 : f32 to vector<64x128xf32>
            %46 = arith.mulf %44, %45 fastmath<contract> : vector<64x128xf32>
            %47 = arith.mulf %46, %cst_4 fastmath<contract> : vector<64x128xf32>
            %48 = math.tanh %47 fastmath<contract,afn> : vector<64x128xf32>
            %49 = arith.mulf %48, %cst_5 fastmath<contract> : vector<64x128xf32>
            %50 = arith.cmpf oeq, %arg12, %cst_2 : vector<64xf32>
            %51 = cta.if_any %50 : vector<64xi1> -> (vector<64xf32>) {
              %63 = vector.multi_reduction <maxnumf>, %49, %cst_2 [1] : vector<64x128xf32> to vector<64xf32>
              %64 = arith.select %50, %63, %arg12 : vector<64xi1>, vector<64xf32>
              cta.yield %64 : vector<64xf32>
            } else {
              cta.yield %arg12 : vector<64xf32>
            }
            %52 = arith.cmpf oeq, %51, %cst_2 : vector<64xf32>
            %53 = arith.mulf %51, %cst_6 : vector<64xf32>
            %54 = arith.select %52, %cst_3, %53 : vector<64xi1>, vector<64xf32>
            %55 = arith.negf %54 : vector<64xf32>
            %56 = vector.shape_cast %55 : vector<64xf32> to vector<64x1xf32>
            %57 = vector.broadcast %56 : vector<64x1xf32> to vector<64x128xf32>
            %58 = math.fma %49, %cst_7, %57 : vector<64x128xf32>
            %59 = math.exp2 %58 fastmath<afn> : vector<64x128xf32>
            %60 = cta.fold %59 onto %arg13 : vector<64x128xf32>, vector<64x8xf32>
            %61 = cta.wait %43 : !cta.flight<64x128xf32>
            cta.release %42 : !cta.tile<128x128xbf16, swizzle = 128>
            %62 = arith.truncf %59 : vector<64x128xf32> to vector<64x128xbf16>
            scf.yield %61, %51, %60, %62 : vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>
          }
          %24:4 = scf.for %arg10 = %19 to %12 step %c128 iter_args(%arg11 = %23#0, %arg12 = %23#1, %arg13 = %23#2, %arg14 = %23#3) -> (vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>) {
            %40 = cta.consume %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.sync %0[%arg6] : !cta.barrier<2>
            %41 = cta.mma %16, transpose %40 : !cta.tile<64x128xbf16, swizzle = 128>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            %42 = cta.consume %3 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            %43 = cta.mma %arg14, %42 into %arg11 : vector<64x128xbf16>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            cta.arrive %0[%6] : !cta.barrier<2>
            %44 = cta.wait %41 pending 1 : !cta.flight<64x128xf32>
            cta.release %40 : !cta.tile<128x128xbf16, swizzle = 128>
            %45 = arith.index_cast %arg10 : index to i32
            %46 = cta.col %45 : vector<1x128xi32>
            %47 = vector.broadcast %arg3 : f32 to vector<64x128xf32>
            %48 = arith.mulf %44, %47 fastmath<contract> : vector<64x128xf32>
            %49 = arith.mulf %48, %cst_4 fastmath<contract> : vector<64x128xf32>
            %50 = math.tanh %49 fastmath<contract,afn> : vector<64x128xf32>
            %51 = arith.mulf %50, %cst_5 fastmath<contract> : vector<64x128xf32>
            %52 = arith.index_cast %dim_13 : index to i32
            %53 = vector.broadcast %52 : i32 to vector<1x128xi32>
            %54 = arith.cmpi slt, %46, %53 : vector<1x128xi32>
            %55 = vector.broadcast %54 : vector<1x128xi1> to vector<64x128xi1>
            %56 = arith.select %55, %51, %cst_8 : vector<64x128xi1>, vector<64x128xf32>
            %57 = arith.cmpf oeq, %arg12, %cst_2 : vector<64xf32>
            %58 = cta.if_any %57 : vector<64xi1> -> (vector<64xf32>) {
              %70 = vector.multi_reduction <maxnumf>, %56, %cst_2 [1] : vector<64x128xf32> to vector<64xf32>
              %71 = arith.select %57, %70, %arg12 : vector<64xi1>, vector<64xf32>
              cta.yield %71 : vector<64xf32>
            } else {
              cta.yield %arg12 : vector<64xf32>
            }
            %59 = arith.cmpf oeq, %58, %cst_2 : vector<64xf32>
            %60 = arith.mulf %58, %cst_6 : vector<64xf32>
            %61 = arith.select %59, %cst_3, %60 : vector<64xi1>, vector<64xf32>
            %62 = arith.negf %61 : vector<64xf32>
            %63 = vector.shape_cast %62 : vector<64xf32> to vector<64x1xf32>
            %64 = vector.broadcast %63 : vector<64x1xf32> to vector<64x128xf32>
            %65 = math.fma %56, %cst_7, %64 : vector<64x128xf32>
            %66 = math.exp2 %65 fastmath<afn> : vector<64x128xf32>
            %67 = cta.fold %66 onto %arg13 : vector<64x128xf32>, vector<64x8xf32>
            %68 = cta.wait %43 : !cta.flight<64x128xf32>
            cta.release %42 : !cta.tile<128x128xbf16, swizzle = 128>
            %69 = arith.truncf %66 : vector<64x128xf32> to vector<64x128xbf16>
            scf.yield %68, %58, %67, %69 : vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>
          }
          cta.release %16 : !cta.tile<64x128xbf16, swizzle = 128>
          %25 = scf.if %21 -> (vector<64x128xf32>) {
            %40 = cta.consume %3 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            %41 = cta.mma %24#3, %40 into %24#0 : vector<64x128xbf16>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            %42 = cta.wait %41 : !cta.flight<64x128xf32>
            cta.release %40 : !cta.tile<128x128xbf16, swizzle = 128>
            scf.yield %42 : vector<64x128xf32>
          } else {
            scf.yield %24#0 : vector<64x128xf32>
          }
          %26 = vector.multi_reduction <add>, %24#2, %cst_3 [1] : vector<64x8xf32> to vector<64xf32>
          %27 = arith.cmpf ole, %26, %cst_9 : vector<64xf32>
          %28 = arith.xori %27, %cst_0 : vector<64xi1>
          cta.mark %28 : vector<64xi1>
          %29 = arith.cmpf oeq, %26, %cst_3 : vector<64xf32>
          %30 = arith.divf %cst_10, %26 : vector<64xf32>
          %31 = arith.select %29, %cst_3, %30 : vector<64xi1>, vector<64xf32>
          %32 = vector.shape_cast %31 : vector<64xf32> to vector<64x1xf32>
          %33 = vector.broadcast %32 : vector<64x1xf32> to vector<64x128xf32>
          %34 = arith.mulf %25, %33 : vector<64x128xf32>
          %35 = arith.truncf %34 : vector<64x128xf32> to vector<64x128xbf16>
          %36 = math.log2 %26 fastmath<afn> : vector<64xf32>
          %37 = arith.mulf %36, %cst_11 : vector<64xf32>
          %38 = arith.addf %24#1, %37 : vector<64xf32>
          %39 = arith.select %29, %cst_2, %38 : vector<64xi1>, vector<64xf32>
          cta.store %35, %arg4[%arg9, %arg8, %11, %c0] : vector<64x128xbf16>, memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>
          cta.store %39, %arg5[%arg9, %arg8, %11] : vector<64xf32>, memref<?x?x?xf32, strided<[?, ?, 1]>, #gpu.address_space<global>>
        }
        cta.work marked (%arg7, %arg8, %arg9) in (%4, %dim_15, %dim_14) order(#cta.order<natural, persistent = static>) {
          %9 = arith.muli %arg7, %c128 : index
          %10 = arith.muli %arg6, %c64 : index
          %11 = arith.addi %9, %10 : index
          %12 = arith.maxsi %dim_13, %c0 : index
          %13 = arith.maxsi %12, %c0 : index
          %14 = arith.divui %13, %c128 : index
          %15 = arith.muli %14, %c128 : index
          %16 = cta.consume %1 : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
          %17 = arith.cmpi sgt, %15, %c0 : index
          %18 = arith.addi %15, %c128 : index
          %19 = arith.select %17, %15, %18 : index
          %20 = arith.cmpi slt, %15, %12 : index
          %21 = arith.ori %17, %20 : i1
          %22:4 = scf.if %17 -> (vector<64x128xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xbf16>) {
            %37 = cta.consume %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            %38 = cta.mma %16, transpose %37 : !cta.tile<64x128xbf16, swizzle = 128>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            %39 = cta.wait %38 : !cta.flight<64x128xf32>
            cta.release %37 : !cta.tile<128x128xbf16, swizzle = 128>
            %40 = vector.broadcast %arg3 : f32 to vector<64x128xf32>
            %41 = arith.mulf %39, %40 fastmath<contract> : vector<64x128xf32>
            %42 = arith.mulf %41, %cst_4 fastmath<contract> : vector<64x128xf32>
            %43 = math.tanh %42 fastmath<contract,afn> : vector<64x128xf32>
            %44 = arith.mulf %43, %cst_5 fastmath<contract> : vector<64x128xf32>
            %45 = vector.multi_reduction <maxnumf>, %44, %cst_2 [1] : vector<64x128xf32> to vector<64xf32>
            %46 = arith.maxnumf %45, %cst_2 : vector<64xf32>
            %47 = arith.cmpf oeq, %46, %cst_2 : vector<64xf32>
            %48 = arith.mulf %46, %cst_6 : vector<64xf32>
            %49 = arith.select %47, %cst_3, %48 : vector<64xi1>, vector<64xf32>
            %50 = arith.subf %cst_2, %49 : vector<64xf32>
            %51 = math.exp2 %50 fastmath<afn> : vector<64xf32>
            %52 = arith.mulf %51, %cst_3 : vector<64xf32>
            %53 = arith.negf %49 : vector<64xf32>
            %54 = vector.shape_cast %53 : vector<64xf32> to vector<64x1xf32>
            %55 = vector.broadcast %54 : vector<64x1xf32> to vector<64x128xf32>
            %56 = math.fma %44, %cst_7, %55 : vector<64x128xf32>
            %57 = math.exp2 %56 fastmath<afn> : vector<64x128xf32>
            %58 = vector.multi_reduction <add>, %57, %52 [1] : vector<64x128xf32> to vector<64xf32>
            %59 = vector.shape_cast %51 : vector<64xf32> to vector<64x1xf32>
            %60 = vector.broadcast %59 : vector<64x1xf32> to vector<64x128xf32>
            %61 = arith.mulf %60, %cst_1 : vector<64x128xf32>
            %62 = arith.truncf %57 : vector<64x128xf32> to vector<64x128xbf16>
            scf.yield %61, %46, %58, %62 : vector<64x128xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xbf16>
          } else {
            %37:4 = scf.if %20 -> (vector<64x128xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xbf16>) {
              %38 = cta.consume %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
              %39 = cta.mma %16, transpose %38 : !cta.tile<64x128xbf16, swizzle = 128>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
              %40 = cta.wait %39 : !cta.flight<64x128xf32>
              cta.release %38 : !cta.tile<128x128xbf16, swizzle = 128>
              %41 = arith.index_cast %15 : index to i32
              %42 = cta.col %41 : vector<1x128xi32>
              %43 = vector.broadcast %arg3 : f32 to vector<64x128xf32>
              %44 = arith.mulf %40, %43 fastmath<contract> : vector<64x128xf32>
              %45 = arith.mulf %44, %cst_4 fastmath<contract> : vector<64x128xf32>
              %46 = math.tanh %45 fastmath<contract,afn> : vector<64x128xf32>
              %47 = arith.mulf %46, %cst_5 fastmath<contract> : vector<64x128xf32>
              %48 = arith.index_cast %dim_13 : index to i32
              %49 = vector.broadcast %48 : i32 to vector<1x128xi32>
              %50 = arith.cmpi slt, %42, %49 : vector<1x128xi32>
              %51 = vector.broadcast %50 : vector<1x128xi1> to vector<64x128xi1>
              %52 = arith.select %51, %47, %cst_8 : vector<64x128xi1>, vector<64x128xf32>
              %53 = vector.multi_reduction <maxnumf>, %52, %cst_2 [1] : vector<64x128xf32> to vector<64xf32>
              %54 = arith.maxnumf %53, %cst_2 : vector<64xf32>
              %55 = arith.cmpf oeq, %54, %cst_2 : vector<64xf32>
              %56 = arith.mulf %54, %cst_6 : vector<64xf32>
              %57 = arith.select %55, %cst_3, %56 : vector<64xi1>, vector<64xf32>
              %58 = arith.subf %cst_2, %57 : vector<64xf32>
              %59 = math.exp2 %58 fastmath<afn> : vector<64xf32>
              %60 = arith.mulf %59, %cst_3 : vector<64xf32>
              %61 = arith.negf %57 : vector<64xf32>
              %62 = vector.shape_cast %61 : vector<64xf32> to vector<64x1xf32>
              %63 = vector.broadcast %62 : vector<64x1xf32> to vector<64x128xf32>
              %64 = math.fma %52, %cst_7, %63 : vector<64x128xf32>
              %65 = math.exp2 %64 fastmath<afn> : vector<64x128xf32>
              %66 = vector.multi_reduction <add>, %65, %60 [1] : vector<64x128xf32> to vector<64xf32>
              %67 = vector.shape_cast %59 : vector<64xf32> to vector<64x1xf32>
              %68 = vector.broadcast %67 : vector<64x1xf32> to vector<64x128xf32>
              %69 = arith.mulf %68, %cst_1 : vector<64x128xf32>
              %70 = arith.truncf %65 : vector<64x128xf32> to vector<64x128xbf16>
              scf.yield %69, %54, %66, %70 : vector<64x128xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xbf16>
            } else {
              scf.yield %cst_1, %cst_2, %cst_3, %cst : vector<64x128xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xbf16>
            }
            scf.yield %37#0, %37#1, %37#2, %37#3 : vector<64x128xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xbf16>
          }
          %23:4 = scf.for %arg10 = %c128 to %15 step %c128 iter_args(%arg11 = %22#0, %arg12 = %22#1, %arg13 = %22#2, %arg14 = %22#3) -> (vector<64x128xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xbf16>) {
            %37 = cta.consume %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.sync %0[%arg6] : !cta.barrier<2>
            %38 = cta.mma %16, transpose %37 : !cta.tile<64x128xbf16, swizzle = 128>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            %39 = cta.consume %3 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            %40 = cta.mma %arg14, %39 into %arg11 : vector<64x128xbf16>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            cta.arrive %0[%6] : !cta.barrier<2>
            %41 = cta.wait %38 pending 1 : !cta.flight<64x128xf32>
            cta.release %37 : !cta.tile<128x128xbf16, swizzle = 128>
            %42 = vector.broadcast %arg3 : f32 to vector<64x128xf32>
            %43 = arith.mulf %41, %42 fastmath<contract> : vector<64x128xf32>
            %44 = arith.mulf %43, %cst_4 fastmath<contract> : vector<64x128xf32>
            %45 = math.tanh %44 fastmath<contract,afn> : vector<64x128xf32>
            %46 = arith.mulf %45, %cst_5 fastmath<contract> : vector<64x128xf32>
            %47 = vector.multi_reduction <maxnumf>, %46, %cst_2 [1] : vector<64x128xf32> to vector<64xf32>
            %48 = arith.maxnumf %arg12, %47 : vector<64xf32>
            %49 = arith.cmpf oeq, %48, %cst_2 : vector<64xf32>
            %50 = arith.mulf %48, %cst_6 : vector<64xf32>
            %51 = arith.select %49, %cst_3, %50 : vector<64xi1>, vector<64xf32>
            %52 = arith.mulf %arg12, %cst_6 : vector<64xf32>
            %53 = arith.subf %52, %51 : vector<64xf32>
            %54 = math.exp2 %53 fastmath<afn> : vector<64xf32>
            %55 = arith.mulf %arg13, %54 : vector<64xf32>
            %56 = arith.negf %51 : vector<64xf32>
            %57 = vector.shape_cast %56 : vector<64xf32> to vector<64x1xf32>
            %58 = vector.broadcast %57 : vector<64x1xf32> to vector<64x128xf32>
            %59 = math.fma %46, %cst_7, %58 : vector<64x128xf32>
            %60 = math.exp2 %59 fastmath<afn> : vector<64x128xf32>
            %61 = vector.multi_reduction <add>, %60, %55 [1] : vector<64x128xf32> to vector<64xf32>
            %62 = vector.shape_cast %54 : vector<64xf32> to vector<64x1xf32>
            %63 = vector.broadcast %62 : vector<64x1xf32> to vector<64x128xf32>
            %64 = cta.wait %40 : !cta.flight<64x128xf32>
            cta.release %39 : !cta.tile<128x128xbf16, swizzle = 128>
            %65 = arith.mulf %64, %63 : vector<64x128xf32>
            %66 = arith.truncf %60 : vector<64x128xf32> to vector<64x128xbf16>
            scf.yield %65, %48, %61, %66 : vector<64x128xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xbf16>
          }
          %24:4 = scf.for %arg10 = %19 to %12 step %c128 iter_args(%arg11 = %23#0, %arg12 = %23#1, %arg13 = %23#2, %arg14 = %23#3) -> (vector<64x128xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xbf16>) {
            %37 = cta.consume %2 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            cta.sync %0[%arg6] : !cta.barrier<2>
            %38 = cta.mma %16, transpose %37 : !cta.tile<64x128xbf16, swizzle = 128>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            %39 = cta.consume %3 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            %40 = cta.mma %arg14, %39 into %arg11 : vector<64x128xbf16>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            cta.arrive %0[%6] : !cta.barrier<2>
            %41 = cta.wait %38 pending 1 : !cta.flight<64x128xf32>
            cta.release %37 : !cta.tile<128x128xbf16, swizzle = 128>
            %42 = arith.index_cast %arg10 : index to i32
            %43 = cta.col %42 : vector<1x128xi32>
            %44 = vector.broadcast %arg3 : f32 to vector<64x128xf32>
            %45 = arith.mulf %41, %44 fastmath<contract> : vector<64x128xf32>
            %46 = arith.mulf %45, %cst_4 fastmath<contract> : vector<64x128xf32>
            %47 = math.tanh %46 fastmath<contract,afn> : vector<64x128xf32>
            %48 = arith.mulf %47, %cst_5 fastmath<contract> : vector<64x128xf32>
            %49 = arith.index_cast %dim_13 : index to i32
            %50 = vector.broadcast %49 : i32 to vector<1x128xi32>
            %51 = arith.cmpi slt, %43, %50 : vector<1x128xi32>
            %52 = vector.broadcast %51 : vector<1x128xi1> to vector<64x128xi1>
            %53 = arith.select %52, %48, %cst_8 : vector<64x128xi1>, vector<64x128xf32>
            %54 = vector.multi_reduction <maxnumf>, %53, %cst_2 [1] : vector<64x128xf32> to vector<64xf32>
            %55 = arith.maxnumf %arg12, %54 : vector<64xf32>
            %56 = arith.cmpf oeq, %55, %cst_2 : vector<64xf32>
            %57 = arith.mulf %55, %cst_6 : vector<64xf32>
            %58 = arith.select %56, %cst_3, %57 : vector<64xi1>, vector<64xf32>
            %59 = arith.mulf %arg12, %cst_6 : vector<64xf32>
            %60 = arith.subf %59, %58 : vector<64xf32>
            %61 = math.exp2 %60 fastmath<afn> : vector<64xf32>
            %62 = arith.mulf %arg13, %61 : vector<64xf32>
            %63 = arith.negf %58 : vector<64xf32>
            %64 = vector.shape_cast %63 : vector<64xf32> to vector<64x1xf32>
            %65 = vector.broadcast %64 : vector<64x1xf32> to vector<64x128xf32>
            %66 = math.fma %53, %cst_7, %65 : vector<64x128xf32>
            %67 = math.exp2 %66 fastmath<afn> : vector<64x128xf32>
            %68 = vector.multi_reduction <add>, %67, %62 [1] : vector<64x128xf32> to vector<64xf32>
            %69 = vector.shape_cast %61 : vector<64xf32> to vector<64x1xf32>
            %70 = vector.broadcast %69 : vector<64x1xf32> to vector<64x128xf32>
            %71 = cta.wait %40 : !cta.flight<64x128xf32>
            cta.release %39 : !cta.tile<128x128xbf16, swizzle = 128>
            %72 = arith.mulf %71, %70 : vector<64x128xf32>
            %73 = arith.truncf %67 : vector<64x128xf32> to vector<64x128xbf16>
            scf.yield %72, %55, %68, %73 : vector<64x128xf32>, vector<64xf32>, vector<64xf32>, vector<64x128xbf16>
          }
          cta.release %16 : !cta.tile<64x128xbf16, swizzle = 128>
          %25 = scf.if %21 -> (vector<64x128xf32>) {
            %37 = cta.consume %3 : !cta.ring<2, !cta.tile<128x128xbf16, swizzle = 128>>
            %38 = cta.mma %24#3, %37 into %24#0 : vector<64x128xbf16>, !cta.tile<128x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
            %39 = cta.wait %38 : !cta.flight<64x128xf32>
            cta.release %37 : !cta.tile<128x128xbf16, swizzle = 128>
            scf.yield %39 : vector<64x128xf32>
          } else {
            scf.yield %24#0 : vector<64x128xf32>
          }
          %26 = arith.cmpf oeq, %24#2, %cst_3 : vector<64xf32>
          %27 = arith.divf %cst_10, %24#2 : vector<64xf32>
          %28 = arith.select %26, %cst_3, %27 : vector<64xi1>, vector<64xf32>
          %29 = vector.shape_cast %28 : vector<64xf32> to vector<64x1xf32>
          %30 = vector.broadcast %29 : vector<64x1xf32> to vector<64x128xf32>
          %31 = arith.mulf %25, %30 : vector<64x128xf32>
          %32 = arith.truncf %31 : vector<64x128xf32> to vector<64x128xbf16>
          %33 = math.log2 %24#2 fastmath<afn> : vector<64xf32>
          %34 = arith.mulf %33, %cst_11 : vector<64xf32>
          %35 = arith.addf %24#1, %34 : vector<64xf32>
          %36 = arith.select %26, %cst_2, %35 : vector<64xi1>, vector<64xf32>
          cta.store %32, %arg4[%arg9, %arg8, %11, %c0] : vector<64x128xbf16>, memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>
          cta.store %36, %arg5[%arg9, %arg8, %11] : vector<64xf32>, memref<?x?x?xf32, strided<[?, ?, 1]>, #gpu.address_space<global>>
        }
        %c0_19 = arith.constant 0 : index
        %8 = arith.cmpi eq, %arg6, %c0_19 : index
        scf.if %8 {
          %c0_20 = arith.constant 0 : index
          cta.sync %0[%c0_20] : !cta.barrier<2>
        }
      }
      gpu.return
    }
  }
}
