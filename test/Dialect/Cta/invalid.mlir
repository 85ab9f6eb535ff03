// RUN: fa-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects a swizzle of 0, 32, 64 or 128 bytes, but found 48}}
func.func private @f(!cta.tile<64x128xbf16, swizzle = 48>)

// -----

// expected-error @below {{expects swizzled rows of a multiple of 16 bytes, but found 40}}
func.func private @f(!cta.tile<64x20xbf16, swizzle = 128>)

// -----

// expected-error @below {{expects 2 dimensions, but found 3}}
func.func private @f(!cta.tile<4x64x32xbf16>)

// -----

// expected-error @below {{expects elements of at least 8 bits, but found 'i4'}}
func.func private @f(!cta.tile<64x32xi4>)

// -----

// expected-error @below {{expects at least one row and column, but found 0x32}}
func.func private @f(!cta.tile<0x32xbf16>)

// -----

// expected-error @below {{expects at least one stage, but found 0}}
func.func private @f(!cta.ring<0, !cta.tile<64x64xbf16>>)

// -----

// expected-error @below {{expects a product in f32, but found 'bf16'}}
func.func private @f(!cta.flight<64x64xbf16>)

// -----

// expected-error @below {{expects at least one row and column, but found 0x64}}
func.func private @f(!cta.flight<0x64xf32>)

// -----

// expected-error @below {{expects 1 to 15 barriers, but found 16}}
func.func private @f(!cta.barrier<16>)

// -----

// expected-error @below {{expects a balanced order to be persistent = static without group_bytes}}
func.func private @f() attributes {a = #cta.order<balanced>}

// -----

// expected-error @below {{expects a paired order to be persistent = static without group_bytes}}
func.func private @f() attributes {a = #cta.order<paired>}

// -----

// expected-error @below {{expects a balanced order to be persistent = static without group_bytes}}
func.func private @f() attributes {a = #cta.order<balanced, group_bytes = 1024, persistent = static>}

// -----

// expected-error @below {{expects group_bytes of at least 0, but found -1}}
func.func private @f() attributes {a = #cta.order<lpt, group_bytes = -1>}

// -----

// expected-error @below {{expected natural, lpt, balanced, paired or mirrored, found 'random'}}
func.func private @f() attributes {a = #cta.order<random>}

// -----

// expected-error @below {{expected none, static or dynamic, found 'often'}}
func.func private @f() attributes {a = #cta.order<lpt, persistent = often>}

// -----

// expected-error @below {{expects arg and dim of at least 0, but found -1 and 0}}
func.func private @f() attributes {a = #cta.extent<arg = -1, dim = 0, tile = 1>}

// -----

// expected-error @below {{expects a tile of at least 1, but found 0}}
func.func private @f() attributes {a = #cta.extent<arg = 0, dim = 0, tile = 0>}

// -----

func.func @f(%i: index) {
  // expected-error @below {{'cta.work' op expects one coordinate for each extent, but found 1 coordinates and 2 extents}}
  cta.work (%a) in (%i, %i) order(#cta.order<natural>) {
  }
  return
}

// -----

func.func @f() {
  // expected-error @below {{'cta.work' op expects at least one extent}}
  cta.work () in () order(#cta.order<natural>) {
  }
  return
}

// -----

func.func @f(%i: index) {
  cta.work (%a) in (%i) order(#cta.order<natural>) {
  // expected-error @below {{'cta.work' op must not stand inside another cta.work}}
    cta.work (%b) in (%i) order(#cta.order<natural>) {
    }
  }
  return
}

// -----

func.func @f() {
  // expected-error @below {{'cta.role' op expects at least one team and one warp, but found 0 and 4}}
  cta.role "r" teams(%w in 0) warps(4) {
  }
  return
}

// -----

func.func @f() {
  // expected-error @below {{'cta.role' op expects at most 1024 threads, but found 16 teams of 4 warps}}
  cta.role "r" teams(%w in 16) warps(4) {
  }
  return
}

// -----

func.func @f() {
  // expected-error @below {{'cta.role' op expects a register budget from 24 to 256 in steps of 8, but found 100}}
  cta.role "r" teams(%w in 1) warps(4) regs(100) {
  }
  return
}

// -----

func.func @f() {
  cta.role "r" teams(%w in 1) warps(4) {
  // expected-error @below {{'cta.role' op must not stand inside another cta.role}}
    cta.role "s" teams(%v in 1) warps(4) {
    }
  }
  return
}

// -----

func.func @f(%p: vector<64xi1>) {
  // expected-error @below {{'cta.if_any' op expects an else region where it has results}}
  %r = cta.if_any %p : vector<64xi1> -> (vector<64xi1>) {
    cta.yield %p : vector<64xi1>
  }
  return
}

// -----

func.func @f(%p: vector<64xi1>) {
  // expected-error @below {{'cta.if_any' op expects regions that yield its result types, but found ()}}
  %r = cta.if_any %p : vector<64xi1> -> (vector<64xi1>) {
    cta.yield %p : vector<64xi1>
  } else {
  }
  return
}

// -----

func.func @f(%m: memref<?x?x128xbf16>, %i: index) {
  // expected-error @below {{'cta.load' op expects one index for each dimension of 'memref<?x?x128xbf16>', but found 1}}
  %t = cta.load once %m[%i] : memref<?x?x128xbf16> -> !cta.tile<64x128xbf16, swizzle = 128>
  return
}

// -----

func.func @f(%m: memref<?xbf16>, %i: index) {
  // expected-error @below {{'cta.load' op expects a memref of at least 2 dimensions, but found 'memref<?xbf16>'}}
  %t = cta.load once %m[%i] : memref<?xbf16> -> !cta.tile<64x128xbf16, swizzle = 128>
  return
}

// -----

func.func @f(%m: memref<?x?x128xbf16>, %i: index) {
  // expected-error @below {{'cta.load' op expects memref and tile of one element type, but found 'bf16' and 'f16'}}
  %t = cta.load once %m[%i, %i, %i] : memref<?x?x128xbf16> -> !cta.tile<64x128xf16>
  return
}

// -----

func.func @f(%m: memref<?x?x128xbf16>, %i: index) {
  // expected-error @below {{'cta.load' op expects a tile of at most the memref's 128 columns, but found 256}}
  %t = cta.load each %m[%i, %i, %i] : memref<?x?x128xbf16> -> !cta.tile<64x256xbf16>
  return
}

// -----

func.func @f(%t: !cta.tile<64x128xbf16, swizzle = 128>) {
  // expected-error @below {{'cta.read' op expects the fragment 'vector<64x128xbf16>', but found 'vector<64x64xbf16>'}}
  %f = cta.read %t : !cta.tile<64x128xbf16, swizzle = 128> -> vector<64x64xbf16>
  return
}

// -----

func.func @f(%m: memref<?x?x128xbf16>, %i: index, %t: !cta.tile<64x128xbf16, swizzle = 128>) {
  // expected-error @below {{'cta.copy' op expects a tile that cta.acquire gives}}
  cta.copy %m[%i, %i, %i] to %t : memref<?x?x128xbf16>, !cta.tile<64x128xbf16, swizzle = 128>
  return
}

// -----

func.func @f(%t: !cta.tile<64x128xbf16, swizzle = 128>) {
  // expected-error @below {{'cta.release' op expects a tile that cta.consume gives}}
  cta.release %t : !cta.tile<64x128xbf16, swizzle = 128>
  return
}

// -----

func.func @f(%a: vector<64xbf16>, %t: !cta.tile<64x128xbf16, swizzle = 128>) {
  // expected-error @below {{'cta.mma' op expects a to be a tile or a 2-D fragment, but found 'vector<64xbf16>'}}
  %f = cta.mma %a, %t : vector<64xbf16>, !cta.tile<64x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
  return
}

// -----

func.func @f(%a: vector<64x64xf16>, %t: !cta.tile<64x128xbf16, swizzle = 128>) {
  // expected-error @below {{'cta.mma' op expects a and b of one element type, but found 'f16' and 'bf16'}}
  %f = cta.mma %a, %t : vector<64x64xf16>, !cta.tile<64x128xbf16, swizzle = 128> -> !cta.flight<64x128xf32>
  return
}

// -----

func.func @f(%t: !cta.tile<64x64xf32>) {
  // expected-error @below {{'cta.mma' op expects operands of at most 16 bits, but found 'f32'}}
  %f = cta.mma %t, %t : !cta.tile<64x64xf32>, !cta.tile<64x64xf32> -> !cta.flight<64x64xf32>
  return
}

// -----

func.func @f(%a: vector<64x64xbf16>, %t: !cta.tile<64x128xbf16, swizzle = 128>) {
  // expected-error @below {{'cta.mma' op expects a of b's depth 128, but found 64}}
  %f = cta.mma %a, transpose %t : vector<64x64xbf16>, !cta.tile<64x128xbf16, swizzle = 128> -> !cta.flight<64x64xf32>
  return
}

// -----

func.func @f(%a: vector<64x64xbf16>, %t: !cta.tile<64x128xbf16, swizzle = 128>) {
  // expected-error @below {{'cta.mma' op expects a product of 64x128, but found 64x64}}
  %f = cta.mma %a, %t : vector<64x64xbf16>, !cta.tile<64x128xbf16, swizzle = 128> -> !cta.flight<64x64xf32>
  return
}

// -----

func.func @f(%f: !cta.flight<64x64xf32>) {
  // expected-error @below {{'cta.wait' op expects pending of at least 0, but found -1}}
  %w = cta.wait %f pending -1 : !cta.flight<64x64xf32>
  return
}

// -----

func.func @f(%v: vector<4x64x128xbf16>, %m: memref<?x?x128xbf16>, %i: index) {
  // expected-error @below {{'cta.store' op expects a fragment or a row vector, but found 'vector<4x64x128xbf16>'}}
  cta.store %v, %m[%i, %i, %i] : vector<4x64x128xbf16>, memref<?x?x128xbf16>
  return
}

// -----

func.func @f(%v: vector<64x128xbf16>, %m: memref<?xbf16>, %i: index) {
  // expected-error @below {{'cta.store' op expects a memref of at least 2 dimensions, but found 'memref<?xbf16>'}}
  cta.store %v, %m[%i] : vector<64x128xbf16>, memref<?xbf16>
  return
}

// -----

func.func @f(%v: vector<64x128xbf16>, %m: memref<?x?x128xbf16>, %i: index) {
  // expected-error @below {{'cta.store' op expects one index for each dimension of 'memref<?x?x128xbf16>', but found 2}}
  cta.store %v, %m[%i, %i] : vector<64x128xbf16>, memref<?x?x128xbf16>
  return
}

// -----

func.func @f(%v: vector<64x128xf32>, %m: memref<?x?x128xbf16>, %i: index) {
  // expected-error @below {{'cta.store' op expects value and memref of one element type, but found 'f32' and 'bf16'}}
  cta.store %v, %m[%i, %i, %i] : vector<64x128xf32>, memref<?x?x128xbf16>
  return
}

// -----

func.func @f(%v: vector<64x256xbf16>, %m: memref<?x?x128xbf16>, %i: index) {
  // expected-error @below {{'cta.store' op expects a fragment of at most the memref's 128 columns, but found 256}}
  cta.store %v, %m[%i, %i, %i] : vector<64x256xbf16>, memref<?x?x128xbf16>
  return
}

// -----

func.func @f(%b: i32) {
  // expected-error @below {{'cta.row' op expects a result of 1 or 2 dimensions, but found 'vector<2x64x64xi32>'}}
  %r = cta.row %b : vector<2x64x64xi32>
  return
}

// -----

func.func @f(%b: i32) {
  // expected-error @below {{'cta.col' op expects a result of 2 dimensions, but found 'vector<64xi32>'}}
  %r = cta.col %b : vector<64xi32>
  return
}

// -----

// Found by fa-fuzz: 32 times this is no number of 64 bits.
func.func @f() {
  // expected-error @below {{'cta.role' op expects at most 1024 threads, but found 1 teams of 9223372036854775807 warps}}
  cta.role "r" teams(%w in 1) warps(9223372036854775807) {
  }
  return
}

// -----

// Found by fa-fuzz: nor are this tile's bytes.
// expected-error @below {{expects at most 16777216 elements, but found 4294967296x4294967296}}
func.func private @f(!cta.tile<4294967296x4294967296xbf16>)

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{'cta.lookup' op expects one index for each dimension of 'memref<?x?xf32>', but found 1}}
  %v = cta.lookup %m[%i] : memref<?x?xf32>, (index) -> vector<64xf32>
  return
}

// -----

func.func @f(%m: memref<?xf16>, %r: vector<64xi32>) {
  // expected-error @below {{'cta.lookup' op expects memref and result of one element type, but found 'f16' and 'f32'}}
  %v = cta.lookup %m[%r] : memref<?xf16>, (vector<64xi32>) -> vector<64xf32>
  return
}

// -----

func.func @f(%m: memref<?xi1>, %r: vector<64xi32>) {
  // expected-error @below {{'cta.lookup' op result #0 must be}}
  %v = cta.lookup %m[%r] : memref<?xi1>, (vector<64xi32>) -> vector<64xi1>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %r: vector<64xi32>, %e: vector<32x8xi32>) {
  // expected-error @below {{'cta.lookup' op expects indices of rows <R>, columns <1xC> and elements <RxC> of one fragment, but found ('vector<64xi32>', 'vector<32x8xi32>')}}
  %v = cta.lookup %m[%r, %e] : memref<?x?xf32>, (vector<64xi32>, vector<32x8xi32>) -> vector<64x8xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index) {
  // expected-error @below {{'cta.lookup' op expects an index that differs from element to element, but found ('index')}}
  %v = cta.lookup %m[%i] : memref<?xf32>, (index) -> vector<64xf32>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %r: vector<64xi32>, %c: vector<1x8xi32>) {
  // expected-error @below {{'cta.lookup' op expects a result of the indices' shape 'vector<64x8xf32>', but found 'vector<64xf32>'}}
  %v = cta.lookup %m[%r, %c] : memref<?x?xf32>, (vector<64xi32>, vector<1x8xi32>) -> vector<64xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'cta.ring' op expects to be each of 1 to 1024 teams', but found 0}}
  %r = cta.ring each(0) : !cta.ring<1, !cta.tile<64x64xbf16>>
  return
}

// -----

func.func @f() {
  %r = cta.ring each(2) : !cta.ring<1, !cta.tile<64x64xbf16>>
  // expected-error @below {{'cta.acquire' op expects a team, since its ring is each team's}}
  %e = cta.acquire %r : !cta.ring<1, !cta.tile<64x64xbf16>>
  return
}

// -----

func.func @f(%t: index) {
  %r = cta.ring : !cta.ring<1, !cta.tile<64x64xbf16>>
  // expected-error @below {{'cta.acquire' op expects no team, since its ring is all teams'}}
  %e = cta.acquire %r[%t] : !cta.ring<1, !cta.tile<64x64xbf16>>
  return
}

// -----

func.func @f() {
  %c2 = arith.constant 2 : index
  %r = cta.ring each(2) : !cta.ring<1, !cta.tile<64x64xbf16>>
  // expected-error @below {{'cta.acquire' op expects a team below 2, but found 2}}
  %e = cta.acquire %r[%c2] : !cta.ring<1, !cta.tile<64x64xbf16>>
  return
}

// -----

func.func @f() {
  %r = cta.ring each(2) : !cta.ring<1, !cta.tile<64x64xbf16>>
  cta.role "compute" teams(%w in 3) warps(4) {
    // expected-error @below {{'cta.consume' op expects a ring of each of its role's 3 teams, but found one of 2}}
    %k = cta.consume %r : !cta.ring<1, !cta.tile<64x64xbf16>>
  }
  return
}

// -----

gpu.module @kernels {
  gpu.func @nothing_to_mark(%n: index, %flag: vector<64xi1>) kernel {
    cta.role "all" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        // expected-error @below {{must stand inside a cta.work that has a marked one behind it}}
        cta.mark %flag : vector<64xi1>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @mark_in_marked(%n: index, %flag: vector<64xi1>) kernel {
    cta.role "all" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
      }
      cta.work marked (%b) in (%n) order(#cta.order<natural>) {
        // expected-error @below {{must stand inside a cta.work that has a marked one behind it}}
        cta.mark %flag : vector<64xi1>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @marked_first(%n: index) kernel {
    cta.role "all" teams(%w in 1) warps(4) {
      // expected-error @below {{expects a cta.work that is not marked in front of it, in the same role, of the same extents and order}}
      cta.work marked (%b) in (%n) order(#cta.order<natural>) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @marked_of_others(%n: index, %m: index) kernel {
    cta.role "all" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
      }
      // expected-error @below {{expects a cta.work that is not marked in front of it, in the same role, of the same extents and order}}
      cta.work marked (%b) in (%m) order(#cta.order<natural>) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @marked_outside(%n: index) kernel {
    cta.work (%b) in (%n) order(#cta.order<natural>) {
    }
    // expected-error @below {{expects a cta.work that is not marked in front of it, in the same role, of the same extents and order}}
    cta.work marked (%b) in (%n) order(#cta.order<natural>) {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @marked_twice(%n: index) kernel {
    cta.role "all" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
      }
      cta.work marked (%b) in (%n) order(#cta.order<natural>) {
      }
      cta.work (%b) in (%n) order(#cta.order<natural>) {
      }
      // expected-error @below {{expects to be the role's only one that is marked}}
      cta.work marked (%b) in (%n) order(#cta.order<natural>) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @fold_rows(%p: vector<64x128xf32>, %a: vector<32x8xf32>) kernel {
    // expected-error @below {{expects as many rows as the accumulator's 32, but found 64}}
    %s = cta.fold %p onto %a : vector<64x128xf32>, vector<32x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @fold_columns(%p: vector<64x128xf32>, %a: vector<64x24xf32>) kernel {
    // expected-error @below {{expects columns in multiples of the accumulator's 24, but found 128}}
    %s = cta.fold %p onto %a : vector<64x128xf32>, vector<64x24xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @yields_others(%n: index, %x: f32) kernel {
    cta.role "all" teams(%w in 1) warps(4) {
      // expected-error @below {{expects to carry and to yield its result types ('f32'), but carries ('f32') and yields ('index')}}
      %r = cta.work (%b) in (%n) order(#cta.order<natural, persistent = static>) iter_args(%a = %x) -> (f32) {
        cta.yield %b : index
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @carries_one_item(%n: index, %x: f32) kernel {
    cta.role "all" teams(%w in 1) warps(4) {
      // expected-error @below {{expects a persistent order where it carries values, but found #cta.order<lpt>}}
      %r = cta.work (%b) in (%n) order(#cta.order<lpt>) iter_args(%a = %x) -> (f32) {
        cta.yield %a : f32
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @carries_of_block(%n: index, %x: f32) kernel {
    // expected-error @below {{expects to stand in a cta.role where it carries values, which are a team's}}
    %r = cta.work (%b) in (%n) order(#cta.order<natural, persistent = static>) iter_args(%a = %x) -> (f32) {
      cta.yield %a : f32
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @carries_marked(%n: index, %x: f32) kernel {
    cta.role "all" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural, persistent = static>) {
      }
      // expected-error @below {{expects to carry nothing where it is marked, since it leaves out items}}
      %r = cta.work marked (%b) in (%n) order(#cta.order<natural, persistent = static>) iter_args(%a = %x) -> (f32) {
        cta.yield %a : f32
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @too_few_coordinates(%n: index, %x: f32) kernel {
    cta.role "all" teams(%w in 1) warps(4) {
      // expected-error @below {{expects one coordinate for each extent, but found 1 coordinates and 2 extents}}
      %r = cta.work (%b) in (%n, %n) order(#cta.order<natural, persistent = static>) iter_args(%a = %x) -> (f32) {
        cta.yield %a : f32
      }
    }
    gpu.return
  }
}
