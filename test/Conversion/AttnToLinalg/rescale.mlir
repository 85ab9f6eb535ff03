// When a state moves to a new maximum.
// RUN: fa-opt --online-softmax=rescale=lazy %s | FileCheck %s --check-prefix=LAZY
// RUN: fa-opt --online-softmax=rescale=first-max %s | FileCheck %s --check-prefix=FIRST
// RUN: sed s/bf16/f16/g %s | fa-opt --online-softmax=rescale=first-max | FileCheck %s --check-prefix=F16

// RUN: fa-opt --online-softmax=rescale=first-max --remarks-filter=online-softmax %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: remark: [Passed] rescale | Category:online-softmax | Function=fold | Reason="the option's", policy=first-max
// REMARK-DAG: remark: [Passed] exact fold | Category:online-softmax | Function=fold | Reason="a row whose sum is above it may have overflowed", bound=

// The option wins over the schedule, and is written there; without it the schedule's is taken.
// RUN: fa-opt --online-softmax %s | FileCheck %s --check-prefix=SCHEDULE
// LAZY: rescale = lazy
// FIRST: rescale = first_max
// SCHEDULE: rescale = lazy
// SCHEDULE: arith.constant 8.0

// A row moves where the block's maximum is more than 8 above its own, in log2; acc is rescaled where any row moved.
// LAZY: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// LAZY: %[[BLOCK:.*]] = linalg.generic {{.*}}["parallel", "reduction"]
// LAZY: %[[ROWS:.*]]:4 = linalg.generic {{.*}} ins(%[[BLOCK]] {{.*}} outs(%[[MAX]], %[[SUM]]
// LAZY: arith.constant 8.0
// LAZY: %[[MOVES:.*]] = arith.cmpf ogt
// LAZY: arith.select %[[MOVES]]
// LAZY: %[[ANY:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[ROWS]]#3
// LAZY: arith.cmpf olt
// LAZY: arith.ori
// LAZY: %[[BIT:.*]] = tensor.extract %[[ANY]][] : tensor<i1>
// LAZY: %[[OLD:.*]] = scf.if %[[BIT]]
// LAZY: linalg.generic {{.*}} ins(%[[ROWS]]#3 {{.*}} outs(%[[ACC]]
// LAZY: } else {
// LAZY-NEXT: scf.yield %[[ACC]]
// LAZY: linalg.matmul {{.*}} outs(%[[OLD]]

// Maxima are for rows that have seen no key; nothing is rescaled.
// FIRST: %[[FOLD:.*]]:3 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// FIRST: %[[ANY:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[MAX]]
// FIRST: %[[BIT:.*]] = tensor.extract %[[ANY]][] : tensor<i1>
// FIRST: %[[FIRST:.*]] = scf.if %[[BIT]]
// FIRST: arith.maxnumf
// FIRST: } else {
// FIRST-NEXT: scf.yield %[[MAX]]
// FIRST-NOT: maxnumf
// FIRST: linalg.matmul {{.*}} outs(%[[ACC]]
// The check, on every sum, and the exact fold, in the tensors of the first.
// FIRST: %[[ALL:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[FOLD]]#2
// FIRST: arith.constant 1.84467441E+19
// FIRST: arith.cmpf ole
// FIRST: arith.andi
// FIRST: %[[OK:.*]] = tensor.extract %[[ALL]][] : tensor<i1>
// FIRST: %[[STATE:.*]]:3 = scf.if %[[OK]]
// FIRST-NEXT: scf.yield %[[FOLD]]#0, %[[FOLD]]#1, %[[FOLD]]#2
// FIRST: } else {
// FIRST: linalg.fill {{.*}} outs(%[[FOLD]]#0
// FIRST: linalg.fill {{.*}} outs(%[[FOLD]]#1
// FIRST: linalg.fill {{.*}} outs(%[[FOLD]]#2
// FIRST: scf.for
// FIRST-NOT: scf.if
// FIRST: linalg.matmul
// FIRST: scf.yield
// FIRST: scf.yield
// FIRST: linalg.generic {{.*}} ins(%[[STATE]]#2

// F16: arith.constant 3.275200e+04
func.func @fold(%q: tensor<64x32xbf16>, %k: tensor<?x32xbf16>, %u: f32, %a: tensor<64x32xf32>, %r: tensor<64xf32>, %o: tensor<64x32xbf16>,
                %n: index) -> (tensor<64x32xbf16>, tensor<64xf32>)
    attributes {attn.schedule = #attn.schedule<target = "sm_80", br = 64, bc = 16, teams = 4, warps = 1, stages = 1, partition = split_q, rescale = lazy>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %s:3 = attn.init outs(%a, %r, %r : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>)
  %f:3 = scf.for %j = %c0 to %n step %c16 iter_args(%a0 = %s#0, %m0 = %s#1, %l0 = %s#2) -> (tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>) {
    %kt = tensor.extract_slice %k[%j, 0] [16, 32] [1, 1] : tensor<?x32xbf16> to tensor<16x32xbf16>
    %t:3 = attn.update ins(%q, %kt, %kt : tensor<64x32xbf16>, tensor<16x32xbf16>, tensor<16x32xbf16>)
        at(%c0, %c0, %c0, %j) lens(%n, %n) scale(%u) outs(%a0, %m0, %l0 : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>)
    scf.yield %t#0, %t#1, %t#2 : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>
  }
  %out, %lse = attn.finalize ins(%f#0, %f#1, %f#2 : tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>) unit(%u) outs(%o, %r : tensor<64x32xbf16>, tensor<64xf32>)
  return %out, %lse : tensor<64x32xbf16>, tensor<64xf32>
}
