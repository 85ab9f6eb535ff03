// RUN: not fa-opt --stage-tiles=stages=-2 %s 2>&1 | FileCheck %s
// RUN: not fa-opt --stage-tiles=stages=two %s 2>&1 | FileCheck %s --check-prefix=NUMBER
// CHECK: error: expects at least one stage, but found -2
// NUMBER: for the --stages option: 'two' value invalid for long argument!
gpu.module @kernels {
}
