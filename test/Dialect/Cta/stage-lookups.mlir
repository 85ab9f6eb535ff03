// Lookups at the rows and the columns of a block of scores become loads of tiles. What is cut where q and k end needs no cut; what
// is cut elsewhere, or is no tile, is left.

// RUN: fa-opt %s --stage-lookups | FileCheck %s
// RUN: fa-opt %s --stage-lookups --remarks-filter=stage-lookups -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: fa-opt %s --stage-lookups | fa-opt | FileCheck %s

!m = memref<?x?x64xbf16>
!bias = memref<?x?x?xf32, strided<[?, ?, 1]>>
!t = !cta.tile<64x64xbf16, swizzle = 128>
!s = vector<64x64xf32>
!rows = vector<64xi32>
!cols = vector<1x64xi32>

gpu.module @kernels {
  // Rows end with Q's, columns with K's. The tile is loaded behind K's.
  // CHECK-LABEL: gpu.func @bias(
  // CHECK-SAME: %[[Q:[^:]*]]: memref<{{[^,]*}}, %[[K:[^:]*]]: memref<{{[^,]*}}, %[[BIAS:[^:]*]]: memref
  // CHECK: cta.work (%[[QI:.*]], %[[H:.*]]) in
  // CHECK: cta.role "all" teams(%[[W:.*]] in 2)
  // CHECK: %[[I:.*]] = arith.addi
  // CHECK: cta.load each %[[Q]][%[[H]], %[[I]], %c0]
  // CHECK: scf.for %[[J:.*]] = %c0
  // CHECK: cta.load once %[[K]][%[[H]], %[[J]], %c0]
  // CHECK-NEXT: %[[TILE:.*]] = cta.load each %[[BIAS]][%[[H]], %[[I]], %[[J]]] {cta.stages = 1 : i64} : {{.*}} -> !cta.tile<64x64xf32, swizzle = 128>
  // CHECK: cta.wait
  // CHECK-NOT: cta.lookup
  // CHECK: %[[E:.*]] = cta.read %[[TILE]] : !cta.tile<64x64xf32, swizzle = 128> -> vector<64x64xf32>
  // CHECK: arith.addf %{{.*}}, %[[E]]
  // REMARK-DAG: remark: [Passed] tiles | Category:stage-lookups | Function=bias | lookups=1
  gpu.func @bias(%Q: !m, %K: !m, %bias: !bias, %out: memref<?x?x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : !s
    %n = memref.dim %Q, %c1 : !m
    %skv = memref.dim %K, %c1 : !m
    %heads = memref.dim %Q, %c0 : !m
    %blocks = arith.ceildivui %n, %c128 : index
    cta.work (%qi, %h) in (%blocks, %heads) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %i0 = arith.muli %qi, %c128 : index
        %iw = arith.muli %w, %c64 : index
        %i = arith.addi %i0, %iw : index
        %q = cta.load each %Q[%h, %i, %c0] : !m -> !t
        %last = arith.subi %n, %c1 : index
        %last32 = arith.index_cast %last : index to i32
        %lastRows = vector.broadcast %last32 : i32 to !rows
        %lastKey = arith.subi %skv, %c1 : index
        %lastKey32 = arith.index_cast %lastKey : index to i32
        %lastKeys = vector.broadcast %lastKey32 : i32 to !cols
        %iw32 = arith.index_cast %iw : index to i32
        %i032 = arith.index_cast %i0 : index to i32
        %i32 = arith.addi %iw32, %i032 : i32
        %all = scf.for %j = %c0 to %skv step %c64 iter_args(%sum = %zero) -> (!s) {
          %k = cta.load once %K[%h, %j, %c0] : !m -> !t
          %f = cta.mma %q, transpose %k : !t, !t -> !cta.flight<64x64xf32>
          %s = cta.wait %f : !cta.flight<64x64xf32>
          %row = cta.row %i32 : !rows
          %rows = arith.minsi %row, %lastRows : !rows
          %j32 = arith.index_cast %j : index to i32
          %col = cta.col %j32 : !cols
          %cols = arith.minsi %lastKeys, %col : !cols
          %e = cta.lookup %bias[%h, %rows, %cols] : !bias, (index, !rows, !cols) -> !s
          %t = arith.addf %s, %e : !s
          %next = arith.addf %sum, %t : !s
          scf.yield %next : !s
        }
        cta.store %all, %out[%h, %i, %c0] : !s, memref<?x?x64xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @left(
  // CHECK-COUNT-5: cta.lookup
  // CHECK-NOT: cta.tile<64x64xf32
  // REMARK-DAG: remark: [Missed] tile | Category:stage-lookups | Function=left | Reason="its positions are cut by something else than the ends of q and k"
  // REMARK-DAG: remark: [Missed] tile | Category:stage-lookups | Function=left | Reason="it is of rows or of columns alone"
  // REMARK-DAG: remark: [Missed] tile | Category:stage-lookups | Function=left | Reason="its elements are no floats"
  // REMARK-DAG: remark: [Missed] tile | Category:stage-lookups | Function=left | Reason="its positions are not the rows and the columns of a block"
  // REMARK-DAG: remark: [Missed] tile | Category:stage-lookups | Function=left | Reason="it is not in a loop over blocks of products"
  gpu.func @left(%K: !m, %bias: !bias, %ids: memref<?x?xi32, strided<[?, 1]>>, %out: memref<?x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0 : i32
    %hundred = arith.constant dense<100> : !rows
    %n = memref.dim %K, %c1 : !m
    %zero = arith.constant dense<0.0> : !s
    cta.role "all" teams(%w in 1) warps(4) {
      %row = cta.row %z : !rows
      %col = cta.col %z : !cols
      %outside = cta.lookup %bias[%c0, %row, %col] : !bias, (index, !rows, !cols) -> !s
      %all = scf.for %j = %c0 to %n step %c64 iter_args(%sum = %outside) -> (!s) {
        %k = cta.load once %K[%c0, %j, %c0] : !m -> !t
        %f = cta.mma %k, transpose %k : !t, !t -> !cta.flight<64x64xf32>
        %fw = cta.wait %f : !cta.flight<64x64xf32>
        %rows = arith.minsi %row, %hundred : !rows
        %a = cta.lookup %bias[%c0, %rows, %col] : !bias, (index, !rows, !cols) -> !s
        %line = cta.lookup %bias[%c0, %c1, %col] : !bias, (index, index, !cols) -> vector<1x64xf32>
        %id = cta.lookup %ids[%row, %col] : memref<?x?xi32, strided<[?, 1]>>, (!rows, !cols) -> vector<64x64xi32>
        %idf = arith.sitofp %id : vector<64x64xi32> to !s
        %r2 = vector.shape_cast %row : !rows to vector<64x1xi32>
        %rb = vector.broadcast %r2 : vector<64x1xi32> to vector<64x64xi32>
        %cb = vector.broadcast %col : !cols to vector<64x64xi32>
        %distance = arith.subi %rb, %cb : vector<64x64xi32>
        %d = cta.lookup %bias[%c0, %row, %distance] : !bias, (index, !rows, vector<64x64xi32>) -> !s
        %wide = vector.broadcast %line : vector<1x64xf32> to !s
        %x = arith.addf %a, %wide : !s
        %y = arith.addf %x, %idf : !s
        %v = arith.addf %y, %d : !s
        %u = arith.addf %v, %fw : !s
        %next = arith.addf %sum, %u : !s
        scf.yield %next : !s
      }
      cta.store %all, %out[%c0, %c0] : !s, memref<?x64xf32>
    }
    gpu.return
  }
}
