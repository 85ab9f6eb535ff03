// Packed sequences: lengths that are drawn or given, down to 0, and rows outside every sequence.

// Short keys against long queries, and empty sequences on either side, with causal masks.
// DEFINE: %{short} = --q-lens=76,34,146 --kv-lens=1,1,1 --sizes=Hq=1,Hkv=1
// DEFINE: %{empty} = --q-lens=0,1,0,1 --kv-lens=0,3,0,5 --sizes=Hq=9,Hkv=3
// RUN: fa-run %s --check %{short} | FileCheck %s --check-prefixes=SHORT,OK
// RUN: fa-run %s --check --tile --interchange %{short} | FileCheck %s --check-prefixes=SHORT,OK
// RUN: fa-run %s --check --fa1 %{short} | FileCheck %s --check-prefixes=SHORT,OK
// RUN: fa-run %s --check --fa2 %{empty} | FileCheck %s --check-prefixes=EMPTY,OK
// RUN: sed s/f16/f32/g %s | fa-run - --check --fa2 %{empty} | FileCheck %s --check-prefixes=EMPTY,OK
// RUN: sed s/f16/bf16/g %s | fa-run - --check --fa2 %{empty} | FileCheck %s --check-prefixes=EMPTY,OK
// SHORT: {{^}}B=3,Hq=1,Hkv=1,Sq=146,Skv=1,Tq=256,Tkv=3 --q-lens=76,34,146 --kv-lens=1,1,1{{$}}
// EMPTY: {{^}}B=4,Hq=9,Hkv=3,Sq=1,Skv=5,Tq=2,Tkv=8 --q-lens=0,1,0,1 --kv-lens=0,3,0,5{{$}}

// Lengths are drawn up to Sq and Skv, one at its most; what is printed makes the same run again.
// RUN: fa-run %s --check --fa2 | FileCheck %s --check-prefixes=DRAWN,OK
// RUN: fa-run %s --check --fa2 --seed=2 --sizes=B=1 --sizes=B=9,Sq=40,Skv=30 --sizes=B=0 | FileCheck %s --check-prefix=SIZES
// DRAWN: {{^}}B=4,Hq=2,Hkv=2,Sq=113,Skv=271,Tq=[[#]],Tkv=[[#]] --q-lens={{([0-9]+,)*}}113{{[0-9,]*}} --kv-lens={{([0-9]+,)*}}271
// SIZES: Tq=113,Tkv=271 --q-lens=113 --kv-lens=271{{$}}
// SIZES: --q-lens={{([0-9]+,)*}}40{{[0-9,]*}} --kv-lens={{([0-9]+,)*}}30
// SIZES: B=0,{{.*}}Tq=0,Tkv=0
// RUN: fa-run %s > %t.drawn
// RUN: sed -n "1s/^[^ ]* //p" %t.drawn | xargs fa-run %s > %t.given
// RUN: diff %t.drawn %t.given

// Rows that are given, of which the sequences are a part: the last ones are not compared, nor may they be read.
// RUN: fa-run %s --check --fa2 --q-lens=3,4 --kv-lens=5,60 --sizes=Tq=9,Tkv=70 | FileCheck %s --check-prefixes=REST,OK,UNUSED
// REST: B=2,Hq=2,Hkv=2,Sq=4,Skv=60,Tq=9,Tkv=70

// A fixed sum is cut at random.
// RUN: sed "s/%q: tensor<?x?x64xf16>/%q: tensor<?x300x64xf16>/; s/(%q, %k, %v : tensor<?x?x64xf16>/(%q, %k, %v : tensor<?x300x64xf16>/" %s > %t.static.mlir
// RUN: fa-run %t.static.mlir --check --sizes=B=3,Tkv=500 | FileCheck %s --check-prefixes=STATIC,OK
// STATIC: {{^}}B=3,{{.*}},Tq=300,Tkv=500 --q-lens=[[#]],[[#]],[[#]] --kv-lens=[[#]],[[#]],[[#]]{{$}}

// OK: {{^}}o max error {{.*}}: ok
// OK-NEXT: {{^}}lse max error {{.*}}: ok
// UNUSED: unused rows of NaN and infinities: ok, the same bits as with zeros

// RUN: not fa-run %t.static.mlir --q-lens=300,1 2>&1 | FileCheck %s --check-prefix=TOTAL
// TOTAL: error: the sequences end at row 301, which is more than Tq, 300
// RUN: not fa-run %s --q-lens=3,4 --kv-lens=5 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: --kv-lens fixes B to 1, found 2
// RUN: not fa-run %s --q-lens=3,4 --sizes=B=3 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: error: --q-lens fixes B to 2, found 3
// RUN: not fa-run %s --q-lens=3,40 --sizes=Sq=8 2>&1 | FileCheck %s --check-prefix=LONGEST
// LONGEST: error: a sequence of 40 rows is longer than Sq, 8
// RUN: not fa-run %s --q-lens=3,x 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not fa-run %s --q-lens=3,-1 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not fa-run %s --kv-lens= 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: '{{(x|-1)?}}' in '{{.*}}' is not a length: a number from 0 on is
// RUN: not fa-run %s --q-lens=2147483647,1 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not fa-run %s --q-lens=9223372036854775807,9223372036854775807 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: error: the lengths must have a sum of at most 2147483647
// RUN: not fa-run %s --sizes=B=9223372036854775807 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: there may be at most 1048576 sequences of different lengths, found 9223372036854775807
// RUN: not fa-run %s --sizes=Sq=9223372036854775807 2>&1 | FileCheck %s --check-prefix=SUM

func.func @attention(%q: tensor<?x?x64xf16>, %k: tensor<?x?x64xf16>, %v: tensor<?x?x64xf16>,
                     %cq: tensor<?xi32>, %ck: tensor<?xi32>) -> (tensor<?x?x64xf16>, tensor<?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x64xf16>, tensor<?x?x64xf16>, tensor<?x?x64xf16>)
      cu_seqlens(%cq, %ck : tensor<?xi32>, tensor<?xi32>) using [#attn.causal] : tensor<?x?x64xf16>, tensor<?x?xf32>
  return %o, %lse : tensor<?x?x64xf16>, tensor<?x?xf32>
}
