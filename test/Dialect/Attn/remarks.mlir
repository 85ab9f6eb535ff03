// RUN: fa-opt --tile --interchange --delay-normalization --skip-masked-blocks --split-kv=splits=2 --pad-tiles --remarks-filter=.* %s -o /dev/null 2>&1 | FileCheck %s

// CHECK-DAG: remark: [Passed] blocks | Category:tile | Function=attention | Reason="KV blocks outside, Q blocks inside, by the schedule for sm_80", bc=64, br=128
// CHECK-DAG: remark: [Passed] nest | Category:interchange | Function=attention | Reason="their iterations touch disjoint slices of the state, which each see the other loops in order", parallelLoops=3
// CHECK-DAG: remark: [Passed] divisions | Category:delay-normalization | {{.*}}updates=1
// CHECK-DAG: remark: [Passed] loops | Category:skip-masked-blocks | {{.*}}Reason="affine bounds of the mask at the first and last row", hasFullBlocks={{true|1}}
// CHECK-DAG: remark: [Passed] parts | Category:split-kv | Function=attention | Reason="the option", parts=2
// CHECK-DAG: remark: [Passed] tiles | Category:pad-tiles | {{.*}}padded=
func.func @attention(%q: tensor<2x8x?x64xf16>, %k: tensor<2x8x?x64xf16>) -> (tensor<2x8x?x64xf16>, tensor<2x8x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>, tensor<2x8x?x64xf16>)
      using [#attn.causal] : tensor<2x8x?x64xf16>, tensor<2x8x?xf32>
  return %o, %lse : tensor<2x8x?x64xf16>, tensor<2x8x?xf32>
}
