// RUN: fa-opt --online-softmax --split-input-file -verify-diagnostics %s | FileCheck %s
// RUN: not fa-opt --online-softmax=rescale=never %s 2>&1 | FileCheck %s --check-prefix=RESCALE

// RESCALE: error: unknown rescale policy 'never', expected always, lazy or first-max

// CHECK-LABEL: func @update
// CHECK-SAME: %[[Q:.*]]: tensor<64x32xbf16>, %[[K:.*]]: tensor<16x32xbf16>, %{{.*}}: f32, %[[ACC:.*]]: tensor<64x32xf32>, %[[MAX:.*]]: tensor<64xf32>, %[[SUM:.*]]: tensor<64xf32>
// CHECK: %[[S:.*]] = linalg.matmul indexing_maps = {{.*}} ins(%[[Q]], %[[K]]
// CHECK-NOT: linalg.index
// CHECK: %[[BLOCK:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[S]]
// CHECK: arith.maxnumf
// CHECK: %[[ROWS:.*]]:4 = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[BLOCK]] : tensor<64xf32>) outs(%[[MAX]], %[[SUM]],
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[ROWS]]#2
// CHECK: math.fma
// CHECK: math.exp2
// CHECK: %[[NEWSUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[P]] : tensor<64x16xf32>) outs(%[[ROWS]]#1
// CHECK: %[[OLD:.*]] = linalg.generic {{.*}} ins(%[[ROWS]]#3 : tensor<64xf32>) outs(%[[ACC]]
// CHECK: %[[NARROW:.*]] = linalg.generic {{.*}} ins(%[[P]]
// CHECK: arith.truncf {{.*}} : f32 to bf16
// CHECK: %[[NEW:.*]] = linalg.matmul ins(%[[NARROW]], %[[K]] {{.*}}) outs(%[[OLD]]
// CHECK: return %[[NEW]], %[[ROWS]]#0, %[[NEWSUM]]
func.func @update(%q: tensor<64x32xbf16>, %k: tensor<16x32xbf16>, %u: f32, %a: tensor<64x32xf32>, %m: tensor<64xf32>, %l: tensor<64xf32>,
                  %i: index) -> (tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>) {
  %a1, %m1, %l1 = attn.update ins(%q, %k, %k : tensor<64x32xbf16>, tensor<16x32xbf16>, tensor<16x32xbf16>)
      at(%i, %i, %i, %i) lens(%i, %i) scale(%u) outs(%a, %m, %l : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>)
  return %a1, %m1, %l1 : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// Score and mask are inlined at the positions of the elements; f32 is not narrowed; a normalised
// accumulator is divided again.
// CHECK-LABEL: func @variant
// CHECK: %[[S:.*]] = linalg.matmul
// CHECK: linalg.generic {{.*}} outs(%[[S]]
// CHECK-DAG: %[[ROW:.*]] = linalg.index 0
// CHECK-DAG: %[[COL:.*]] = linalg.index 1
// CHECK: math.tanh
// CHECK: arith.cmpi slt
// CHECK: arith.select
// CHECK-NOT: truncf
// CHECK: %[[O:.*]] = linalg.matmul
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}} outs(%[[O]]
func.func @variant(%q: tensor<8x32xf32>, %k: tensor<4x32xf32>, %u: f32, %a: tensor<8x32xf32>, %m: tensor<8xf32>, %i: index) -> tensor<8x32xf32> {
  %a1, %m1, %l1 = attn.update normalized ins(%q, %k, %k : tensor<8x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
      at(%i, %i, %i, %i) lens(%i, %i) scale(%u) outs(%a, %m, %m : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>)
      score(%s, %sb, %sh, %si, %sj) {
        %t = math.tanh %s : f32
        attn.yield %t : f32
      } mask(%mb, %mh, %mi, %mj) {
        %sees = arith.cmpi slt, %mj, %mi : index
        attn.yield %sees : i1
      }
  return %a1 : tensor<8x32xf32>
}

// -----

// CHECK-LABEL: func @ends
// CHECK: linalg.fill ins(%cst{{.*}} : f32) outs({{.*}} : tensor<8x32xf32>)
// CHECK: linalg.fill ins(%cst{{.*}} : f32) outs({{.*}} : tensor<8xf32>)
// CHECK: linalg.generic
// CHECK: arith.divf
// CHECK: linalg.generic
// CHECK: arith.truncf {{.*}} to f16
// CHECK: linalg.generic
// CHECK: math.log2
func.func @ends(%u: f32, %e: tensor<8x32xf32>, %r: tensor<8xf32>, %eo: tensor<8x32xf16>) -> (tensor<8x32xf16>, tensor<8xf32>) {
  %a, %m, %l = attn.init outs(%e, %r, %r : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>)
  %o, %lse = attn.finalize ins(%a, %m, %l : tensor<8x32xf32>, tensor<8xf32>, tensor<8xf32>) unit(%u) outs(%eo, %r : tensor<8x32xf16>, tensor<8xf32>)
  return %o, %lse : tensor<8x32xf16>, tensor<8xf32>
}

// -----

func.func @whole(%q: tensor<1x1x8x32xf32>, %u: f32, %a: tensor<1x1x8x32xf32>, %m: tensor<1x1x8xf32>, %i: index) -> tensor<1x1x8x32xf32> {
  // expected-error @+1 {{is not on tiles of one head: run --tile first}}
  %a1, %m1, %l1 = attn.update ins(%q, %q, %q : tensor<1x1x8x32xf32>, tensor<1x1x8x32xf32>, tensor<1x1x8x32xf32>)
      at(%i, %i, %i, %i) lens(%i, %i) scale(%u) outs(%a, %m, %m : tensor<1x1x8x32xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>)
  return %a1 : tensor<1x1x8x32xf32>
}

// -----

// expected-warning @+1 {{--online-softmax found no attention on tiles}}
func.func @nothing() {
  return
}
