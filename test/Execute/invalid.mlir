// What fa-run refuses to run, each with one reason.

// RUN: split-file %s %t
// RUN: not fa-run %t/none.mlir 2>&1 | FileCheck %t/none.mlir
// RUN: not fa-run %t/returned.mlir 2>&1 | FileCheck %t/returned.mlir
// RUN: not fa-run %t/argument.mlir 2>&1 | FileCheck %t/argument.mlir
// RUN: not fa-run %t/size.mlir --sizes=Sq=9,Skv=9 2>&1 | FileCheck %t/size.mlir
// RUN: not fa-run %t/scalar.mlir --sizes=Sq=9,Skv=9 2>&1 | FileCheck %t/scalar.mlir
// RUN: not fa-run %t/heads.mlir --sizes=Hq=3 2>&1 | FileCheck %t/heads.mlir
// RUN: not fa-run %t/shared.mlir 2>&1 | FileCheck %t/shared.mlir
// RUN: not fa-run %t/use-o.mlir --check 2>&1 | FileCheck %t/use-o.mlir
// RUN: not fa-run %t/use-lse.mlir --check 2>&1 | FileCheck %t/use-lse.mlir
// RUN: not fa-run %t/scale.mlir --sizes=Sq=999999999 --check 2>&1 | FileCheck %t/scale.mlir --check-prefix=BYTES
// RUN: not fa-run %t/scale.mlir --sizes=Sq=99999999999999 --check 2>&1 | FileCheck %t/scale.mlir --check-prefix=BYTES
// RUN: not fa-run %t/scale.mlir --sizes=Sq=9223372036854775807 2>&1 | FileCheck %t/scale.mlir --check-prefix=BYTES
// RUN: not fa-run %t/scale.mlir --sizes=B=0,Sq=9223372036854775807 2>&1 | FileCheck %t/scale.mlir --check-prefix=BYTES
// RUN: not fa-run %t/scale.mlir --arg=9=1 2>&1 | FileCheck %t/scale.mlir --check-prefix=NUMBER
// RUN: not fa-run %t/scale.mlir --arg=0=1 2>&1 | FileCheck %t/scale.mlir --check-prefix=TENSOR
// RUN: not fa-run %t/scale.mlir --arg=2=0.5 2>&1 | FileCheck %t/scale.mlir --check-prefix=INTEGER
// RUN: not fa-run %t/scale.mlir --arg=2=nan 2>&1 | FileCheck %t/scale.mlir --check-prefix=INTEGER
// RUN: not fa-run %t/scale.mlir --arg=1=0 2>&1 | FileCheck %t/scale.mlir --check-prefix=SCALE
// RUN: not fa-run %t/scale.mlir --arg=1=-1 2>&1 | FileCheck %t/scale.mlir --check-prefix=SCALE
// RUN: not fa-run %t/scale.mlir --arg=1=nan 2>&1 | FileCheck %t/scale.mlir --check-prefix=SCALE
// RUN: not fa-run %t/scale.mlir --arg=1=1e-60 2>&1 | FileCheck %t/scale.mlir --check-prefix=SCALE
// RUN: not fa-run %t/scale.mlir --arg=1=1e60 2>&1 | FileCheck %t/scale.mlir --check-prefix=SCALE
// RUN: not fa-run %t/bitcast.mlir --check --sizes=Sq=9,Skv=9 2>&1 | FileCheck %t/bitcast.mlir

//--- none.mlir
// CHECK: error: the function must hold one attn.forward, found 0
func.func @f() {
  return
}

//--- returned.mlir
// CHECK: error: the function must return o and lse of attn.forward, in this order
func.func @f(%q: tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32> {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o : tensor<?x?x?x64xf32>
}

//--- argument.mlir
// CHECK: error: k of attn.forward must be an argument of the function
func.func @f(%q: tensor<?x?x?x64xf32>, %n: index) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %k = tensor.empty(%n, %n, %n) : tensor<?x?x?x64xf32>
  %o, %lse = attn.forward ins(%q, %k, %q : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}

//--- size.mlir
// CHECK: error: dimension 0 of argument 1 has an unknown size
func.func @f(%q: tensor<?x?x?x64xf32>, %table: tensor<?xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      score(%s, %b, %h, %i, %j) {
        %c2 = arith.constant 2 : index
        %pair = arith.divui %h, %c2 : index
        %e = tensor.extract %table[%pair] : tensor<?xf32>
        %t = arith.addf %s, %e : f32
        attn.yield %t : f32
      } : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}

//--- scalar.mlir
// CHECK: error: argument 1 of type 'index' needs a value: --arg=1=VALUE
func.func @f(%q: tensor<?x?x?x64xf32>, %n: index) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}

//--- shared.mlir
// CHECK: error: q is k or v, so Hq must be Hkv and Sq Skv, found B=1,Hq=2,Hkv=2,Sq=113,Skv=271
func.func @f(%q: tensor<?x?x?x64xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}

//--- heads.mlir
// CHECK: error: Hq must be a multiple of Hkv, found 3 and 2
func.func @f(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x64xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}

//--- use-o.mlir
// CHECK: use-o.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: o of attn.forward may only be returned, found a use in math.exp
func.func @f(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
      : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  %e = math.exp %o : tensor<?x?x?x64xbf16>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

//--- use-lse.mlir
// CHECK: use-lse.mlir:[[#@LINE+5]]:{{[0-9]+}}: error: lse of attn.forward may only be returned, found a use in tensor.dim
func.func @f(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x64xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  %n = tensor.dim %lse, %c0 : tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}

//--- scale.mlir
// BYTES: error: the tensors of a run may take 4 GiB together, which is too little for B={{[01]}},Hq=2,Hkv=2,Sq=9{{[0-9]*}},Skv=271
// NUMBER: error: there is no argument 9, for which --arg has a value: the function has 4 arguments, from 0 on
// TENSOR: error: argument 0 is no scalar, so --arg=0 cannot be its value
// INTEGER: error: argument 2 must be an integer of type 'index', found {{0.5|nan}}
// SCALE: error: the scale must be positive and finite in 'f32', found --arg=1={{.}}
func.func @f(%q: tensor<?x?x?x64xf32>, %scale: f32, %n: index, %k: tensor<?x?x?x64xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      scale(%scale) : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}

//--- bitcast.mlir
// CHECK: error: 'arith.bitcast' op in a score or mask region has no meaning in the float64 reference
func.func @f(%q: tensor<?x?x?x64xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
      score(%s, %b, %h, %i, %j) {
        %bits = arith.bitcast %s : f32 to i32
        %same = arith.bitcast %bits : i32 to f32
        attn.yield %same : f32
      } : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf32>, tensor<?x?x?xf32>
}
