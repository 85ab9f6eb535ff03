// `auto` keeps a row's first maximum where the first block says what the others are like: not where scores depend on where a
// key is, and not where blocks come from lists. ALiBi's scores depend on the place, but under a causal mask they are largest
// at the diagonal, where --skip-masked-blocks begins.
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/softcap.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/window1024.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/alibi.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/bias.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=ALWAYS
// RUN: fa-opt %S/../../../kernels-gen/specs/document.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=ALWAYS

// RUN: sed "s/, #attn.causal//" %S/../../../kernels-gen/specs/alibi.mlir | fa-opt --choose-schedule=rescale=auto | FileCheck %s --check-prefix=ALWAYS
// RUN: fa-opt --expand-variants --choose-schedule=rescale=auto %S/../../../kernels-gen/specs/alibi.mlir | FileCheck %s --check-prefix=ALWAYS

// FIRST: #attn.schedule<{{.*}}rescale = first_max>
// ALWAYS: #attn.schedule<
// ALWAYS-NOT: rescale =
