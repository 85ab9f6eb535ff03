// A file may hold a lower level of the problem that another one says; the check
// tells a right kernel from a wrong one.

// RUN: fa-opt %s --tile --interchange | fa-run - --reference=%s --check | FileCheck %s --check-prefix=RIGHT
// RUN: fa-opt %s --tile --online-softmax | fa-run - --reference=%s --check | FileCheck %s --check-prefix=RIGHT
// RIGHT: B=1,Hq=2,Hkv=2,Sq=113,Skv=271
// RIGHT-NEXT: {{^}}o max error {{.*}}: ok
// RIGHT-NEXT: {{^}}lse max error {{.*}}: ok

// A kernel without the mask: some rows see too much.
// RUN: sed 's/using .#attn.causal.//' %s | not fa-run - --reference=%s --check --fa2 | FileCheck %s --check-prefix=WRONG
// WRONG: {{^}}o max error {{.*}}: WRONG
// WRONG-NEXT: {{^}}lse max error {{.*}}: WRONG

// Rows that see no key must say so.
// RUN: sed 's/using .#attn.causal.//' %s | not fa-run - --reference=%s --check --sizes=Sq=5,Skv=2 | FileCheck %s --check-prefix=EMPTY
// EMPTY: {{^}}o max error {{.*}}: WRONG, element [0, 0, 0, 0] sees no key and is not 0
// EMPTY-NEXT: {{^}}lse max error {{.*}}: WRONG, element [0, 0, 0] is {{.*}} and must be -inf

// And the other way round.
// RUN: sed 's/using .#attn.causal.//' %s > %t.full.mlir
// RUN: not fa-run %s --reference=%t.full.mlir --check --sizes=Sq=5,Skv=2 | FileCheck %s --check-prefix=FULL
// FULL: {{^}}lse max error {{.*}}: WRONG, element [0, 0, 0] is -inf and must be

// One key too many is a small error that the tolerance must not swallow.
// RUN: sed 's/arith.cmpi slt, %j, %end/arith.cmpi sle, %j, %end/' %S/Inputs/prefix.mlir > %t.more.mlir
// RUN: fa-run %S/Inputs/prefix.mlir --check
// RUN: not fa-run %t.more.mlir --reference=%S/Inputs/prefix.mlir --check | FileCheck %s --check-prefix=WRONG

func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>,
                     %v: tensor<?x?x?x64xbf16>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      using [#attn.causal] : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
