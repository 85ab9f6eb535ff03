// Loops that cannot be pipelined are left as they are, with the reason.
// RUN: fa-opt %s --split-input-file --verify-diagnostics --overlap-softmax

!t = !cta.tile<64x64xbf16, swizzle = 128>
!ring = !cta.ring<2, !t>
!f = vector<64x64xf32>
!h = vector<64x64xbf16>
!flight = !cta.flight<64x64xf32>

gpu.module @kernels {
  // expected-warning @below {{overlap-softmax finds no loop of two products in 'one'}}
  gpu.func @one(%n: index, %z: !f) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    cta.role "compute" teams(%w in 2) warps(4) {
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%a = %z) -> (!f) {
        %k = cta.consume %kr : !ring
        %sf = cta.mma %k, %k into %a : !t, !t -> !flight
        %s = cta.wait %sf : !flight
        cta.release %k : !t
        scf.yield %s : !f
      }
    }
    gpu.return
  }

  gpu.func @copies(%n: index, %z: !f, %K: memref<?x64xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    %vr = cta.ring : !ring
    cta.role "all" teams(%w in 2) warps(4) {
      // expected-warning @below {{overlap-softmax leaves this loop: it copies into rings itself (run --specialize-warps first)}}
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%a = %z) -> (!f) {
        %e = cta.acquire %kr : !ring
        cta.copy %K[%j, %c0] to %e : memref<?x64xbf16>, !t
        %k = cta.consume %kr : !ring
        %sf = cta.mma %k, %k : !t, !t -> !flight
        %s = cta.wait %sf : !flight
        cta.release %k : !t
        %p = arith.truncf %s : !f to !h
        %v = cta.consume %vr : !ring
        %of = cta.mma %p, %v into %a : !h, !t -> !flight
        %o = cta.wait %of : !flight
        cta.release %v : !t
        scf.yield %o : !f
      }
    }
    gpu.return
  }

  gpu.func @one_ring(%n: index, %z: !f) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    cta.role "compute" teams(%w in 2) warps(4) {
      // expected-warning @below {{both products read tiles of one ring, whose order would change}}
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%a = %z) -> (!f) {
        %k = cta.consume %kr : !ring
        %sf = cta.mma %k, %k : !t, !t -> !flight
        %s = cta.wait %sf : !flight
        cta.release %k : !t
        %p = arith.truncf %s : !f to !h
        %v = cta.consume %kr : !ring
        %of = cta.mma %p, %v into %a : !h, !t -> !flight
        %o = cta.wait %of : !flight
        cta.release %v : !t
        scf.yield %o : !f
      }
    }
    gpu.return
  }

  gpu.func @one_tile(%n: index, %z: !f) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    cta.role "compute" teams(%w in 2) warps(4) {
      // expected-warning @below {{its second product shares a tile with something else}}
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%a = %z) -> (!f) {
        %k = cta.consume %kr : !ring
        %sf = cta.mma %k, %k : !t, !t -> !flight
        %s = cta.wait %sf : !flight
        %p = arith.truncf %s : !f to !h
        %of = cta.mma %p, %k into %a : !h, !t -> !flight
        %o = cta.wait %of : !flight
        cta.release %k : !t
        scf.yield %o : !f
      }
    }
    gpu.return
  }

  gpu.func @three(%n: index, %z: !f) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    cta.role "compute" teams(%w in 2) warps(4) {
      // expected-warning @below {{its body has more than two products}}
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%a = %z) -> (!f) {
        %k = cta.consume %kr : !ring
        %f0 = cta.mma %k, %k into %a : !t, !t -> !flight
        %s0 = cta.wait %f0 : !flight
        %f1 = cta.mma %k, %k into %s0 : !t, !t -> !flight
        %s1 = cta.wait %f1 : !flight
        %f2 = cta.mma %k, %k into %s1 : !t, !t -> !flight
        %s2 = cta.wait %f2 : !flight
        cta.release %k : !t
        scf.yield %s2 : !f
      }
    }
    gpu.return
  }

  gpu.func @used(%n: index, %z: !f, %O: memref<?x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    %vr = cta.ring : !ring
    cta.role "compute" teams(%w in 2) warps(4) {
      // expected-warning @below {{its second product is read before the block's end}}
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%a = %z) -> (!f) {
        %k = cta.consume %kr : !ring
        %sf = cta.mma %k, %k : !t, !t -> !flight
        %s = cta.wait %sf : !flight
        cta.release %k : !t
        %p = arith.truncf %s : !f to !h
        %v = cta.consume %vr : !ring
        %of = cta.mma %p, %v into %a : !h, !t -> !flight
        %o = cta.wait %of : !flight
        cta.release %v : !t
        cta.store %o, %O[%j, %c0] : !f, memref<?x64xf32>
        scf.yield %o : !f
      }
    }
    gpu.return
  }

  gpu.func @depends(%n: index, %z: !f) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    %vr = cta.ring : !ring
    cta.role "compute" teams(%w in 2) warps(4) {
      // expected-warning @below {{something else than the second product depends on its accumulator}}
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%a = %z) -> (!f) {
        %k = cta.consume %kr : !ring
        %sf = cta.mma %k, %k : !t, !t -> !flight
        %s = cta.wait %sf : !flight
        cta.release %k : !t
        %b = arith.addf %s, %a : !f
        %p = arith.truncf %b : !f to !h
        %v = cta.consume %vr : !ring
        %of = cta.mma %p, %v into %a : !h, !t -> !flight
        %o = cta.wait %of : !flight
        cta.release %v : !t
        scf.yield %o : !f
      }
    }
    gpu.return
  }

  gpu.func @not_added(%n: index, %z: !f) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %kr = cta.ring : !ring
    %vr = cta.ring : !ring
    cta.role "compute" teams(%w in 2) warps(4) {
      // expected-warning @below {{its second product does not add to what the loop carries}}
      %r = scf.for %j = %c0 to %n step %c64 iter_args(%a = %z) -> (!f) {
        %k = cta.consume %kr : !ring
        %sf = cta.mma %k, %k : !t, !t -> !flight
        %s = cta.wait %sf : !flight
        cta.release %k : !t
        %p = arith.truncf %s : !f to !h
        %v = cta.consume %vr : !ring
        %of = cta.mma %p, %v : !h, !t -> !flight
        %o = cta.wait %of : !flight
        cta.release %v : !t
        scf.yield %o : !f
      }
    }
    gpu.return
  }
}
