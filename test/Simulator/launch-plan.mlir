// The kernels of a plan run one after another: parts of the keys, then their merge.
// RUN: fa-run %S/../../kernels-gen/specs/attention.mlir --fa2="split-kv=auto" --on=sim --check --time --sim-seed=2 \
// RUN:   --sizes=B=1,Hq=2,Hkv=1,Sq=70,Skv=333 2>&1 | FileCheck %s
// RUN: fa-run %S/../../kernels-gen/specs/attention.mlir --choose-schedule="br=16 bc=64 teams=1" --tile --interchange \
// RUN:   --delay-normalization --split-kv=splits=3 --pad-tiles --online-softmax --outline-kernels --map-warps \
// RUN:   --on=sim --check --sizes=B=2,Hq=4,Hkv=1,Sq=5,Skv=333 --sizes=Sq=5,Skv=20 --sizes=Sq=5,Skv=0 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: fa-run %S/../../kernels-gen/specs/attention.mlir --choose-schedule="br=16 bc=64 teams=1" --tile --interchange \
// RUN:   --delay-normalization --split-kv=splits=1 --pad-tiles --online-softmax --outline-kernels --map-warps \
// RUN:   --on=sim --check --sizes=B=1,Hq=1,Hkv=1,Sq=5,Skv=100 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not fa-run %S/../../kernels-gen/specs/attention.mlir --fa2="split-kv=auto" --on=sim --sim-trace=%t \
// RUN:   --sizes=B=1,Hq=1,Hkv=1,Sq=5,Skv=100 2>&1 | FileCheck %s --check-prefix=TRACE

// CHECK: attention_0: blocks
// CHECK: attention_1: blocks
// CHECK: o {{.*}}: ok
// CHECK: lse {{.*}}: ok
// SHORT-COUNT-6: : ok
// ONE-COUNT-2: : ok
// TRACE: error: --sim-trace draws one kernel, and attention launches several
