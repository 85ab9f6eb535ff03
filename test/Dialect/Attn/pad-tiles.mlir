// RUN: fa-opt "--choose-schedule=br=64 bc=64" --tile --interchange --skip-masked-blocks --pad-tiles %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s
// RUN: fa-opt --tile --pad-tiles %s | FileCheck %s --check-prefix=SECOND
// RUN: fa-opt --pad-tiles --split-input-file %S/pad-tiles-refused.mlir -verify-diagnostics

// The state is static through both loops; only the blocks at the end of K and V are padded and masked.
// CHECK-LABEL: func @attention
// CHECK: scf.forall
// CHECK: attn.init outs({{.*}} : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
// CHECK: %[[QP:.*]] = tensor.pad %{{.*}} low[0, 0]
// CHECK: tensor<?x128xbf16> to tensor<64x128xbf16>
// CHECK: scf.for {{.*}} -> (tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
// CHECK-NOT: tensor.pad
// CHECK: attn.update {{.*}}ins(%[[QP]],
// CHECK: scf.for
// CHECK: tensor.pad
// CHECK: tensor<?x128xbf16> to tensor<64x128xbf16>
// CHECK: mask(%{{.*}}, %{{.*}}, %{{.*}}, %[[J:.*]]) {
// CHECK: %[[CAUSAL:.*]] = arith.cmpi sle, %[[J]],
// CHECK: %[[THERE:.*]] = arith.cmpi slt, %[[J]], %dim
// CHECK: %[[SEES:.*]] = arith.andi %[[CAUSAL]], %[[THERE]]
// CHECK: attn.yield %[[SEES]]
// CHECK: attn.finalize {{.*}} outs({{.*}} : tensor<64x128xbf16>, tensor<64xf32>)
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [%{{.*}}, 128]

// KV outside: the state is padded and cut around each update; no mask before, one now.
// SECOND-LABEL: func @kv_outside
// SECOND: scf.for
// SECOND: tensor.pad
// SECOND: attn.update normalized ins({{.*}} : tensor<{{[0-9]+}}x64xf32>, tensor<{{[0-9]+}}x64xf32>, tensor<{{[0-9]+}}x64xf32>) {{.*}} mask(
// SECOND: tensor.extract_slice
// SECOND: tensor.insert_slice {{.*}} : tensor<?x64xf32> into tensor<1x4x?x64xf32>
func.func @kv_outside(%q: tensor<1x4x?x64xf32>, %k: tensor<1x4x?x64xf32>) -> tensor<1x4x?x64xf32> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>)
      : tensor<1x4x?x64xf32>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf32>
}

// A region that reads a tensor at i and j reads what is there, for padding too.
// SECOND-LABEL: func @bias
// SECOND-DAG: %[[LAST_Q:.*]] = arith.subi %[[SQ:.*]], %c1
// SECOND-DAG: %[[LAST_KV:.*]] = arith.subi %[[SKV:.*]], %c1
// SECOND: score(%{{.*}}, %{{.*}}, %[[H:.*]], %[[I:.*]], %[[J:.*]]) {
// SECOND-DAG: %[[CI:.*]] = arith.minsi %[[I]], %[[LAST_Q]]
// SECOND-DAG: %[[CJ:.*]] = arith.minsi %[[J]], %[[LAST_KV]]
// SECOND: tensor.extract %{{.*}}[%[[H]], %[[CI]], %[[CJ]]]
// SECOND: mask(%{{.*}}, %{{.*}}, %{{.*}}, %[[MJ:.*]]) {
// SECOND: arith.cmpi slt, %[[MJ]]
func.func @bias(%q: tensor<1x4x?x64xf32>, %k: tensor<1x4x?x64xf32>, %bias: tensor<4x?x?xf32>) -> tensor<1x4x?x64xf32> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>)
      score(%s, %b, %h, %i, %j) {
        %e = tensor.extract %bias[%h, %i, %j] : tensor<4x?x?xf32>
        %t = arith.addf %s, %e : f32
        attn.yield %t : f32
      } : tensor<1x4x?x64xf32>, tensor<1x4x?xf32>
  return %o : tensor<1x4x?x64xf32>
}
