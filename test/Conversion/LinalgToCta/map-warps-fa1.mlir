// FlashAttention 1's nest as a thread block's program: K and V loaded once for each block of keys, the state read from
// workspaces and stored there; and keys divided among teams, whose parts are combined.
// RUN: fa-opt "--fa1=target=sm_90 level=cta" %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s
// RUN: fa-opt "--fa1=target=sm_90 level=cta partition=split_k" %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s --check-prefix=KEYS

// CHECK: gpu.func @attention_0({{.*}}, %[[Q:[^ ]*]]: memref<?x?x?x128xbf16, {{[^%]*}}%arg3: f32, {{.*}}, %[[ACC:[^ ]*]]: memref<?x?x?x128xf32, {{[^%]*}}%[[MAX:[^ ]*]]: memref<?x?x?xf32, {{[^%]*}}%[[SUM:[^ ]*]]: memref<?x?x?xf32,
// CHECK: cta.role "all" teams(%{{.*}} in 4)
// CHECK: scf.for
// CHECK: cta.store %{{.*}}, %[[ACC]]
// CHECK: scf.for
// CHECK: cta.load once
// CHECK: cta.load once
// CHECK: scf.for
// CHECK: cta.load each %[[Q]]
// CHECK: cta.fetch %[[ACC]]
// CHECK: cta.fetch %[[MAX]]{{.*}} pad(0xFF800000)
// CHECK: cta.mma
// CHECK: cta.mma
// CHECK: cta.store
// CHECK: scf.for
// CHECK: cta.fetch %[[ACC]]
// CHECK: cta.store

// KEYS: cta.role "all" teams(%[[W:.*]] in 4)
// KEYS: cta.load each
// KEYS: cta.load each
// KEYS: cta.load once
// KEYS: %[[S:.*]] = cta.wait %{{.*}} : !cta.flight<16x32xf32>
// KEYS: vector.multi_reduction <maxnumf>
// KEYS: cta.combine <maxnumf> %{{.*}} : vector<16xf32>
// KEYS: cta.combine <add> %{{.*}} : vector<16xf32>
// KEYS: cta.combine <add> %{{.*}} : vector<16x128xf32>
// KEYS: scf.if
// KEYS: cta.store
// KEYS: cta.meet

// The launch plan makes the state's tensors.
// CHECK: func.func @attention(
// CHECK-COUNT-5: tensor.empty
// CHECK: call @attention_0
