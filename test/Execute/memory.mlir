// Buffers are freed or reused: memory does not grow with the trips of the loop
// over keys, and FlashAttention 1's state is made once. (On several cores it
// depends on how many tiles are there at once.)

// RUN: fa-run %s --tile --interchange --delay-normalization --pad-tiles --time --sequential --sizes=Skv=512 --sizes=Skv=4096 | FileCheck %s
// RUN: fa-run %s --fa1 --time --sequential --sizes=Skv=512 --sizes=Skv=4096 | FileCheck %s
// RUN: fa-run %s --fa2 --time --sequential --sizes=Skv=512 --sizes=Skv=4096 | FileCheck %s
// RUN: fa-run %s --fa2=rescale=lazy --time --sequential --sizes=Skv=512 --sizes=Skv=4096 | FileCheck %s
// RUN: fa-run %s --fa2=rescale=first-max --time --sequential --sizes=Skv=512 --sizes=Skv=4096 | FileCheck %s
// CHECK: Skv=512
// CHECK: buffers [[MIB:[0-9.]+]] MiB
// CHECK: Skv=4096
// CHECK: buffers [[MIB]] MiB

func.func @attention(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x64xf32>,
                     %v: tensor<?x?x?x64xf32>)
    -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}
