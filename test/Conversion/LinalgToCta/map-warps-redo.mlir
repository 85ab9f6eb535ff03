// The check behind the loops of rescale=first-max is asked of all teams, which fold their tile again together; the first
// maximum of a row is each team's own business.

// RUN: fa-opt --fa2="level=arithmetic rescale=first-max" %S/Inputs/f16.mlir | fa-opt --map-warps | FileCheck %s

// CHECK: cta.work
// CHECK: scf.for
// CHECK: %[[FAST:.*]]:3 = scf.for
// CHECK:   cta.if_any
// CHECK:     vector.multi_reduction <maxnumf>
// CHECK: %[[OK:.*]] = arith.cmpf ole, %[[FAST]]#2, %{{.*}} : vector<[[ROWS:[0-9]+]]xf32>
// CHECK: %[[BAD:.*]] = arith.xori %[[OK]], %{{.*}} : vector<[[ROWS]]xi1>
// CHECK: %[[ANY:.*]] = cta.any %[[BAD]] : vector<[[ROWS]]xi1>
// CHECK: scf.if %[[ANY]] -> (
// CHECK:   scf.for
// CHECK:     cta.load once
// CHECK-NOT: cta.if_any
// CHECK: } else {
// CHECK:   scf.yield %[[FAST]]#0, %[[FAST]]#1, %[[FAST]]#2
// CHECK: cta.store
