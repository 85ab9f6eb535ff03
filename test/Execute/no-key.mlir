// A mask that hides all keys at the sizes of a run makes any kernel right: fa-run says so, and only then.
// RUN: fa-run %s --tile --check --sizes=Sq=5,Skv=7 | FileCheck %s
// RUN: fa-run %s --tile --check --sizes=Sq=5,Skv=12 | FileCheck %s --check-prefix=SOME

// CHECK: lse {{.*}}: ok
// CHECK-NEXT: note: no row sees a key at these sizes (--sizes): the outputs are 0 whatever the scores are
// SOME: lse {{.*}}: ok
// SOME-NOT: note

func.func @attention(%q: tensor<?x?x?x16xf32>, %k: tensor<?x?x?x16xf32>, %v: tensor<?x?x?x16xf32>, %scale: f32)
    -> (tensor<?x?x?x16xf32>, tensor<?x?x?xf32>) {
  %far = arith.constant 10 : index
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x16xf32>, tensor<?x?x?x16xf32>, tensor<?x?x?x16xf32>)
      scale(%scale) mask(%b, %h, %i, %j) {
        %sees = arith.cmpi sge, %j, %far : index
        attn.yield %sees : i1
      } : tensor<?x?x?x16xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x16xf32>, tensor<?x?x?xf32>
}
