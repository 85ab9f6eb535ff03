// One tensor of starts for queries and keys, and q that is k and v.

// RUN: fa-run %s --check --fa2 | FileCheck %s
// RUN: fa-run %s --check --q-lens=7,0,90 | FileCheck %s --check-prefix=GIVEN
// CHECK: Sq=113,Skv=113,Tq=[[T:[0-9]+]],Tkv=[[T]] --q-lens=[[LENS:[0-9,]+]] --kv-lens=[[LENS]]
// CHECK: lse {{.*}}: ok
// GIVEN: Sq=90,Skv=90,Tq=97,Tkv=97 --q-lens=7,0,90 --kv-lens=7,0,90
// GIVEN: lse {{.*}}: ok
// RUN: not fa-run %s --q-lens=7,90 --kv-lens=8,89 2>&1 | FileCheck %s --check-prefix=DIFFER
// DIFFER: error: --q-lens and --kv-lens must be the same for one tensor of cu_seqlens
// RUN: not fa-run %s --sizes=Hq=4 2>&1 | FileCheck %s --check-prefix=HEADS
// HEADS: error: q is k or v, so Hq must be Hkv

func.func @attention(%q: tensor<?x?x32xf32>, %starts: tensor<?xi32>) -> (tensor<?x?x32xf32>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>)
      cu_seqlens(%starts, %starts : tensor<?xi32>, tensor<?xi32>) : tensor<?x?x32xf32>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x32xf32>, tensor<?x?xf32>
}
