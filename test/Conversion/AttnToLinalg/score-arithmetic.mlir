// Scores of arithmetic alone go to the exp2 domain by one fused operation, as plain scores do. Those that may be finite and
// huge (read from a tensor, or by a constant) are taken from their maximum first, since their product with log2(e) may overflow.
// RUN: fa-opt %S/../../../kernels-gen/specs/softcap.mlir --fa2=level=arithmetic | FileCheck %s --check-prefix=FUSED
// RUN: fa-opt %S/../../../kernels-gen/specs/alibi.mlir --fa2=level=arithmetic | FileCheck %s --check-prefix=FUSED
// RUN: fa-opt %S/../../../kernels-gen/specs/bias.mlir --fa2=level=arithmetic | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %s --fa2=level=arithmetic | FileCheck %s --check-prefix=FIRST

// The scale and the region may be fused, the softmax may not.
// FUSED: arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f32
// FUSED: linalg.generic
// FUSED: math.fma {{.*}} fastmath<reassoc>
// FUSED-NEXT: math.exp2
// FUSED-NEXT: linalg.yield

// FIRST: arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f32
// FIRST: %[[REST:.*]] = arith.subf %{{.*}}, %{{.*}} : f32
// FIRST-NEXT: %[[POWER:.*]] = arith.mulf %[[REST]], %{{.*}} : f32
// FIRST-NEXT: math.exp2 %[[POWER]]
// FIRST-NOT: math.fma
func.func @constant(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                    %v: tensor<?x?x?x128xbf16>, %scale: f32)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale)
      score(%s, %b, %h, %i, %j) {
        %c0 = arith.constant 0 : index
        %hidden = arith.constant -3.4e+38 : f32
        %first = arith.cmpi eq, %j, %c0 : index
        %t = arith.select %first, %hidden, %s : f32
        attn.yield %t : f32
      } : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
