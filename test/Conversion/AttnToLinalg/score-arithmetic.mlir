// Scores go to the exp2 domain by one fused operation. Of those that may be finite and huge (read from a tensor, or by a
// constant) the product with log2(e) may be rounded by more than 8 or overflow: rows whose maximum is 2^27 or more have a power of two instead.
// RUN: fa-opt %S/../../../kernels-gen/specs/softcap.mlir --fa2=level=arithmetic | FileCheck %s --check-prefix=FUSED
// RUN: fa-opt %S/../../../kernels-gen/specs/alibi.mlir --fa2=level=arithmetic | FileCheck %s --check-prefix=FUSED
// RUN: fa-opt %S/../../../kernels-gen/specs/bias.mlir --fa2=level=arithmetic | FileCheck %s --check-prefix=ROWS
// RUN: fa-opt %s --fa2=level=arithmetic | FileCheck %s --check-prefix=ROWS

// The scale and the region may be fused, the softmax may not.
// FUSED: arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f32
// FUSED: linalg.generic
// FUSED: math.fma {{.*}} fastmath<reassoc>
// FUSED-NEXT: math.exp2
// FUSED-NEXT: linalg.yield

// ROWS: arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f32
// The state: what is subtracted is the maximum times its row's factor.
// ROWS: %[[SIZE:.*]] = math.absf %[[MAX:.*]] : f32
// ROWS-DAG: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// ROWS-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// ROWS-DAG: %[[HUGE:.*]] = arith.constant 8.50705917E+37 : f32
// ROWS: arith.cmpf olt, %[[SIZE]], %[[HUGE]] : f32
// ROWS: %[[EXACT:.*]] = arith.select %{{.*}}, %[[TWO]], %[[ONE]] : f32
// ROWS: arith.cmpf olt, %[[SIZE]], %{{.*}} : f32
// ROWS: %[[FACTOR:.*]] = arith.select %{{.*}}, %{{.*}}, %[[EXACT]] : f32
// ROWS-NEXT: arith.mulf %[[MAX]], %[[FACTOR]] : f32
// ROWS: arith.subf
// ROWS-NEXT: math.exp2
// The weights: each row with its factor.
// ROWS: %[[FACTORS:.*]] = linalg.generic
// ROWS: linalg.generic {{.*}} ins(%{{.*}}, %[[FACTORS]] : tensor<{{.*}}xf32>, tensor<{{.*}}xf32>)
// ROWS-NEXT: ^bb0(%[[GUARD:.*]]: f32, %[[C:.*]]: f32, %[[S:.*]]: f32):
// ROWS-NEXT: %[[REST:.*]] = arith.negf %[[GUARD]] : f32
// ROWS-NEXT: %[[POWER:.*]] = math.fma %[[S]], %[[C]], %[[REST]] : f32
// ROWS-NEXT: math.exp2 %[[POWER]]
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
