// A bias whose tiles are staged takes shared memory; warpgroups have registers for one that is read element by element.
// Blocks that have no room for the bias are refused.
// RUN: fa-opt %S/../../../kernels-gen/specs/bias.mlir --choose-schedule="policy=warpgroups target=sm_90a stages-matrices=true" --remarks-filter=choose-schedule 2>&1 | FileCheck %s --check-prefix=STAGED
// RUN: fa-opt %S/../../../kernels-gen/specs/bias.mlir --choose-schedule="policy=warpgroups target=sm_90a" --remarks-filter=choose-schedule 2>&1 | FileCheck %s --check-prefix=READ
// RUN: not fa-opt %S/../../../kernels-gen/specs/bias.mlir --fa3="bc=144 br=128 teams=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LARGE
// STAGED: sharedBytes=229376, stages=2, teams=2
// STAGED: attn.schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 128, teams = 2, warps = 4, stages = 2,
// READ: sharedBytes=163840, stages=2, teams=2
// READ: attn.schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 128, teams = 2, warps = 4, stages = 2,
// LARGE: error: 'attn.forward' op schedule does not fit sm_90a: needs 262144 bytes of shared memory, sm_90a has 232448 for a block
