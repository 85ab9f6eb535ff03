// Tensors that regions read at computed positions: what lies outside is told before the kernel runs, which would read it.

// RUN: split-file %s %t
// RUN: fa-run %t/table.mlir --fa2 --check --sizes=Sq=50,Skv=50 | FileCheck %s
// RUN: not fa-run %t/table.mlir --fa2 --check --sizes=Sq=52,Skv=50 2>&1 | FileCheck %s --check-prefix=ABOVE
// RUN: not fa-run %t/table.mlir --fa2 --check --sizes=Sq=3000,Skv=20 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not fa-run %t/table.mlir --check --sizes=Sq=20,Skv=90 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not fa-run %t/table.mlir --fa2 --on=sim --check --sizes=Sq=52,Skv=50 2>&1 | FileCheck %s --check-prefix=SIM
// RUN: not fa-run %t/mask.mlir --fa2 --check --sizes=Sq=70,Skv=70 2>&1 | FileCheck %s --check-prefix=MASK
// RUN: not fa-run %t/place.mlir --check --arg=place=300000 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: sed "s/%%place\]/%%below]/" %t/place.mlir | not fa-run - --check --arg=place=3 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: fa-run %t/place.mlir --check --arg=place=3 | FileCheck %s
// PLACE: error: a score or mask region leaves the bounds of argument 3: index 300000 of 35 in dimension 0
// CONSTANT: error: a score or mask region leaves the bounds of argument 3: index -3 of 35 in dimension 0
// CHECK: {{^}}o {{.*}}: ok
// CHECK-NEXT: {{^}}lse {{.*}}: ok
// ABOVE: error: a score or mask region leaves the bounds of argument 4: index 100 of 100 in dimension 1
// FAR: error: a score or mask region leaves the bounds of argument 4: index {{[0-9]+}} of 100 in dimension 1
// BELOW: error: a score or mask region leaves the bounds of argument 4: index -{{[0-9]+}} of 100 in dimension 1
// SIM: error: {{.*}}leaves the bounds of argument 4: index 100 of 100 in dimension 1
// MASK: error: a score or mask region leaves the bounds of argument 3: index 35 of 35 in dimension 0

// A bias by how far a key is from its query, from a table of the distances -49 to 50 of each head.
//--- table.mlir
func.func @f(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32, %table: tensor<?x100xf32>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %c49 = arith.constant 49 : index
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      scale(%scale)
      score(%s, %b, %h, %i, %j) {
        %distance = arith.subi %i, %j : index
        %place = arith.addi %distance, %c49 : index
        %e = tensor.extract %table[%h, %place] : tensor<?x100xf32>
        %t = arith.addf %s, %e : f32
        attn.yield %t : f32
      } : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

// Flags of pairs of keys, one too few.
//--- mask.mlir
func.func @f(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %flags: tensor<35xi32>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      mask(%b, %h, %i, %j) {
        %next = arith.addi %j, %c1 : index
        %pair = arith.divui %next, %c2 : index
        %flag = tensor.extract %flags[%pair] : tensor<35xi32>
        %sees = arith.cmpi ne, %flag, %one : i32
        attn.yield %sees : i1
      } : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}

// A place that is an argument, and one that is a constant.
//--- place.mlir
func.func @f(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x64xf32>, %v: tensor<?x?x?x64xf32>, %table: tensor<35xf32>, %place: index)
    -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %below = arith.constant -3 : index
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      score(%s, %b, %h, %i, %j) {
        %e = tensor.extract %table[%place] : tensor<35xf32>
        %t = arith.addf %s, %e : f32
        attn.yield %t : f32
      } : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}
