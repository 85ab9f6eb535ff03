// RUN: fa-run %s | FileCheck %s --check-prefix=SUMMARY
// SUMMARY: B=2,Hq=4,Hkv=2,Sq=17,Skv=33
// SUMMARY-NEXT: {{^}}o shape 2x4x17x64, sum of finite elements {{.*}}, first
// SUMMARY-NEXT: {{^}}lse shape 2x4x17, sum

// RUN: fa-run %s --tile --emit-ir | FileCheck %s --check-prefix=IR
// IR: attn.update
// IR: o shape

// RUN: fa-run %s --fa2 --emit-ir 2>&1 | FileCheck %s --check-prefix=FA2
// FA2: fa-run: note: the pipeline is run down to level C, before --map-warps
// FA2-NOT: attn.update
// FA2: linalg.matmul

// What --help shows are fa-run's own options; --help-hidden has all others.
// RUN: fa-run --help | FileCheck %s --check-prefix=HELP --implicit-check-not=amdgpu --implicit-check-not=--mlir --implicit-check-not=--canonicalize
// HELP: Runs an attention problem, or a program, on the CPU
// HELP: fa-run options:
// HELP: --check
// HELP: --sizes=
// RUN: fa-run --help-hidden | FileCheck %s --check-prefix=HIDDEN
// HIDDEN: --amdgpu
// HIDDEN: Passes and pipelines, which run in order:
// HIDDEN: --tile

// RUN: not fa-run %s --map-warps 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not fa-run %s --stage-tiles 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not fa-run %s --prefetch 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not fa-run %s --lower-to-nvvm 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not fa-run %s --emit-cubin 2>&1 | FileCheck %s --check-prefix=BELOW
// BELOW: error: --{{map-warps|stage-tiles|prefetch|lower-to-nvvm|emit-cubin}} goes below level C, the lowest that the CPU runs
// RUN: not fa-run %s --pass-that-is-none 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: Unknown command line argument '--pass-that-is-none'
// RUN: not fa-run %t.none.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: cannot open input file
// RUN: not fa-run %s --sizes=B=x 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: 'B=x' is not a size: a number from 0 on is
// RUN: not fa-run %s --sizes=S=3 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: unknown size 'S' in 'S=3'; sizes are B, Hq, Hkv, Sq and Skv
// RUN: not fa-run %s --sizes=B=3 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: error: the types fix B to 2, found 3
// RUN: not fa-run %s --dist=uniform 2>&1 | FileCheck %s --check-prefix=DIST
// DIST: error: 'uniform' is not a distribution: normal, large:NUMBER or constant:NUMBER is
// RUN: not fa-run %s --dist=large:1e30 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not fa-run %s --dist=constant:8193 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not fa-run %s --dist=large:-1 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not fa-run %s --dist=large:nan 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not fa-run %s --dist=constant:inf 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: the number in '{{large|constant}}:{{.*}}' must be positive and at most 8192, above which inputs overflow
// RUN: not fa-run %s --arg=3 2>&1 | FileCheck %s --check-prefix=ARG
// ARG: error: '3' is not an argument: NUMBER=VALUE or NAME=VALUE is

// Arguments have the names that the file gives them, and numbers.
// RUN: fa-run %S/../../examples/key-padding.mlir --fa2 --arg=scale=0.25 > %t.named
// RUN: fa-run %S/../../examples/key-padding.mlir --fa2 --arg=3=0.25 > %t.numbered
// RUN: fa-run %S/../../examples/key-padding.mlir --fa2 > %t.default
// RUN: cmp %t.named %t.numbered
// RUN: not cmp %t.named %t.default
// RUN: not fa-run %S/../../examples/key-padding.mlir --arg=cap=0.25 2>&1 | FileCheck %s --check-prefix=NOARG
// NOARG: error: there is no argument 'cap', for which --arg has a value
// RUN: not fa-run %s --reference=%S/Inputs/prefix.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: the function's type must be that of the reference

func.func @attention(%q: tensor<2x4x17x64xf32>, %k: tensor<2x2x33x64xf32>,
                     %v: tensor<2x2x33x64xf32>)
    -> (tensor<2x4x17x64xf32>, tensor<2x4x17xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<2x4x17x64xf32>, tensor<2x2x33x64xf32>, tensor<2x2x33x64xf32>)
      : tensor<2x4x17x64xf32>, tensor<2x4x17xf32>
  return %o, %lse : tensor<2x4x17x64xf32>, tensor<2x4x17xf32>
}
