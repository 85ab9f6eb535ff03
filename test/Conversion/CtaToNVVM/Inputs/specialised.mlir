// Warp-specialised forward attention of D 128 without a mask, Skv a multiple of 128: the loading role fills Q for one computing
// team after the other and then K and V; the computing teams take turns on the tensor cores. @specialised gives a block one
// work item, @persistent a list of them.

!io = memref<?x?x?x128xbf16>
!lse = memref<?x?x?xf32>
!qt = !cta.tile<64x128xbf16, swizzle = 128>
!kt = !cta.tile<128x128xbf16, swizzle = 128>
!qring = !cta.ring<1, !qt>
!ring = !cta.ring<2, !kt>
!sf = !cta.flight<64x128xf32>
!s = vector<64x128xf32>
!sp = vector<64x128xbf16>
!row = vector<64xf32>
!col = vector<64x1xf32>

gpu.module @kernels {
  gpu.func @specialised(%Q: !io, %K: !io, %V: !io, %O: !io, %LSE: !lse) kernel
      attributes {cta.extents = [#cta.extent<arg = 0, dim = 0, tile = 1>, #cta.extent<arg = 0, dim = 1, tile = 1>, #cta.extent<arg = 0, dim = 2, tile = 128>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %nb = memref.dim %Q, %c0 : !io
    %nh = memref.dim %Q, %c1 : !io
    %Sq = memref.dim %Q, %c2 : !io
    %Skv = memref.dim %K, %c2 : !io
    %nq = arith.ceildivui %Sq, %c128 : index
    %z = arith.constant dense<0.0> : !s
    %lz = arith.constant dense<0.0> : !row
    %ninf = arith.constant dense<0xFF800000> : !row
    %cs = arith.constant dense<0.12751741> : !s
    %cr = arith.constant dense<0.12751741> : !row
    %ln2 = arith.constant dense<0.69314718> : !row
    %qr = cta.ring each(2) : !qring
    %kr = cta.ring : !ring
    %vr = cta.ring : !ring
    %turn = cta.barrier : !cta.barrier<2>
    cta.role "load" teams(%w in 1) warps(4) regs(24) {
      cta.work (%b, %h, %qi) in (%nb, %nh, %nq) order(#cta.order<lpt, group_bytes = 33554432>) {
        %q0 = arith.muli %qi, %c128 : index
        scf.for %t = %c0 to %c2 step %c1 {
          %tr = arith.muli %t, %c64 : index
          %i0 = arith.addi %q0, %tr : index
          %qe = cta.acquire %qr[%t] : !qring
          cta.copy %Q[%b, %h, %i0, %c0] to %qe : !io, !qt
        }
        scf.for %j = %c0 to %Skv step %c128 {
          %ke = cta.acquire %kr : !ring
          cta.copy %K[%b, %h, %j, %c0] to %ke : !io, !kt
          %ve = cta.acquire %vr : !ring
          cta.copy %V[%b, %h, %j, %c0] to %ve : !io, !kt
        }
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) regs(240) {
      %wn = arith.addi %w, %c1 : index
      %other = arith.remui %wn, %c2 : index
      // The first turn is team 0's: team 1 opens it, and leaves the last one to it.
      %first = arith.cmpi eq, %w, %c0 : index
      %second = arith.cmpi ne, %w, %c0 : index
      scf.if %second {
        cta.arrive %turn[%c0] : !cta.barrier<2>
      }
      cta.work (%b, %h, %qi) in (%nb, %nh, %nq) order(#cta.order<lpt, group_bytes = 33554432>) {
        %q0 = arith.muli %qi, %c128 : index
        %wr = arith.muli %w, %c64 : index
        %i0 = arith.addi %q0, %wr : index
        %q = cta.consume %qr : !qring
        // The first block's scores and probabilities.
        %k0 = cta.consume %kr : !ring
        %sf0 = cta.mma %q, transpose %k0 : !qt, !kt -> !sf
        %s0 = cta.wait %sf0 : !sf
        cta.release %k0 : !kt
        %m0 = vector.multi_reduction <maxnumf>, %s0, %ninf [1] : !s to !row
        %m0s = arith.mulf %m0, %cr : !row
        %m0c = vector.shape_cast %m0s : !row to !col
        %m0b = vector.broadcast %m0c : !col to !s
        %s0s = arith.mulf %s0, %cs : !s
        %s0d = arith.subf %s0s, %m0b : !s
        %p0 = math.exp2 %s0d fastmath<afn> : !s
        %l0 = vector.multi_reduction <add>, %p0, %lz [1] : !s to !row
        %p0b = arith.truncf %p0 : !s to !sp
        %t:4 = scf.for %j = %c128 to %Skv step %c128 iter_args(%a = %z, %m = %m0, %l = %l0, %pp = %p0b) -> (!s, !row, !row, !sp) {
          %k = cta.consume %kr : !ring
          cta.sync %turn[%w] : !cta.barrier<2>
          %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
          %v = cta.consume %vr : !ring
          %of = cta.mma %pp, %v into %a : !sp, !kt -> !sf
          cta.arrive %turn[%other] : !cta.barrier<2>
          %s = cta.wait %sf pending 1 : !sf
          cta.release %k : !kt
          %x = vector.multi_reduction <maxnumf>, %s, %m [1] : !s to !row
          %xs = arith.mulf %x, %cr : !row
          %xc = vector.shape_cast %xs : !row to !col
          %xb = vector.broadcast %xc : !col to !s
          %sc = arith.mulf %s, %cs : !s
          %sd = arith.subf %sc, %xb : !s
          %p = math.exp2 %sd fastmath<afn> : !s
          %ms = arith.mulf %m, %cr : !row
          %md = arith.subf %ms, %xs : !row
          %alpha = math.exp2 %md fastmath<afn> : !row
          %la = arith.mulf %l, %alpha : !row
          %ln = vector.multi_reduction <add>, %p, %la [1] : !s to !row
          %o = cta.wait %of : !sf
          cta.release %v : !kt
          %pb = arith.truncf %p : !s to !sp
          %grew = arith.cmpf ogt, %x, %m : !row
          %on = cta.if_any %grew : vector<64xi1> -> (!s) {
            %ac = vector.shape_cast %alpha : !row to !col
            %ab = vector.broadcast %ac : !col to !s
            %ar = arith.mulf %o, %ab : !s
            cta.yield %ar : !s
          } else {
            cta.yield %o : !s
          }
          scf.yield %on, %x, %ln, %pb : !s, !row, !row, !sp
        }
        cta.release %q : !qt
        %vl = cta.consume %vr : !ring
        %rf = cta.mma %t#3, %vl into %t#0 : !sp, !kt -> !sf
        %ro = cta.wait %rf : !sf
        cta.release %vl : !kt
        %lc = vector.shape_cast %t#2 : !row to !col
        %lb = vector.broadcast %lc : !col to !s
        %on = arith.divf %ro, %lb : !s
        %ob = arith.truncf %on : !s to !sp
        cta.store %ob, %O[%b, %h, %i0, %c0] : !sp, !io
        %lg = math.log2 %t#2 fastmath<afn> : !row
        %l2 = math.fma %t#1, %cr, %lg : !row
        %lse = arith.mulf %l2, %ln2 : !row
        cta.store %lse, %LSE[%b, %h, %i0] : !row, !lse
      }
      scf.if %first {
        cta.sync %turn[%c0] : !cta.barrier<2>
      }
    }
    gpu.return
  }

  gpu.func @persistent(%Q: !io, %K: !io, %V: !io, %O: !io, %LSE: !lse) kernel
      attributes {cta.extents = [#cta.extent<arg = 0, dim = 2, tile = 128>, #cta.extent<arg = 0, dim = 1, tile = 1>, #cta.extent<arg = 0, dim = 0, tile = 1>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %nb = memref.dim %Q, %c0 : !io
    %nh = memref.dim %Q, %c1 : !io
    %Sq = memref.dim %Q, %c2 : !io
    %Skv = memref.dim %K, %c2 : !io
    %nq = arith.ceildivui %Sq, %c128 : index
    %z = arith.constant dense<0.0> : !s
    %lz = arith.constant dense<0.0> : !row
    %ninf = arith.constant dense<0xFF800000> : !row
    %cs = arith.constant dense<0.12751741> : !s
    %cr = arith.constant dense<0.12751741> : !row
    %ln2 = arith.constant dense<0.69314718> : !row
    %qr = cta.ring each(2) : !qring
    %kr = cta.ring : !ring
    %vr = cta.ring : !ring
    %turn = cta.barrier : !cta.barrier<2>
    cta.role "load" teams(%w in 1) warps(4) regs(24) {
      cta.work (%qi, %h, %b) in (%nq, %nh, %nb) order(#cta.order<balanced, persistent = static>) {
        %q0 = arith.muli %qi, %c128 : index
        scf.for %t = %c0 to %c2 step %c1 {
          %tr = arith.muli %t, %c64 : index
          %i0 = arith.addi %q0, %tr : index
          %qe = cta.acquire %qr[%t] : !qring
          cta.copy %Q[%b, %h, %i0, %c0] to %qe : !io, !qt
        }
        scf.for %j = %c0 to %Skv step %c128 {
          %ke = cta.acquire %kr : !ring
          cta.copy %K[%b, %h, %j, %c0] to %ke : !io, !kt
          %ve = cta.acquire %vr : !ring
          cta.copy %V[%b, %h, %j, %c0] to %ve : !io, !kt
        }
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) regs(240) {
      %wn = arith.addi %w, %c1 : index
      %other = arith.remui %wn, %c2 : index
      // The first turn is team 0's: team 1 opens it, and leaves the last one to it.
      %first = arith.cmpi eq, %w, %c0 : index
      %second = arith.cmpi ne, %w, %c0 : index
      scf.if %second {
        cta.arrive %turn[%c0] : !cta.barrier<2>
      }
      cta.work (%qi, %h, %b) in (%nq, %nh, %nb) order(#cta.order<balanced, persistent = static>) {
        %q0 = arith.muli %qi, %c128 : index
        %wr = arith.muli %w, %c64 : index
        %i0 = arith.addi %q0, %wr : index
        %q = cta.consume %qr : !qring
        // The first block's scores and probabilities.
        %k0 = cta.consume %kr : !ring
        %sf0 = cta.mma %q, transpose %k0 : !qt, !kt -> !sf
        %s0 = cta.wait %sf0 : !sf
        cta.release %k0 : !kt
        %m0 = vector.multi_reduction <maxnumf>, %s0, %ninf [1] : !s to !row
        %m0s = arith.mulf %m0, %cr : !row
        %m0c = vector.shape_cast %m0s : !row to !col
        %m0b = vector.broadcast %m0c : !col to !s
        %s0s = arith.mulf %s0, %cs : !s
        %s0d = arith.subf %s0s, %m0b : !s
        %p0 = math.exp2 %s0d fastmath<afn> : !s
        %l0 = vector.multi_reduction <add>, %p0, %lz [1] : !s to !row
        %p0b = arith.truncf %p0 : !s to !sp
        %t:4 = scf.for %j = %c128 to %Skv step %c128 iter_args(%a = %z, %m = %m0, %l = %l0, %pp = %p0b) -> (!s, !row, !row, !sp) {
          %k = cta.consume %kr : !ring
          cta.sync %turn[%w] : !cta.barrier<2>
          %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
          %v = cta.consume %vr : !ring
          %of = cta.mma %pp, %v into %a : !sp, !kt -> !sf
          cta.arrive %turn[%other] : !cta.barrier<2>
          %s = cta.wait %sf pending 1 : !sf
          cta.release %k : !kt
          %x = vector.multi_reduction <maxnumf>, %s, %m [1] : !s to !row
          %xs = arith.mulf %x, %cr : !row
          %xc = vector.shape_cast %xs : !row to !col
          %xb = vector.broadcast %xc : !col to !s
          %sc = arith.mulf %s, %cs : !s
          %sd = arith.subf %sc, %xb : !s
          %p = math.exp2 %sd fastmath<afn> : !s
          %ms = arith.mulf %m, %cr : !row
          %md = arith.subf %ms, %xs : !row
          %alpha = math.exp2 %md fastmath<afn> : !row
          %la = arith.mulf %l, %alpha : !row
          %ln = vector.multi_reduction <add>, %p, %la [1] : !s to !row
          %o = cta.wait %of : !sf
          cta.release %v : !kt
          %pb = arith.truncf %p : !s to !sp
          %grew = arith.cmpf ogt, %x, %m : !row
          %on = cta.if_any %grew : vector<64xi1> -> (!s) {
            %ac = vector.shape_cast %alpha : !row to !col
            %ab = vector.broadcast %ac : !col to !s
            %ar = arith.mulf %o, %ab : !s
            cta.yield %ar : !s
          } else {
            cta.yield %o : !s
          }
          scf.yield %on, %x, %ln, %pb : !s, !row, !row, !sp
        }
        cta.release %q : !qt
        %vl = cta.consume %vr : !ring
        %rf = cta.mma %t#3, %vl into %t#0 : !sp, !kt -> !sf
        %ro = cta.wait %rf : !sf
        cta.release %vl : !kt
        %lc = vector.shape_cast %t#2 : !row to !col
        %lb = vector.broadcast %lc : !col to !s
        %on = arith.divf %ro, %lb : !s
        %ob = arith.truncf %on : !s to !sp
        cta.store %ob, %O[%b, %h, %i0, %c0] : !sp, !io
        %lg = math.log2 %t#2 fastmath<afn> : !row
        %l2 = math.fma %t#1, %cr, %lg : !row
        %lse = arith.mulf %l2, %ln2 : !row
        cta.store %lse, %LSE[%b, %h, %i0] : !row, !lse
      }
      scf.if %first {
        cta.sync %turn[%c0] : !cta.barrier<2>
      }
    }
    gpu.return
  }
}
