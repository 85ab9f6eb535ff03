// A mask that is data: kernels that list blocks, and one that follows the lists. Lengths of whole blocks, odd ones, no key.
// RUN: fa-opt %s --fa2=level=cta | FileCheck %s
// RUN: fa-run %s --fa2=level=cta --on=sim --check --sizes=B=2,Hq=2,Hkv=1,Sq=130,Skv=128
// RUN: fa-run %s --fa2=level=cta --on=sim --check --sizes=B=1,Hq=1,Hkv=1,Sq=63,Skv=333
// RUN: fa-run %s --fa2=level=cta --on=sim --check --sizes=B=1,Hq=1,Hkv=1,Sq=70,Skv=0
// RUN: fa-run %s --fa2 --check --sizes=B=1,Hq=2,Hkv=1,Sq=130,Skv=200

// The same by --fa3, whose roles both follow the lists, in several orders of what is under way; without the overlap too, and with rows that are
// rescaled lazily.
// DEFINE: %{sizes} = --sizes=B=2,Hq=2,Hkv=1,Sq=130,Skv=128 --sizes=B=1,Hq=1,Hkv=1,Sq=63,Skv=333 --sizes=B=1,Hq=1,Hkv=1,Sq=70,Skv=0
// DEFINE: %{mapped} = --choose-schedule="policy=warpgroups target=sm_90a bc=64" --tile --interchange --delay-normalization --skip-masked-blocks --pad-tiles --online-softmax --outline-kernels --map-warps
// RUN: fa-opt %s --fa3=level=cta 2>&1 | FileCheck %s --check-prefix=FA3 --implicit-check-not=warning
// RUN: fa-run %s --fa3 --on=sim --check --sim-seed=1 --sim-blocks=2 %{sizes}
// RUN: fa-run %s --fa3="bc=64 stages=3 rescale=lazy" --on=sim --check --sim-seed=2 %{sizes}
// RUN: fa-run %s %{mapped} --stage-tiles --specialize-warps --ping-pong --on=sim --check --sim-seed=3 %{sizes}
// RUN: fa-run %s %{mapped} --stage-tiles --specialize-warps --overlap-softmax --persistent --unroll-stages --on=sim --check --sim-seed=4 --sim-blocks=2 %{sizes}
// No block, and all of them:
// RUN: sed "s/constant 3 : i32/constant -1 : i32/" %s | fa-run - --fa2=level=cta --on=sim --check --sizes=B=1,Hq=1,Hkv=1,Sq=70,Skv=130
// RUN: sed "s/constant 3 : i32/constant 1000000 : i32/" %s | fa-run - --fa2=level=cta --on=sim --check --sizes=B=1,Hq=1,Hkv=1,Sq=70,Skv=130

// Unsigned ids have no ranges: the warps of a block count keys together, and meet.
// RUN: sed "s/cmpi slt/cmpi ult/" %s > %t.mlir
// RUN: fa-opt %t.mlir --fa2=level=cta | FileCheck %s --check-prefix=COUNTED
// RUN: fa-run %t.mlir --fa2=level=cta --on=sim --check --sizes=B=2,Hq=2,Hkv=1,Sq=130,Skv=128
// COUNTED: gpu.func @attention_0
// COUNTED: cta.role "all" teams({{.*}} in 1) warps(4)
// COUNTED: vector.multi_reduction
// COUNTED: cta.any

// The class of each block, by a warp, which counts keys where the ranges of ids fail; the lists; attention, whose copies read the next block's number before they go out.
// CHECK: gpu.func @attention_0{{.*}}cta.followed
// CHECK: cta.role "all" teams({{.*}} in 1) warps(1)
// CHECK: %[[CLASS:.*]] = cta.if_any
// CHECK: vector.multi_reduction
// CHECK: memref.store %[[CLASS]]
// CHECK: gpu.func @attention_1
// CHECK: scf.for
// CHECK: memref.store
// CHECK: gpu.func @attention_2{{.*}}cta.follows
// CHECK: scf.for
// CHECK: memref.load
// CHECK: cta.consume
// CHECK: cta.copy
// CHECK: func.func @attention(
// CHECK-COUNT-3: call @attention_

// The role that loads reads how long the lists are before it may have to wait, and a block's number before its copies. The role that computes reads
// numbers for partial blocks only.
// FA3: gpu.func @attention_2
// FA3: cta.role "load"
// FA3: memref.load
// FA3: cta.acquire
// FA3: scf.for
// FA3-NEXT: memref.load
// FA3: cta.acquire
// FA3: scf.for
// FA3-NEXT: memref.load
// FA3: cta.acquire
// FA3: cta.role "compute"
// FA3: scf.for
// FA3-NOT: memref.load
// FA3: scf.for
// FA3-NEXT: memref.load
// FA3: func.func @attention(
// FA3-COUNT-3: call @attention_

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
