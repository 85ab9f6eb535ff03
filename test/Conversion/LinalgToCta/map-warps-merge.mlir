// RUN: fa-opt %S/Inputs/f16.mlir --fa2="level=cta split-kv=auto" | FileCheck %s

// Two kernels in one module, and the plan that calls them. The states that the merge reads go straight to fragments;
// rows past the end hold what the padding says. The second output of the parts ends
// where the first does.
// CHECK: gpu.module @attention_kernels
// CHECK: gpu.func @attention_0
// CHECK-SAME: cta.extents = [#cta.extent<arg = 2, dim = 0, tile = 1>, #cta.extent<arg = 2, dim = 3
// CHECK: cta.mma
// CHECK: cta.store %{{.*}}, %arg2[
// CHECK: cta.store %{{.*}}, %arg3[{{.*}}] until
// CHECK: gpu.func @attention_1
// CHECK-SAME: (%[[ACC:[^:]*]]: memref<?x1x4x?x64xf32
// CHECK-SAME: %[[MAX:[^:]*]]: memref<?x1x4x?xf32
// CHECK: %[[N:.*]] = memref.dim %[[ACC]], %c0
// CHECK: scf.for %{{.*}} = %c0 to %[[N]]
// CHECK: cta.fetch %[[MAX]][{{.*}}] until %{{.*}} pad(0xFF800000)
// CHECK: arith.maxnumf
// CHECK: scf.for %{{.*}} = %c0 to %[[N]]
// CHECK: cta.fetch %[[ACC]][{{.*}}] until %{{.*}} : {{.*}} -> vector<{{[0-9]+}}x64xf32>
// CHECK: math.fma
// CHECK: cta.store
// CHECK: func.func private @attention_0({{.*}}) attributes {cta.kernel = @attention_kernels::@attention_0}
// CHECK: func.func private @attention_1({{.*}}) attributes {cta.kernel = @attention_kernels::@attention_1}
// CHECK: func.func @attention
// CHECK: call @attention_0
// CHECK: call @attention_1
