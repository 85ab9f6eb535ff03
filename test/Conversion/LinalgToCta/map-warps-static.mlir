// RUN: fa-opt --fa2="level=cta br=64 bc=64" %s | FileCheck %s
// RUN: fa-opt --fa2=level=nvvm --emit-cubin=format=ptx %s | FileCheck %s --check-prefix=PTX

// RUN: sed "s/x1000x/x1024x/g; s/x777x/x512x/g; s/tensor<2x4x1000/tensor<2x4x1024/g" %s | fa-opt --fa2="level=cta br=64 bc=64" | FileCheck %s --check-prefix=WHOLE

// Sizes that the blocks divide: nothing is cut, nothing is padded, the outputs are written only.
// WHOLE: cta.load {{ *}}each %arg0
// WHOLE-NOT: cta.load {{ *}}each
// WHOLE: cta.store

// RUN: sed "s/x1000x/x60x/g; s/tensor<2x4x1000/tensor<2x4x60/g; s/x777x/x60x/g" %s | fa-opt --fa2="level=cta br=64 bc=64" 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: sed "s/tensor<2x4x[0-9]*/tensor<1x1x1/g" %s | fa-opt --fa2="level=cta br=64 bc=64" 2>&1 | FileCheck %s --check-prefix=SMALL

// One block, or one query of one head: the loops are there all the same.
// SMALL: cta.work
// SMALL: cta.load {{ *}}each %arg0{{.*}} -> !cta.tile<16x64xbf16
// SMALL: cta.store

// Static sizes that no block divides: K's own end needs no `until`, and the grid reads the sizes of the outputs.
// CHECK: cta.extents = [#cta.extent<arg = 4, dim = 2, tile = 64>, #cta.extent<arg = 4, dim = 1, tile = 1>, #cta.extent<arg = 4, dim = 0, tile = 1>]
// CHECK: cta.load {{ *}}each %arg0{{.*}}memref<2x4x1000x64xbf16
// CHECK-NOT: until
// CHECK: cta.copy %arg1{{.*}}memref<2x4x777x64xbf16
// CHECK: cta.store {{.*}}memref<2x4x1000xf32
// PTX: mma.sync
func.func @attention(%q: tensor<2x4x1000x64xbf16>, %k: tensor<2x4x777x64xbf16>, %v: tensor<2x4x777x64xbf16>, %scale: f32)
    -> (tensor<2x4x1000x64xbf16>, tensor<2x4x1000xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<2x4x1000x64xbf16>, tensor<2x4x777x64xbf16>, tensor<2x4x777x64xbf16>)
      scale(%scale) using [#attn.causal] : tensor<2x4x1000x64xbf16>, tensor<2x4x1000xf32>
  return %o, %lse : tensor<2x4x1000x64xbf16>, tensor<2x4x1000xf32>
}
