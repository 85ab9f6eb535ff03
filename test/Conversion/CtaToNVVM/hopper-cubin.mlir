// The warp-specialised kernels become cubins for sm_90a, with their tensor maps, all registers of the block divided among
// warpgroups (168 at launch), no spills and no serialised wgmma, each of which would be an error.
// REQUIRES: ptxas
// RUN: fa-opt %S/Inputs/specialised.mlir --lower-to-nvvm=chip=sm_90a --emit-cubin=chip=sm_90a | FileCheck %s

// CHECK: gpu.binary @kernels
// CHECK-SAME: persistent = {block = array<i32: 384>, dynamic_shared = 197632 : i64
// CHECK-SAME: registers = 168 : i64, spill_loads = 0 : i64, spill_stores = 0 : i64, static_shared = 0 : i64
// CHECK-SAME: tensor_maps = [#cta.tensor_map<arg = 0, rows = 64, cols = 128, swizzle = 128>, #cta.tensor_map<arg = 1, rows = 128, cols = 128, swizzle = 128>, #cta.tensor_map<arg = 2, rows = 128, cols = 128, swizzle = 128>, #cta.tensor_map<arg = 3, rows = 64, cols = 128, swizzle = 128>]
// CHECK-SAME: specialised = {block = array<i32: 384>
// CHECK-SAME: registers = 168 : i64, spill_loads = 0 : i64, spill_stores = 0 : i64
