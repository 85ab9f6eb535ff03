// RUN: fa-opt --choose-schedule="target=sm_80" %s | FileCheck %s
// RUN: fa-opt --choose-schedule="target=sm_80 br=64 bc=32 teams=2 stages=1" %s | FileCheck %s --check-prefix=GIVEN
// RUN: fa-opt --choose-schedule="policy=paper shared-bytes=102400" %s | FileCheck %s --check-prefix=PAPER
// RUN: not fa-opt --choose-schedule="target=sm_1" %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fa-opt --choose-schedule="policy=best" %s 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not fa-opt --choose-schedule="br=100" %s 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not fa-opt --choose-schedule="target=sm_86 br=128 bc=64 teams=8 stages=4" %s 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: fa-opt --choose-schedule --remarks-filter=choose-schedule %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: fa-opt --choose-schedule="bc=32" --remarks-filter=.* %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK-GIVEN
// RUN: fa-opt --choose-schedule --remarks-filter=schedule %s -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=QUIET

// RUN: not fa-opt --choose-schedule="br=-1" %s 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not fa-opt --choose-schedule="policy=paper br=-1" %s 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not fa-opt --choose-schedule="br=4611686018427387904" %s 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not fa-opt --choose-schedule="br=2048 teams=64" %s 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: sed s/x128x/x20x/g %s | fa-opt --choose-schedule | FileCheck %s --check-prefix=CPU
// RUN: sed s/x128x/x20x/g %s | fa-opt --choose-schedule --remarks-filter-missed=.* -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: fa-opt --choose-schedule="rescale=first-max" %s | FileCheck %s --check-prefix=RESCALE
// RUN: not fa-opt --choose-schedule="rescale=never" %s 2>&1 | FileCheck %s --check-prefix=NEVER

// Targets with wgmma have teams of four warps, with 64 rows each; other targets have no warpgroups.
// RUN: fa-opt --choose-schedule="policy=warpgroups target=sm_90a" %s | FileCheck %s --check-prefix=GROUPS
// RUN: fa-opt --choose-schedule="policy=warpgroups target=sm_90a bc=64 warps=8 teams=1" %s | FileCheck %s --check-prefix=WARPS
// RUN: not fa-opt --choose-schedule="policy=warpgroups target=sm_80" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-GROUPS
// RUN: not fa-opt --fa3=target=sm_80 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-GROUPS
// GROUPS: attn.schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 128, teams = 2, warps = 4, stages = 2,
// WARPS: attn.schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 64, teams = 1, warps = 8, stages = 2,
// NO-GROUPS: choose-schedule.mlir:{{.*}}: error: 'attn.forward' op teams of warpgroups (--fa3, policy=warpgroups) need wgmma, which sm_80 has not: give target=sm_90a

// Rows that are not given follow the teams that are.
// RUN: fa-opt --choose-schedule="policy=warpgroups target=sm_90a teams=3 bc=64" %s | FileCheck %s --check-prefix=TEAMS-3
// RUN: fa-opt --choose-schedule="policy=warpgroups target=sm_90a teams=1" %s | FileCheck %s --check-prefix=TEAMS-1
// RUN: fa-opt --choose-schedule="target=sm_80 teams=3" %s | FileCheck %s --check-prefix=WARPS-3
// RUN: not fa-opt --choose-schedule="target=sm_80 teams=3 br=128" %s 2>&1 | FileCheck %s --check-prefix=ROWS-3
// TEAMS-3: attn.schedule = #attn.schedule<target = "sm_90a", br = 192, bc = 64, teams = 3,
// TEAMS-1: attn.schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 128, teams = 1,
// WARPS-3: attn.schedule = #attn.schedule<target = "sm_80", br = 96, bc = 32, teams = 3,
// ROWS-3: error: {{.*}}br must be a multiple of 48 for 3 teams of 1 warps, found 128

// What ptxas spilled is given as registers beside the model's: fewer keys, and the fewest where the model has none so small.
// RUN: fa-opt --choose-schedule="policy=warpgroups target=sm_90a more-registers=60" %s | FileCheck %s --check-prefix=MORE
// RUN: fa-opt --fa3="level=blocks more-registers=60" %s | FileCheck %s --check-prefix=MORE
// RUN: fa-opt --choose-schedule="policy=warpgroups target=sm_90a more-registers=10000" %s | FileCheck %s --check-prefix=FEWEST
// RUN: fa-opt --choose-schedule="target=sm_80 more-registers=40" %s | FileCheck %s --check-prefix=MORE-80
// RUN: not fa-opt --choose-schedule="more-registers=-1" %s 2>&1 | FileCheck %s --check-prefix=LESS
// MORE: attn.schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 112, teams = 2, warps = 4, stages = 2,
// FEWEST: attn.schedule = #attn.schedule<target = "sm_90a", br = 128, bc = 16, teams = 2, warps = 4, stages = 2,
// MORE-80: attn.schedule = #attn.schedule<target = "sm_80", br = 64,
// LESS: choose-schedule.mlir:{{.*}}: error: 'attn.forward' op expects more-registers of 0 or more, found -1

// REMARK: choose-schedule.mlir:{{.*}}: remark: [Passed] schedule | Category:choose-schedule | Function=attention
// REMARK-SAME: Reason="policy target for sm_80", bc=32, blocksPerSM=2, br=128, registersPerThread=223, sharedBytes=49152, stages=1, teams=4
// REMARK-GIVEN: Reason="policy target and the options given for sm_80", bc=32,
// QUIET-NOT: remark
// MISSED: remark: [Missed] kernel | Category:choose-schedule | Function=attention | Reason="no schedule fits sm_80 for D 20, Dv 20: blocks for levels A to C"

// RESCALE: attn.schedule = #attn.schedule<{{.*}}, partition = split_q, rescale = first_max>
// NEVER: error: {{.*}}unknown rescale policy 'never', expected always, lazy, first-max or auto
// NEGATIVE: error: {{.*}}schedule does not fit sm_80: br must be from 1 to 65536, found -1
// HUGE: error: {{.*}}schedule does not fit sm_80: br must be from 1 to 65536, found 4611686018427387904
// THREADS: error: {{.*}}64 teams of 1 warps are 2048 threads, a block has at most 1024
// No kernel is made for D 20, but levels A to C run on the CPU.
// CPU: attn.schedule = #attn.schedule<target = "sm_80", br = 64, bc = 64,
// CHECK: attn.schedule = #attn.schedule<target = "sm_80", br = 128, bc = 32, teams = 4, warps = 1, stages = 1, partition = split_q>
// GIVEN: attn.schedule = #attn.schedule<target = "sm_80", br = 64, bc = 32, teams = 2, warps = 1, stages = 1, partition = split_q>
// 100 KiB of bf16 at D 128: ceil(51200 / 512) = 100 rows of K and V, rounded down to 96.
// PAPER: attn.schedule = #attn.schedule<target = "sm_80", br = 96, bc = 96,
// TARGET: choose-schedule.mlir:[[@LINE+6]]:{{.*}}: error: {{.*}}unknown target 'sm_1', expected one of sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100a, sm_120a
// POLICY: error: {{.*}}unknown schedule policy 'best', expected target, warpgroups or paper
// ROWS: error: {{.*}}schedule does not fit sm_80: br must be a multiple of 64 for 4 teams of 1 warps, found 100
// SHARED: error: {{.*}}schedule does not fit sm_86: needs 163840 bytes of shared memory, sm_86 has 101376 for a block
func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16> {
  %o, %lse =
    attn.forward ins(%q, %k, %k : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o : tensor<?x?x?x128xbf16>
}
