// Keys are clamped to the last one for what looks them up. The mask hides the keys behind it, so that its bounds are of the keys
// themselves and become one limit a row; what the lookup reads stays clamped.
// RUN: fa-opt %s --fa2=level=cta | FileCheck %s

// CHECK: %[[KEYS:.*]] = cta.col
// CHECK: %[[CLAMPED:.*]] = arith.minsi %[[KEYS]]
// CHECK: cta.lookup %{{.*}}[%{{.*}}, %[[CLAMPED]]]
// CHECK: %[[ALL:.*]] = vector.broadcast %[[KEYS]] : vector<1x[[C:.*]]xi32> to vector<
// CHECK: arith.cmpi sle, %[[ALL]],
// CHECK-NOT: arith.cmpi sl{{.}}, %[[ALL]]
// CHECK: arith.andi
// CHECK-NOT: arith.andi
// CHECK: arith.select
func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32,
                     %ids: tensor<?x?xi32>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      scale(%scale) using [#attn.causal]
      mask(%b, %h, %i, %j) {
        %x = tensor.extract %ids[%b, %j] : tensor<?x?xi32>
        %c7 = arith.constant 7 : i32
        %sees = arith.cmpi ne, %x, %c7 : i32
        attn.yield %sees : i1
      } : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
