// A team's loop over partly hidden blocks ends where its own rows see no more keys; what the loading role has filled after that
// is given back, before the last product and after Q.

// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir "--fa3=level=arithmetic bc=64" --map-warps --stage-tiles --specialize-warps --trim-teams | FileCheck %s
// CHECK: cta.role "load"
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
// CHECK: cta.role "compute" teams(%[[TEAM:.*]] in 2)
// CHECK: %[[FIRST:.*]] = arith.muli %[[TEAM]], %c64
// CHECK: %[[ROW:.*]] = arith.index_cast %[[FIRST]] : index to i32
// CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %c63_i32 : i32
// CHECK: %[[SEEN:.*]] = arith.minsi %[[LAST]], %{{.*}} : i32
// CHECK: %[[KEY:.*]] = arith.index_cast %[[SEEN]] : i32 to index
// CHECK: %[[PAST:.*]] = arith.addi %[[KEY]], %c1
// CHECK: %[[KEYS:.*]] = arith.subi %[[PAST]], %[[BEGIN:.*]] : index
// CHECK: arith.maxsi %[[KEYS]], %c1
// CHECK: arith.ceildivui
// CHECK: %[[OWN:.*]] = arith.minsi %{{.*}}, %[[BLOCK:.*]] : index
// CHECK: scf.for %{{.*}} = %c0 to %[[BEGIN]] step %c64
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[OWN]] step %c64
// CHECK: } {cta.partial}
// CHECK-NEXT: cta.release
// CHECK-NEXT: scf.for %{{.*}} = %[[OWN]] to %[[BLOCK]] step %c64 {
// CHECK-NEXT:   %[[K:.*]] = cta.consume %{{.*}}
// CHECK-NEXT:   cta.release %[[K]]
// CHECK-NEXT:   %[[V:.*]] = cta.consume %{{.*}}
// CHECK-NEXT:   cta.release %[[V]]
// CHECK-NEXT: }

// Turns go on through what is given back: all teams have as many.
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir "--fa3=level=cta bc=64" 2>&1 | FileCheck %s --check-prefix=TURNS
// TURNS-NOT: warning
// TURNS: cta.role "compute"
// TURNS: arith.ceildivui
// TURNS: %[[OWN:.*]] = arith.minsi %{{.*}}, %[[BLOCK:.*]] : index
// TURNS: scf.for %{{.*}} = %[[OWN]] to %[[BLOCK]] step %c64 {
// TURNS-NEXT:   cta.sync
// TURNS-NEXT:   cta.arrive
// TURNS-NEXT:   cta.consume

// A score that is computed in the loop, with selections of its own, is no mask.
// RUN: fa-opt %S/../../../kernels-gen/specs/alibi.mlir "--fa3=level=cta bc=64" "--remarks-filter=trim-teams" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCORE
// SCORE: remark: [Passed] blocks | Category:trim-teams | Function=attention | loops=1

// Blocks of as many keys as the thread block has rows, or of keys that rows see the less the later they are, are left; so are teams
// without neighbours.
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir "--fa3=level=cta bc=128" "--remarks-filter=trim-teams" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir "--fa3=level=cta bc=64 teams=1 br=64" "--remarks-filter=trim-teams" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: fa-opt %s "--fa3=level=cta bc=64" "--remarks-filter=trim-teams" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: remark: [Missed] blocks | Category:trim-teams | Function=attention | Reason="all teams see as far as their thread block"
func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                     %v: tensor<?x?x?x128xbf16>, %scale: f32)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale)
      mask(%b, %h, %i, %j) {
        %c1000 = arith.constant 1000 : index
        %limit = arith.subi %c1000, %i : index
        %sees = arith.cmpi sle, %j, %limit : index
        attn.yield %sees : i1
      } : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
