// What a block reads from memory itself is under way with its first product, where it does not depend on it.
// RUN: fa-opt %S/../../../kernels-gen/specs/bias.mlir --fa3="level=cta stage-lookups=false" | FileCheck %s
// RUN: fa-run %S/../../../kernels-gen/specs/bias.mlir --fa3=stage-lookups=false --on=sim --check --sizes=B=1,Hq=2,Hkv=1,Sq=150,Skv=250

// CHECK: cta.role "compute"
// The first block of all.
// CHECK: scf.if
// CHECK: %[[FIRST:.*]] = cta.mma
// CHECK: cta.lookup
// CHECK: cta.wait %[[FIRST]] :
// The loop over full blocks: both products, then the lookup, then the wait for one.
// CHECK: scf.for
// CHECK: %[[SCORES:.*]] = cta.mma
// CHECK: cta.mma
// CHECK: cta.lookup
// CHECK: cta.wait %[[SCORES]] pending 1
