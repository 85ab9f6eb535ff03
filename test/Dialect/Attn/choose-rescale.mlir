// `auto` keeps a row's first maximum where the first block says what the others are like: not where scores depend on where a
// key is. ALiBi's scores depend on the place, but under a causal mask they are largest
// at the diagonal, where --skip-masked-blocks begins.
// RUN: fa-opt %S/../../../kernels-gen/specs/attention.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/softcap.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/window1024.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/alibi.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST
// RUN: fa-opt %S/../../../kernels-gen/specs/bias.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=ALWAYS
// RUN: fa-opt %S/../../../kernels-gen/specs/document.mlir --choose-schedule=rescale=auto | FileCheck %s --check-prefix=FIRST

// RUN: sed "s/, #attn.causal//" %S/../../../kernels-gen/specs/alibi.mlir | fa-opt --choose-schedule=rescale=auto | FileCheck %s --check-prefix=ALWAYS
// RUN: fa-opt --expand-variants --choose-schedule=rescale=auto %S/../../../kernels-gen/specs/alibi.mlir | FileCheck %s --check-prefix=ALWAYS

// FIRST: #attn.schedule<{{.*}}rescale = first_max>
// ALWAYS: #attn.schedule<
// ALWAYS-NOT: rescale =

// Softcap's tanh takes the special-function unit as exp2 does: three teams share it better than two.
// RUN: fa-opt %S/../../../kernels-gen/specs/softcap.mlir "--choose-schedule=policy=warpgroups target=sm_90a" | FileCheck %s --check-prefix=TANH
// RUN: fa-opt --expand-variants %S/../../../kernels-gen/specs/softcap.mlir "--choose-schedule=policy=warpgroups target=sm_90a" | FileCheck %s --check-prefix=TANH
// RUN: fa-opt %S/../../../kernels-gen/specs/window1024.mlir "--choose-schedule=policy=warpgroups target=sm_90a" | FileCheck %s --check-prefix=PLAIN
// RUN: fa-opt --expand-variants %S/../../../kernels-gen/specs/alibi.mlir "--choose-schedule=policy=warpgroups target=sm_90a" | FileCheck %s --check-prefix=PLAIN
// TANH: #attn.schedule<target = "sm_90a", br = 192, bc = 64, teams = 3,
// PLAIN: #attn.schedule<target = "sm_90a", br = 128, bc = 128, teams = 2,

// Three teams take longer to begin and end an item than two: where items meet few blocks there are two. A window of many keys, and a
// causal mask beside one that is open to the right, count as what they are.
// DEFINE: %{specs} = %S/../../../kernels-gen/specs
// DEFINE: %{choose} = fa-opt "--choose-schedule=policy=warpgroups target=sm_90a"
// RUN: sed "s/x128x/x64x/g" %{specs}/window1024.mlir | %{choose} | FileCheck %s --check-prefix=SHORT
// RUN: sed "s/x128x/x64x/g; s/left = 1023, right = 0/left = 1023/; s/#attn.window/#attn.causal, #attn.window/" %{specs}/window1024.mlir | %{choose} | FileCheck %s --check-prefix=SHORT
// RUN: sed "s/x128x/x64x/g" %{specs}/document.mlir | %{choose} | FileCheck %s --check-prefix=SHORT
// RUN: sed "s/x128x/x64x/g" %{specs}/packed.mlir | %{choose} | FileCheck %s --check-prefix=SHORT
// RUN: sed "s/x128x/x64x/g; s/left = 1023/left = 4095/" %{specs}/window1024.mlir | %{choose} | FileCheck %s --check-prefix=LONG
// RUN: sed "s/x128x/x64x/g; s/left = 1023, right = 0/left = 1023/" %{specs}/window1024.mlir | %{choose} | FileCheck %s --check-prefix=LONG
// RUN: sed "s/x128x/x64x/g" %{specs}/prefix-lm.mlir | %{choose} | FileCheck %s --check-prefix=LONG
// SHORT: #attn.schedule<target = "sm_90a", br = 128, bc = 128, teams = 2,
// LONG: #attn.schedule<target = "sm_90a", br = 192, bc = 96, teams = 3,
