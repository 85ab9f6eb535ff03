// What score and mask regions capture: lookups where a position differs between elements, at the smallest shape that the
// positions have, and one scalar load where all are the same.
// RUN: fa-opt --fa2="level=cta br=128 bc=64 teams=4" %S/../../../kernels-gen/specs/bias.mlir | FileCheck %s --check-prefix=BIAS
// RUN: fa-opt --fa2="level=cta br=128 bc=64 teams=4" %S/../../../kernels-gen/specs/document.mlir | FileCheck %s --check-prefix=DOCUMENT
// RUN: fa-opt --fa2="level=cta br=128 bc=64 teams=4" %S/../../../kernels-gen/specs/prefix-lm.mlir | FileCheck %s --check-prefix=PREFIX
// RUN: sed "s/xi32/xi64/g; s/%dj : i32/%dj : i64/" %S/../../../kernels-gen/specs/document.mlir | not fa-opt --fa2=level=cta 2>&1 | FileCheck %s --check-prefix=WIDE

// BIAS: gpu.func @attention({{.*}}, %[[BIAS:[^:]*]]: memref<?x?x?xf32, strided<[?, ?, 1]>, #gpu.address_space<global>>, %{{[^:]*}}: memref<?x?x?x128xbf16
// BIAS: cta.work (%{{.*}}, %[[H:.*]], %{{.*}}) in
// BIAS: scf.for
// BIAS: cta.lookup %[[BIAS]][%[[H]], %{{.*}}, %{{.*}}] : {{.*}}, (index, vector<32xi32>, vector<1x64xi32>) -> vector<32x64xf32>
// Where K ends, keys past the end look at the last one.
// BIAS: scf.for
// BIAS: arith.minsi {{.*}} : vector<1x64xi32>
// BIAS: cta.lookup %[[BIAS]]

// DOCUMENT: cta.lookup {{.*}}, (index, vector<32xi32>) -> vector<32xi32>
// DOCUMENT: cta.lookup {{.*}}, (index, vector<1x64xi32>) -> vector<1x64xi32>
// DOCUMENT: arith.cmpi eq, {{.*}} : vector<32x64xi32>

// PREFIX: cta.role
// PREFIX: memref.load %{{.*}}[%{{.*}}] : memref<?xi32, strided<[1]>, #gpu.address_space<global>>
// PREFIX-NOT: cta.lookup

// WIDE: error: {{.*}}reads elements of type 'i64': kernels read i32, f32, f16 and bf16
