// The bytes that tiles load and store, as a table and as CSV.

// RUN: fa-run %s --print-traffic --traffic-csv=%t.csv --sizes=Sq=100,Skv=64 --sizes=B=2,Hq=4,Sq=100,Skv=64 "--choose-schedule=br=64 bc=64" --tile --interchange | FileCheck %s --check-prefix=V2 --match-full-lines
// V2: B=1,Hq=2,Hkv=2,Sq=100,Skv=64
// V2: traffic         loads          bytes           stores          bytes
// V2-NEXT: q               0.049 MiB          51200        0.000 MiB              0
// V2-NEXT: k               0.062 MiB          65536        0.000 MiB              0
// V2-NEXT: v               0.062 MiB          65536        0.000 MiB              0
// V2-NEXT: o               0.000 MiB              0        0.049 MiB          51200
// V2-NEXT: lse             0.000 MiB              0        0.001 MiB            800
// V2-NEXT: total           0.174 MiB         182272        0.050 MiB          52000
// RUN: FileCheck %s --input-file=%t.csv --check-prefix=CSV --match-full-lines
// CSV: batch,heads,kv_heads,seq_q,seq_kv,tensor,load_bytes,store_bytes
// CSV-NEXT: 1,2,2,100,64,q,51200,0
// CSV-NEXT: 1,2,2,100,64,k,65536,0
// CSV-NEXT: 1,2,2,100,64,v,65536,0
// CSV-NEXT: 1,2,2,100,64,o,0,51200
// CSV-NEXT: 1,2,2,100,64,lse,0,800
// CSV-NEXT: 2,4,2,100,64,q,204800,0
// CSV-NEXT: 2,4,2,100,64,k,262144,0

// An op on whole tensors moves each of them once, and the counts change nothing else.
// RUN: fa-run %s --print-traffic --check | FileCheck %s --check-prefix=WHOLE
// WHOLE: q {{.*}} 57856 {{.*}} 0
// WHOLE-NEXT: k {{.*}} 138752 {{.*}} 0
// WHOLE-NEXT: v {{.*}} 138752 {{.*}} 0
// WHOLE-NEXT: o {{.*}} 0 {{.*}} 57856
// WHOLE-NEXT: lse {{.*}} 0 {{.*}} 904
// WHOLE-NEXT: total
// WHOLE-NEXT: {{^}}o {{.*}}: ok

// A pipeline: what it pads is not counted. (br is 64, so K and V are read twice.)
// RUN: fa-run %s --print-traffic --check "--fa2=br=64 bc=64" --sizes=Sq=100,Skv=65 | FileCheck %s --check-prefix=FA2
// FA2: k {{.*}} 66560 {{.*}} 0
// FA2: {{^}}o {{.*}}: ok

// Standard attention writes scores and weights, and reads them again: N^2 elements each.
// RUN: fa-run %s --print-traffic --check --decompose-attention --sizes=Sq=100,Skv=65 | FileCheck %s --check-prefix=STANDARD
// STANDARD: traffic
// STANDARD-NEXT: q {{.*}} 51200 {{.*}} 0
// STANDARD-NEXT: k {{.*}} 33280 {{.*}} 0
// STANDARD-NEXT: v {{.*}} 33280 {{.*}} 0
// STANDARD-NEXT: o {{.*}} 0 {{.*}} 51200
// STANDARD-NEXT: lse {{.*}} 0 {{.*}} 800
// STANDARD-NEXT: s {{.*}} 52000 {{.*}} 52000
// STANDARD-NEXT: p {{.*}} 52000 {{.*}} 52000
// STANDARD-NEXT: total
// STANDARD-NEXT: {{^}}o {{.*}}: ok

// A packed sequence is no tile, so that its rows are not counted twice.
// RUN: fa-run %S/packed.mlir --print-traffic --q-lens=3,100 --kv-lens=70,5 "--choose-schedule=br=64 bc=64" --tile --interchange | FileCheck %s --check-prefix=PACKED
// PACKED: q {{.*}} 26368 {{.*}} 0
// PACKED-NEXT: k {{.*}} 20480 {{.*}} 0
// PACKED-NEXT: v {{.*}} 20480 {{.*}} 0
// PACKED-NEXT: o {{.*}} 0 {{.*}} 26368
// PACKED-NEXT: lse {{.*}} 0 {{.*}} 824

// RUN: not fa-run %s --on=sim --print-traffic --fa2 2>&1 | FileCheck %s --check-prefix=SIM
// SIM: error: --print-traffic and --traffic-csv count on the CPU, not in the simulator
// RUN: not fa-run %s --traffic-csv=%t.none/traffic.csv 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: '{{.*}}traffic.csv': No such file or directory

func.func @attention(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x64xf32>, %v: tensor<?x?x?x64xf32>)
    -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}
