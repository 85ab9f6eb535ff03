// RUN: fa-opt "--choose-schedule=br=64 bc=64" --tile %S/../../../kernels-gen/specs/attention.mlir | FileCheck %s
// RUN: fa-opt --choose-schedule="br=32 bc=48 teams=1" --tile --split-input-file %s 2>%t | FileCheck %s --check-prefix=SECOND
// RUN: FileCheck %s --check-prefix=WARN < %t

// KV outside, Q inside, the state in full-size tensors.
// CHECK-LABEL: func @attention
// CHECK: attn.init outs({{.*}} : tensor<?x?x?x128xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
// CHECK: scf.for %[[B:[^ ]*]] = {{.*}} iter_args
// CHECK: scf.for %[[H:[^ ]*]] = {{.*}} iter_args
// CHECK: scf.for %[[J:[^ ]*]] = {{.*}} step %c64 iter_args
// CHECK: scf.for %[[I:[^ ]*]] = {{.*}} step %c64 iter_args(%[[ACC:[^ ]*]] = {{.*}}) -> (tensor<?x?x?x128xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
// CHECK: tensor.extract_slice %arg0[%[[B]], %[[H]], %[[I]], 0]
// CHECK: tensor.extract_slice %arg1[%[[B]], %{{.*}}, %[[J]], 0]
// CHECK: attn.update normalized {{.*}} at(%[[B]], %[[H]], %[[I]], %[[J]])
// CHECK: tensor.insert_slice {{.*}} into %[[ACC]][%[[B]], %[[H]], %[[I]], 0]
// CHECK: attn.finalize normalized ins({{.*}} : tensor<?x?x?x128xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)

// A batch of one, static sizes, grouped heads, D other than Dv, a score region, no scale.
// SECOND-LABEL: func @grouped
// SECOND-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// SECOND-DAG: %[[SCALE:.*]] = arith.constant 1.250000e-01 : f32
// SECOND: scf.for
// SECOND: scf.for %[[H:[^ ]*]] =
// SECOND: %[[KVH:.*]] = arith.divui %[[H]], %{{.*}}
// SECOND: scf.for {{.*}} step %c48
// SECOND: scf.for {{.*}} step %c32
// SECOND: tensor.extract_slice %arg1[%{{.*}}, %[[KVH]], %{{.*}}, 0] [1, 1, %{{.*}}, 64]
// SECOND: attn.update normalized {{.*}} scale(%[[SCALE]]) {{.*}} score(
// SECOND: attn.finalize normalized {{.*}} unit(%[[ONE]])
func.func @grouped(%q: tensor<1x6x100x64xf32>, %k: tensor<1x2x200x64xf32>, %v: tensor<1x2x200x32xf32>)
    -> (tensor<1x6x100x32xf32>, tensor<1x6x100xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<1x6x100x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x32xf32>)
      score(%s, %b, %h, %i, %j) {
        %t = math.tanh %s : f32
        attn.yield %t : f32
      } : tensor<1x6x100x32xf32>, tensor<1x6x100xf32>
  return %o, %lse : tensor<1x6x100x32xf32>, tensor<1x6x100xf32>
}

// -----

// WARN: warning: --tile found no attn.forward
func.func @nothing() {
  return
}
