// RUN: fa-opt %s | fa-opt | FileCheck %s
// RUN: fa-opt --mlir-print-op-generic %s | fa-opt | FileCheck %s

// CHECK-LABEL: func @plain
func.func @plain(%q: tensor<2x8x?x64xf16>, %k: tensor<2x2x?x64xf16>, %v: tensor<2x2x?x128xf16>)
    -> (tensor<2x8x?x128xf16>, tensor<2x8x?xf32>) {
  // CHECK: attn.forward ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x8x?x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x128xf16>)
  // CHECK-SAME: : tensor<2x8x?x128xf16>, tensor<2x8x?xf32>
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<2x8x?x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x128xf16>)
      : tensor<2x8x?x128xf16>, tensor<2x8x?xf32>
  return %o, %lse : tensor<2x8x?x128xf16>, tensor<2x8x?xf32>
}

// CHECK-LABEL: func @variants
func.func @variants(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>,
                    %scale: f32, %cap: f32) -> tensor<?x?x?x128xbf16> {
  // CHECK: attn.forward ins({{.*}}) scale(%{{.*}}) using [#attn.causal]
  // CHECK-SAME: score(%[[S:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {
  // CHECK: arith.addf %[[S]]
  // CHECK: attn.yield %{{.*}} : f32
  // CHECK: } mask(%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
  // CHECK: arith.cmpi ne, %[[I]], %[[J]] : index
  // CHECK: attn.yield %{{.*}} : i1
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale) using [#attn.causal]
      score(%s, %b, %h, %i, %j) {
        %t = arith.addf %s, %cap : f32
        attn.yield %t : f32
      } mask(%b, %h, %i, %j) {
        %sees = arith.cmpi ne, %i, %j : index
        attn.yield %sees : i1
      } : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o : tensor<?x?x?x128xbf16>
}

// CHECK-LABEL: func @fold
func.func @fold(%q: tensor<64x128xbf16>, %k: tensor<32x128xbf16>, %v: tensor<32x128xbf16>, %b: index,
                %n: index, %scale: f32) -> (tensor<64x128xbf16>, tensor<64xf32>) {
  %ea = tensor.empty() : tensor<64x128xf32>
  %er = tensor.empty() : tensor<64xf32>
  // CHECK: %[[A:.*]], %[[M:.*]], %[[L:.*]] = attn.init outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
  %a, %m, %l = attn.init outs(%ea, %er, %er : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
  // CHECK: attn.update normalized ins({{.*}}) at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) lens(%{{.*}}, %{{.*}}) scale(%{{.*}}) outs(%[[A]], %[[M]], %[[L]]
  %a1, %m1, %l1 = attn.update normalized
      ins(%q, %k, %v : tensor<64x128xbf16>, tensor<32x128xbf16>, tensor<32x128xbf16>)
      at(%b, %b, %b, %b) lens(%n, %n) scale(%scale)
      outs(%a, %m, %l : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
  %eo = tensor.empty() : tensor<64x128xbf16>
  // CHECK: attn.finalize normalized ins({{.*}}) unit(%{{.*}}) outs({{.*}} : tensor<64x128xbf16>, tensor<64xf32>)
  %o, %lse = attn.finalize normalized
      ins(%a1, %m1, %l1 : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>) unit(%scale)
      outs(%eo, %er : tensor<64x128xbf16>, tensor<64xf32>)
  return %o, %lse : tensor<64x128xbf16>, tensor<64xf32>
}

// CHECK: attn.schedule = #attn.schedule<target = "sm_80", br = 128, bc = 64, teams = 4, warps = 1, stages = 2, partition = split_q>
func.func private @scheduled() attributes {attn.schedule = #attn.schedule<target = "sm_80", br = 128, bc = 64, teams = 4, warps = 1, stages = 2, partition = split_q>}
