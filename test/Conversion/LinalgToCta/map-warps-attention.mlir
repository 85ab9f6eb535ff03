// RUN: fa-opt --fa2="level=arithmetic br=128 bc=64 teams=4" --map-warps %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s

// CHECK: gpu.module @attention_kernels
// CHECK: gpu.func @attention(%[[Q:[^:]*]]: memref<?x?x?x128xbf16, strided<[?, ?, ?, 1]>, #gpu.address_space<global>>, %[[K:[^:]*]]: memref{{.*}}, %[[V:[^:]*]]: memref{{.*}}, %{{.*}}: f32, %[[O:[^:]*]]: memref<?x?x?x128xbf16{{.*}}, %[[LSE:[^:]*]]: memref<?x?x?xf32, strided<[?, ?, 1]>, #gpu.address_space<global>>) kernel
// CHECK-SAME: cta.extents = [#cta.extent<arg = 4, dim = 2, tile = 128>, #cta.extent<arg = 4, dim = 1, tile = 1>, #cta.extent<arg = 4, dim = 0, tile = 1>]
// The last Q blocks have the most keys to see.
// CHECK: cta.work (%[[QI:.*]], %[[H:.*]], %[[B:.*]]) in ({{.*}}) order(#cta.order<lpt, group_bytes = 33554432>)
// CHECK: cta.role "all" teams(%[[W:.*]] in 4) warps(1)
// Rows of Q are divided, K and V are shared.
// CHECK: cta.load each %[[Q]]{{.*}} -> !cta.tile<32x128xbf16
// CHECK: scf.for {{.*}} -> (vector<32x128xf32>, vector<32xf32>, vector<32xf32>)
// CHECK: cta.load once %[[K]]{{.*}} -> !cta.tile<64x128xbf16
// CHECK: cta.load once %[[V]]
// CHECK: cta.mma %{{.*}}, transpose %{{.*}} -> !cta.flight<32x64xf32>
// CHECK: vector.multi_reduction <maxnumf>, {{.*}} [1] : vector<32x64xf32> to vector<32xf32>
// CHECK: cta.mma {{.*}} into {{.*}} : vector<32x64xbf16>, {{.*}} -> !cta.flight<32x128xf32>
// The partial blocks compare columns, counted from the block's first key, with one limit a row: the mask's or K's end,
// whichever comes first.
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: %[[J32:.*]] = arith.index_cast %[[J]] : index to i32
// CHECK: %[[COL:.*]] = cta.col %[[J32]] : vector<1x64xi32>
// CHECK: cta.row {{.*}} : vector<32xi32>
// CHECK: %[[LIMIT:.*]] = arith.minsi {{.*}} : vector<32xi32>
// CHECK: arith.cmpi sle, {{.*}} : vector<32x64xi32>
// CHECK-NOT: arith.andi
// CHECK: cta.store {{.*}}, %[[O]]
// CHECK: cta.store {{.*}}, %[[LSE]]
