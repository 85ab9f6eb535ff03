// `auto` keeps a row's first maximum where the first block says what the others are like: not where scores depend on where a
// key is, and not where blocks come from lists.
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/softcap.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/window1024.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/alibi.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=ALWAYS
// RUN: fa-opt %S/../../../kernels-gen/specs/bias.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=ALWAYS
// RUN: fa-opt %S/../../../kernels-gen/specs/document.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=ALWAYS

// FIRST: #attn.schedule<{{.*}}rescale = first_max>
// ALWAYS: #attn.schedule<
// ALWAYS-NOT: rescale =
