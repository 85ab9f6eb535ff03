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

// CHECK: attn.schedule = #attn.schedule<target = "sm_80", br = 128, bc = 64, teams = 4, warps = 1, stages = 2, partition = split_q, rescale = first_max>
func.func private @scheduled() attributes {attn.schedule = #attn.schedule<target = "sm_80", br = 128, bc = 64, teams = 4, warps = 1, stages = 2, partition = split_q, rescale = first_max>}

// CHECK-LABEL: func @all_sugar
// CHECK: using [#attn.window<left = 1023, right = 0>, #attn.window<right = 5>, #attn.softcap<3.000000e+01 : f64>, #attn.alibi]
func.func @all_sugar(%q: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>)
      using [#attn.window<left = 1023, right = 0>, #attn.window<right = 5>, #attn.softcap<30.0>, #attn.alibi]
      : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return %o : tensor<1x1x?x64xf16>
}

// CHECK-LABEL: func @one_sequence
// CHECK: attn.forward ins({{.*}} : tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x32xf16>)
func.func @one_sequence(%q: tensor<8x?x64xf16>, %k: tensor<2x?x64xf16>, %v: tensor<2x?x32xf16>) -> tensor<8x?xf32> {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x32xf16>)
      : tensor<8x?x32xf16>, tensor<8x?xf32>
  return %lse : tensor<8x?xf32>
}

// CHECK-LABEL: func @packed
// CHECK: attn.forward ins({{.*}}) cu_seqlens(%{{.*}}, %{{.*}} : tensor<?xi32>, tensor<5xi32>) scale(%{{.*}})
func.func @packed(%q: tensor<8x?x64xf16>, %k: tensor<8x?x64xf16>, %cq: tensor<?xi32>, %ck: tensor<5xi32>, %scale: f32) -> tensor<8x?xf32> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<8x?x64xf16>, tensor<8x?x64xf16>, tensor<8x?x64xf16>)
      cu_seqlens(%cq, %ck : tensor<?xi32>, tensor<5xi32>) scale(%scale) : tensor<8x?x64xf16>, tensor<8x?xf32>
  return %lse : tensor<8x?xf32>
}

// CHECK-LABEL: func @cache
// CHECK: attn.forward ins({{.*}}) kv_lens(%{{.*}} : tensor<2xi32>)
func.func @cache(%q: tensor<2x8x1x64xf16>, %k: tensor<2x8x?x64xf16>, %n: tensor<2xi32>) -> tensor<2x8x1xf32> {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<2x8x1x64xf16>, tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>)
      kv_lens(%n : tensor<2xi32>) : tensor<2x8x1x64xf16>, tensor<2x8x1xf32>
  return %lse : tensor<2x8x1xf32>
}

// CHECK-LABEL: func @merge
// CHECK: attn.init outs({{.*}} : tensor<4x2x8x?x64xf32>, tensor<4x2x8x?xf32>, tensor<4x2x8x?xf32>)
// CHECK: attn.merge ins({{.*}} : tensor<4x2x8x?x64xf32>, tensor<4x2x8x?xf32>, tensor<4x2x8x?xf32>) unit(%{{.*}}) outs({{.*}} : tensor<2x8x?x64xf32>, tensor<2x8x?xf32>, tensor<2x8x?xf32>)
// CHECK: attn.merge normalized ins({{.*}} : tensor<?x16x64xf32>, tensor<?x16xf32>, tensor<?x16xf32>) unit(%{{.*}}) outs({{.*}} : tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>)
func.func @merge(%as: tensor<4x2x8x?x64xf32>, %ms: tensor<4x2x8x?xf32>, %a: tensor<2x8x?x64xf32>, %m: tensor<2x8x?xf32>,
                 %at: tensor<?x16x64xf32>, %mt: tensor<?x16xf32>, %t: tensor<16x64xf32>, %r: tensor<16xf32>, %u: f32)
    -> (tensor<2x8x?x64xf32>, tensor<16x64xf32>) {
  %i:3 = attn.init outs(%as, %ms, %ms : tensor<4x2x8x?x64xf32>, tensor<4x2x8x?xf32>, tensor<4x2x8x?xf32>)
  %w:3 = attn.merge ins(%i#0, %i#1, %i#2 : tensor<4x2x8x?x64xf32>, tensor<4x2x8x?xf32>, tensor<4x2x8x?xf32>) unit(%u)
      outs(%a, %m, %m : tensor<2x8x?x64xf32>, tensor<2x8x?xf32>, tensor<2x8x?xf32>)
  %x:3 = attn.merge normalized ins(%at, %mt, %mt : tensor<?x16x64xf32>, tensor<?x16xf32>, tensor<?x16xf32>) unit(%u)
      outs(%t, %r, %r : tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>)
  return %w#0, %x#0 : tensor<2x8x?x64xf32>, tensor<16x64xf32>
}
