!io = memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>
!lse = memref<?x?x?xf32>
!qt = !cta.tile<32x128xbf16, swizzle = 128>
!kt = !cta.tile<64x128xbf16, swizzle = 128>
!s = vector<32x64xf32>
!si = vector<32x64xi32>
!sb = vector<32x64xi1>
!sp = vector<32x64xbf16>
!o = vector<32x128xf32>
!row = vector<32xf32>
!rowb = vector<32xi1>

gpu.module @kernels {
  gpu.func @attention(%Q: !io, %K: !io, %V: !io, %O: !io, %LSE: !lse) kernel
      attributes {cta.extents = [#cta.extent<arg = 0, dim = 2, tile = 128>, #cta.extent<arg = 0, dim = 1, tile = 1>, #cta.extent<arg = 0, dim = 0, tile = 1>], cta.min_ctas = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %nb = memref.dim %Q, %c0 : !io
    %nh = memref.dim %Q, %c1 : !io
    %Sq = memref.dim %Q, %c2 : !io
    %nhk = memref.dim %K, %c1 : !io
    %Skv = memref.dim %K, %c2 : !io
    %nq = arith.ceildivui %Sq, %c128 : index
    %group = arith.divui %nh, %nhk : index
    cta.work (%qi, %h, %b) in (%nq, %nh, %nb) order(#cta.order<lpt>) {
      cta.role "all" teams(%w in 4) warps(1) {
        %hk = arith.divui %h, %group : index
        %q0 = arith.muli %qi, %c128 : index
        %wr = arith.muli %w, %c32 : index
        %i0 = arith.addi %q0, %wr : index
        %q = cta.load each %Q[%b, %h, %i0, %c0] : !io -> !qt

        %zero = arith.constant dense<0.0> : !o
        %zrow = arith.constant dense<0.0> : !row
        %ninf = arith.constant dense<0xFF800000> : !row
        %ninfs = arith.constant dense<0xFF800000> : !s
        %cs = arith.constant dense<0.12751743> : !s
        %cr = arith.constant dense<0.12751743> : !row
        %ncr = arith.constant dense<-0.12751743> : !row

        // Keys up to the diagonal of the last row; full blocks end at the first row's.
        %shift = arith.subi %Skv, %Sq : index
        %firstd = arith.addi %q0, %shift : index
        %lastd = arith.addi %firstd, %c128 : index
        %hi0 = arith.minsi %lastd, %Skv : index
        %hi = arith.maxsi %hi0, %c0 : index
        %first1 = arith.addi %firstd, %c1 : index
        %full0 = arith.minsi %first1, %hi : index
        %full1 = arith.maxsi %full0, %c0 : index
        %fulln = arith.divui %full1, %c64 : index
        %full = arith.muli %fulln, %c64 : index
        %rowbase = arith.addi %i0, %shift : index
        %rowb = arith.index_cast %rowbase : index to i32
        %rows = cta.row %rowb : vector<32x1xi32>
        %Skv1 = arith.subi %Skv, %c1 : index
        %last = arith.index_cast %Skv1 : index to i32
        %lastv = vector.broadcast %last : i32 to vector<32x1xi32>
        %limit = arith.minsi %rows, %lastv : vector<32x1xi32>

        %r:3 = scf.for %j = %c0 to %full step %c64 iter_args(%a = %zero, %m = %ninf, %l = %zrow) -> (!o, !row, !row) {
          %k = cta.load once %K[%b, %hk, %j, %c0] : !io -> !kt
          %v = cta.load once %V[%b, %hk, %j, %c0] : !io -> !kt
          %sf = cta.mma %q, transpose %k : !qt, !kt -> !cta.flight<32x64xf32>
          %ss = cta.wait %sf : !cta.flight<32x64xf32>
          %mn = vector.multi_reduction <maxnumf>, %ss, %m [1] : !s to !row
          %empty = arith.cmpf oeq, %mn, %ninf : !row
          %mg = arith.select %empty, %zrow, %mn : !rowb, !row
          %nms = arith.mulf %mg, %ncr : !row
          %nmc = vector.shape_cast %nms : !row to vector<32x1xf32>
          %nmb = vector.broadcast %nmc : vector<32x1xf32> to !s
          %x = math.fma %ss, %cs, %nmb : !s
          %p = math.exp2 %x fastmath<afn> : !s
          %am = math.fma %m, %cr, %nms : !row
          %alpha = math.exp2 %am fastmath<afn> : !row
          %ls = arith.mulf %l, %alpha : !row
          %ln = vector.multi_reduction <add>, %p, %ls [1] : !s to !row
          %alc = vector.shape_cast %alpha : !row to vector<32x1xf32>
          %alb = vector.broadcast %alc : vector<32x1xf32> to !o
          %ar = arith.mulf %a, %alb : !o
          %pb = arith.truncf %p : !s to !sp
          %of = cta.mma %pb, %v into %ar : !sp, !kt -> !cta.flight<32x128xf32>
          %on = cta.wait %of : !cta.flight<32x128xf32>
          scf.yield %on, %mn, %ln : !o, !row, !row
        }
        %t:3 = scf.for %j = %full to %hi step %c64 iter_args(%a = %r#0, %m = %r#1, %l = %r#2) -> (!o, !row, !row) {
          %k = cta.load once %K[%b, %hk, %j, %c0] : !io -> !kt
          %v = cta.load once %V[%b, %hk, %j, %c0] : !io -> !kt
          %sf = cta.mma %q, transpose %k : !qt, !kt -> !cta.flight<32x64xf32>
          %ss = cta.wait %sf : !cta.flight<32x64xf32>
          %jb = arith.index_cast %j : index to i32
          %col = cta.col %jb : vector<1x64xi32>
          %colb = vector.broadcast %col : vector<1x64xi32> to !si
          %lim = vector.broadcast %limit : vector<32x1xi32> to !si
          %vis = arith.cmpi sle, %colb, %lim : !si
          %sm = arith.select %vis, %ss, %ninfs : !sb, !s
          %mn = vector.multi_reduction <maxnumf>, %sm, %m [1] : !s to !row
          %empty = arith.cmpf oeq, %mn, %ninf : !row
          %mg = arith.select %empty, %zrow, %mn : !rowb, !row
          %nms = arith.mulf %mg, %ncr : !row
          %nmc = vector.shape_cast %nms : !row to vector<32x1xf32>
          %nmb = vector.broadcast %nmc : vector<32x1xf32> to !s
          %x = math.fma %sm, %cs, %nmb : !s
          %p = math.exp2 %x fastmath<afn> : !s
          %am = math.fma %m, %cr, %nms : !row
          %alpha = math.exp2 %am fastmath<afn> : !row
          %ls = arith.mulf %l, %alpha : !row
          %ln = vector.multi_reduction <add>, %p, %ls [1] : !s to !row
          %alc = vector.shape_cast %alpha : !row to vector<32x1xf32>
          %alb = vector.broadcast %alc : vector<32x1xf32> to !o
          %ar = arith.mulf %a, %alb : !o
          %pb = arith.truncf %p : !s to !sp
          %of = cta.mma %pb, %v into %ar : !sp, !kt -> !cta.flight<32x128xf32>
          %on = cta.wait %of : !cta.flight<32x128xf32>
          scf.yield %on, %mn, %ln : !o, !row, !row
        }
        %one = arith.constant dense<1.0> : !row
        %none = arith.cmpf oeq, %t#2, %zrow : !row
        %ld = arith.select %none, %one, %t#2 : !rowb, !row
        %inv = arith.divf %one, %ld : !row
        %invc = vector.shape_cast %inv : !row to vector<32x1xf32>
        %invb = vector.broadcast %invc : vector<32x1xf32> to !o
        %of32 = arith.mulf %t#0, %invb : !o
        %ob = arith.truncf %of32 : !o to vector<32x128xbf16>
        cta.store %ob, %O[%b, %h, %i0, %c0] : vector<32x128xbf16>, !io
        %ln2 = arith.constant dense<0.693147181> : !row
        %scale = arith.constant dense<0.0883883461> : !row
        %lg = math.log2 %t#2 fastmath<afn> : !row
        %lgn = arith.mulf %lg, %ln2 : !row
        %lse = math.fma %t#1, %scale, %lgn : !row
        cta.store %lse, %LSE[%b, %h, %i0] : !row, !lse
      }
    }
    gpu.return
  }
}
