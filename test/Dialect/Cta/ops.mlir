// RUN: fa-opt %s | fa-opt | FileCheck %s
// RUN: fa-opt %s -mlir-print-op-generic | fa-opt | FileCheck %s

!tile = !cta.tile<64x128xbf16, swizzle = 128>
!ring = !cta.ring<2, !tile>
!io = memref<?x?x?x128xbf16>

// CHECK-LABEL: gpu.func @ops
gpu.module @kernels {
  gpu.func @ops(%K: !io, %LSE: memref<?x?x?xf32>) kernel
      attributes {cta.extents = [#cta.extent<arg = 0, dim = 2, tile = 64>]} {
    %c0 = arith.constant 0 : index
    %n = arith.constant 8 : index
    %i = arith.constant 3 : i32
    // CHECK: %[[RING:.*]] = cta.ring : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
    %ring = cta.ring : !ring
    // CHECK: %[[OWN:.*]] = cta.ring each(2) : !cta.ring<2,
    %own = cta.ring each(2) : !ring
    // CHECK: %[[TURN:.*]] = cta.barrier : !cta.barrier<2>
    %turn = cta.barrier : !cta.barrier<2>
    // CHECK: cta.work (%[[I:.*]], %[[H:.*]]) in (%{{.*}}, %{{.*}}) order(#cta.order<lpt, group_bytes = 1024>) {
    cta.work (%qi, %h) in (%n, %n) order(#cta.order<lpt, group_bytes = 1024>) {
      // CHECK: cta.role "all" teams(%[[W:.*]] in 2) warps(4) regs(240) {
      cta.role "all" teams(%w in 2) warps(4) regs(240) {
        // CHECK: %[[Q:.*]] = cta.load each %{{.*}}[%{{.*}}, %[[H]], %[[I]], %{{.*}}] : memref<?x?x?x128xbf16> -> !cta.tile<64x128xbf16, swizzle = 128>
        %q = cta.load each %K[%c0, %h, %qi, %c0] : !io -> !tile
        // CHECK: cta.load once
        %once = cta.load once %K[%c0, %h, %qi, %c0] : !io -> !tile
        // CHECK: %[[E:.*]] = cta.acquire %[[RING]] : !cta.ring<2,
        %e = cta.acquire %ring : !ring
        // CHECK: cta.copy %{{.*}}[%{{.*}}] to %[[E]] : memref<?x?x?x128xbf16>, !cta.tile<
        cta.copy %K[%c0, %h, %qi, %c0] to %e : !io, !tile
        // CHECK: cta.acquire %[[OWN]][%[[W]]] : !cta.ring<2,
        %ew = cta.acquire %own[%w] : !ring
        // CHECK: %[[T:.*]] = cta.consume %[[RING]] : !cta.ring<2,
        %t = cta.consume %ring : !ring
        // CHECK: cta.read %[[Q]] : !cta.tile<64x128xbf16, swizzle = 128> -> vector<64x128xbf16>
        %f = cta.read %q : !tile -> vector<64x128xbf16>
        // CHECK: cta.sync %[[TURN]][%[[W]]] : !cta.barrier<2>
        cta.sync %turn[%w] : !cta.barrier<2>
        // CHECK: %[[S:.*]] = cta.mma %[[Q]], transpose %[[T]] : !cta.tile<64x128xbf16, swizzle = 128>, !cta.tile<64x128xbf16, swizzle = 128> -> !cta.flight<64x64xf32>
        %s = cta.mma %q, transpose %t : !tile, !tile -> !cta.flight<64x64xf32>
        // CHECK: cta.arrive %[[TURN]][%[[W]]] : !cta.barrier<2>
        cta.arrive %turn[%w] : !cta.barrier<2>
        // CHECK: %[[X:.*]] = cta.wait %[[S]] pending 1 : !cta.flight<64x64xf32>
        %x = cta.wait %s pending 1 : !cta.flight<64x64xf32>
        // CHECK: %[[P:.*]] = arith.truncf
        %p = arith.truncf %x : vector<64x64xf32> to vector<64x64xbf16>
        %z = arith.constant dense<0.0> : vector<64x128xf32>
        // CHECK: cta.mma %[[P]], %[[T]] into %{{.*}} : vector<64x64xbf16>, !cta.tile<{{.*}}> -> !cta.flight<64x128xf32>
        %of = cta.mma %p, %t into %z : vector<64x64xbf16>, !tile -> !cta.flight<64x128xf32>
        // CHECK: cta.wait %{{.*}} : !cta.flight<64x128xf32>
        %o = cta.wait %of : !cta.flight<64x128xf32>
        // CHECK: cta.release %[[T]] : !cta.tile<64x128xbf16, swizzle = 128>
        cta.release %t : !tile
        // CHECK: cta.row %{{.*}} : vector<64x1xi32>
        %row = cta.row %i : vector<64x1xi32>
        // CHECK: cta.col %{{.*}} : vector<1x64xi32>
        %col = cta.col %i : vector<1x64xi32>
        %rows = vector.shape_cast %row : vector<64x1xi32> to vector<64xi32>
        // CHECK: cta.lookup %{{.*}}[%{{.*}}, %[[H]], %{{.*}}] : memref<?x?x?xf32>, (index, index, vector<64xi32>) -> vector<64xf32>
        %onRows = cta.lookup %LSE[%c0, %h, %rows] : memref<?x?x?xf32>, (index, index, vector<64xi32>) -> vector<64xf32>
        // CHECK: cta.lookup %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : memref<?x?x?xf32>, (i32, vector<64xi32>, vector<1x64xi32>) -> vector<64x64xf32>
        %onBoth = cta.lookup %LSE[%i, %rows, %col] : memref<?x?x?xf32>, (i32, vector<64xi32>, vector<1x64xi32>) -> vector<64x64xf32>
        %ones = arith.constant dense<1.0> : vector<64xf32>
        %any = arith.cmpf ogt, %ones, %ones : vector<64xf32>
        // CHECK: cta.if_any %{{.*}} : vector<64xi1> -> (vector<64xf32>) {
        // CHECK: cta.yield %{{.*}} : vector<64xf32>
        // CHECK: } else {
        %l = cta.if_any %any : vector<64xi1> -> (vector<64xf32>) {
          cta.yield %ones : vector<64xf32>
        } else {
          cta.yield %ones : vector<64xf32>
        }
        // CHECK: cta.if_any %{{.*}} : vector<64xi1> {
        cta.if_any %any : vector<64xi1> {
        }
        %ob = arith.truncf %o : vector<64x128xf32> to vector<64x128xbf16>
        // CHECK: cta.store %{{.*}}, %{{.*}}[%{{.*}}] : vector<64x128xbf16>, memref<?x?x?x128xbf16>
        cta.store %ob, %K[%c0, %h, %qi, %c0] : vector<64x128xbf16>, !io
        // CHECK: cta.store %{{.*}}, %{{.*}}[%{{.*}}] : vector<64xf32>, memref<?x?x?xf32>
        cta.store %l, %LSE[%c0, %h, %qi] : vector<64xf32>, memref<?x?x?xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @fold
  gpu.func @fold(%p: vector<64x128xf32>, %a: vector<64x8xf32>) kernel {
    // CHECK: cta.fold %{{.*}} onto %{{.*}} : vector<64x128xf32>, vector<64x8xf32>
    %s = cta.fold %p onto %a : vector<64x128xf32>, vector<64x8xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @carried
  gpu.func @carried(%n: index, %init: vector<64xf32>, %O: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 2) warps(4) {
      // CHECK: %[[END:.*]]:2 = cta.work (%[[B:.*]]) in (%{{.*}}) order(#cta.order<natural, persistent = static>) iter_args(%[[V:.*]] = %{{.*}}, %[[I:.*]] = %{{.*}}) -> (vector<64xf32>, index) attributes {note} {
      %end:2 = cta.work (%b) in (%n) order(#cta.order<natural, persistent = static>)
          iter_args(%v = %init, %i = %c0) -> (vector<64xf32>, index) attributes {note} {
        // CHECK: cta.store %[[V]], %{{.*}}[%[[I]]]
        cta.store %v, %O[%i] : vector<64xf32>, memref<?xf32>
        // CHECK: %[[NEXT:.*]] = arith.addf
        %next = arith.addf %v, %v : vector<64xf32>
        // CHECK: cta.yield %[[NEXT]], %[[B]] : vector<64xf32>, index
        cta.yield %next, %b : vector<64xf32>, index
      }
      // CHECK: cta.store %[[END]]#0, %{{.*}}[%[[END]]#1]
      cta.store %end#0, %O[%end#1] : vector<64xf32>, memref<?xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @again
  gpu.func @again(%n: index, %flag: i1) kernel {
    cta.role "all" teams(%w in 2) warps(4) {
      // CHECK: cta.work (%{{.*}}) in (%[[N:.*]]) order(#cta.order<natural>) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %flags = vector.broadcast %flag : i1 to vector<64xi1>
        // CHECK: cta.any %{{.*}} : vector<64xi1>
        %any = cta.any %flags : vector<64xi1>
        // CHECK: cta.mark %{{.*}} : vector<64xi1>
        cta.mark %flags : vector<64xi1>
      }
      // CHECK: cta.work marked (%{{.*}}) in (%[[N]]) order(#cta.order<natural>) {
      cta.work marked (%b) in (%n) order(#cta.order<natural>) {
      }
    }
    gpu.return
  }
}
