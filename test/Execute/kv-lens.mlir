// Batches with fewer keys than the tensors have rows. --check fills the rest with NaN and infinities, and then the bits
// must be the same as with zeros there.

// DEFINE: %{cache} = --check --sizes=Skv=3 --kv-lens=1,3
// RUN: fa-run %s %{cache} | FileCheck %s
// RUN: fa-run %s %{cache} --tile | FileCheck %s
// RUN: fa-run %s %{cache} --tile --interchange --delay-normalization --pad-tiles | FileCheck %s
// RUN: fa-run %s %{cache} --fa1 | FileCheck %s
// RUN: fa-run %s %{cache} --fa2 | FileCheck %s
// RUN: sed s/bf16/f32/g %s | fa-run - %{cache} --fa2 | FileCheck %s
// RUN: sed s/bf16/f16/g %s | fa-run - %{cache} --fa2 | FileCheck %s
// CHECK: B=2,Hq=2,Hkv=2,Sq=113,Skv=3 --kv-lens=1,3{{$}}
// CHECK-NEXT: {{^}}o max error {{.*}}: ok
// CHECK-NEXT: {{^}}lse max error {{.*}}: ok
// CHECK-NEXT: unused rows of NaN and infinities: ok, the same bits as with zeros

// A kernel that takes all rows for keys is caught.
// RUN: sed "s/kv_lens(%n : tensor<?xi32>)//" %s > %t.all.mlir
// RUN: not fa-run %t.all.mlir --reference=%s %{cache} | FileCheck %s --check-prefix=ALL
// ALL: {{^}}o {{.*}}: WRONG, element [0, 0, 0, 0] is nan

// Drawn lengths, and no keys at all.
// RUN: fa-run %s --check --fa2 --kv-lens=0,0 | FileCheck %s --check-prefix=NONE
// NONE: Skv=0 --kv-lens=0,0
// NONE: lse {{.*}}: ok
// RUN: fa-run %s --check --fa2 --seed=5 --sizes=B=7 | FileCheck %s --check-prefix=DRAWN
// DRAWN: B=7,{{.*}},Skv=271 --kv-lens={{([0-9]+,)*}}271{{[,0-9]*$}}
// DRAWN: unused rows {{.*}}: ok

// RUN: not fa-run %s --kv-lens=1,4 --sizes=Skv=3 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: error: a sequence of 4 rows is longer than Skv, 3
// RUN: not fa-run %s --q-lens=1,4 2>&1 | FileCheck %s --check-prefix=QUERIES
// QUERIES: error: --q-lens is for cu_seqlens
// RUN: not fa-run %S/causal.mlir --kv-lens=1 2>&1 | FileCheck %s --check-prefix=KEYS
// KEYS: error: --kv-lens is for cu_seqlens and kv_lens
// RUN: not fa-run %s --sizes=Tq=9 2>&1 | FileCheck %s --check-prefix=PACKED
// PACKED: error: Tq is a size of packed tensors, which need cu_seqlens

func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %n: tensor<?xi32>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      kv_lens(%n : tensor<?xi32>) : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
