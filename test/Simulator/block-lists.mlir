// A mask that is data: kernels that list blocks, and one that follows the lists. Lengths of whole blocks, odd ones, no key.
// RUN: fa-opt %s --fa2=level=cta | FileCheck %s
// RUN: fa-run %s --fa2=level=cta --on=sim --check --sizes=B=2,Hq=2,Hkv=1,Sq=130,Skv=128
// RUN: fa-run %s --fa2=level=cta --on=sim --check --sizes=B=1,Hq=1,Hkv=1,Sq=63,Skv=333
// RUN: fa-run %s --fa2=level=cta --on=sim --check --sizes=B=1,Hq=1,Hkv=1,Sq=70,Skv=0
// RUN: fa-run %s --fa2 --check --sizes=B=1,Hq=2,Hkv=1,Sq=130,Skv=200
// No block, and all of them:
// RUN: sed "s/constant 3 : i32/constant -1 : i32/" %s | fa-run - --fa2=level=cta --on=sim --check --sizes=B=1,Hq=1,Hkv=1,Sq=70,Skv=130
// RUN: sed "s/constant 3 : i32/constant 1000000 : i32/" %s | fa-run - --fa2=level=cta --on=sim --check --sizes=B=1,Hq=1,Hkv=1,Sq=70,Skv=130

// The class of each block; the lists; attention, whose copies read the next block's number before they go out.
// CHECK: gpu.func @attention_0
// CHECK: %[[CLASS:.*]] = cta.if_any
// CHECK: memref.store %[[CLASS]]
// CHECK: gpu.func @attention_1
// CHECK: scf.for
// CHECK: memref.store
// CHECK: gpu.func @attention_2
// CHECK: scf.for
// CHECK: memref.load
// CHECK: cta.consume
// CHECK: cta.copy
// CHECK: func.func @attention(
// CHECK-COUNT-3: call @attention_

func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %scale: f32,
                     %ids: tensor<?x?xi32>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %c3 = arith.constant 3 : i32
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      scale(%scale) mask(%b, %h, %i, %j) {
        %dj = tensor.extract %ids[%b, %j] : tensor<?x?xi32>
        %sees = arith.cmpi slt, %dj, %c3 : i32
        attn.yield %sees : i1
      } : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
