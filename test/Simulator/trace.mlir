// The time line is Chrome's trace format: a track for each team, for the copies and for the products of a block.
// RUN: fa-run %S/../Dialect/Cta/sketch.mlir --on=sim --reference=%S/Inputs/attention-128.mlir --sim-kernel=specialised --sizes=Hq=1,Hkv=1,Sq=128,Skv=256 --sim-trace=%t.json
// RUN: FileCheck %s --input-file=%t.json
// RUN: %python %S/Inputs/check_trace.py %t.json

// CHECK-DAG: "name": "team 0 of \"load\""
// CHECK-DAG: "name": "team 1 of \"compute\""
// CHECK-DAG: "name": "copies"
// CHECK-DAG: "name": "tensor cores"
// CHECK-DAG: "name": "wait: cta.consume"
