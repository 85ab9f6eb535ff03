// Matrices that scores are made with, by tiles (--stage-lookups): of one to four dimensions less or more than a block's, of f32, bf16 and
// f16, in rows and columns that end inside a block, in several orders, with fewer thread blocks than work items, with a mask, and two at
// once. Without the pass the numbers are the same.

// RUN: split-file %s %t
// DEFINE: %{file} = bias
// DEFINE: %{more} =
// DEFINE: %{run} = fa-run %t/%{file}.mlir --fa3%{more} --on=sim --check --sizes=B=2,Hq=2,Hkv=1,Sq=300,Skv=271 --sizes=B=1,Hq=1,Hkv=1,Sq=1,Skv=1 --sizes=B=1,Hq=1,Hkv=1,Sq=17,Skv=113 --sizes=B=1,Hq=1,Hkv=1,Sq=200,Skv=64
// RUN: %{run}
// RUN: seq 1 10 | xargs -I SEED fa-run %t/bias.mlir --fa3 --on=sim --check --sim-seed=SEED --sim-blocks=2 --sizes=B=2,Hq=2,Hkv=1,Sq=400,Skv=300
// REDEFINE: %{more} ==stage-lookups=false
// RUN: %{run}
// REDEFINE: %{more} ="=stages=1 bc=48"
// RUN: %{run}
// REDEFINE: %{more} =
// REDEFINE: %{file} = half
// RUN: %{run}
// REDEFINE: %{file} = causal
// RUN: %{run}
// REDEFINE: %{file} = two
// RUN: %{run}
// REDEFINE: %{file} = gate
// RUN: %{run}

// RUN: fa-opt %t/bias.mlir --fa3=level=cta | FileCheck %s --check-prefix=BIAS
// RUN: fa-opt %t/half.mlir --fa3=level=cta | FileCheck %s --check-prefix=HALF
// RUN: fa-opt %t/two.mlir --fa3=level=cta | FileCheck %s --check-prefix=TWO

// Batches that share the bias are side by side.
// BIAS: cta.ring each(2) : !cta.ring<1, !cta.tile<64x128xf32, swizzle = 128>>
// BIAS: cta.work (%{{.*}}, %[[B:.*]], %[[H:.*]]) in (%{{.*}}, %[[BATCHES:.*]], %[[HEADS:.*]]) order(#cta.order<natural, group_bytes = 33554432, persistent = static>)
// BIAS-NOT: cta.lookup
// HALF: cta.tile<64x{{[0-9]+}}xf16, swizzle = 128>>
// HALF-NOT: cta.lookup
// TWO-DAG: cta.ring each({{[0-9]}}) : !cta.ring<1, !cta.tile<64x{{[0-9]+}}xf32, swizzle = 128>>
// TWO-DAG: cta.ring each({{[0-9]}}) : !cta.ring<1, !cta.tile<64x{{[0-9]+}}xbf16, swizzle = 128>>
// TWO-NOT: cta.lookup

//--- bias.mlir
func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %scale: f32, %bias: tensor<?x?x?xf32>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) scale(%scale)
      score(%s, %b, %h, %i, %j) {
        %e = tensor.extract %bias[%h, %i, %j] : tensor<?x?x?xf32>
        %t = arith.addf %s, %e : f32
        attn.yield %t : f32
      } : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

//--- half.mlir
// All four axes, of f16, D 64.
func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %scale: f32, %bias: tensor<?x?x?x?xf16>)
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) scale(%scale)
      score(%s, %b, %h, %i, %j) {
        %e = tensor.extract %bias[%b, %h, %i, %j] : tensor<?x?x?x?xf16>
        %w = arith.extf %e : f16 to f32
        %t = arith.addf %s, %w : f32
        attn.yield %t : f32
      } : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}

//--- causal.mlir
// One bias for all heads and batches, behind a mask.
func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32, %bias: tensor<?x?xf32>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) scale(%scale) using [#attn.causal]
      score(%s, %b, %h, %i, %j) {
        %e = tensor.extract %bias[%i, %j] : tensor<?x?xf32>
        %t = arith.addf %s, %e : f32
        attn.yield %t : f32
      } : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

//--- two.mlir
// Two matrices, of different axes and elements.
func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %scale: f32, %factor: tensor<?x?x?xf32>, %bias: tensor<?x?xbf16>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) scale(%scale)
      score(%s, %b, %h, %i, %j) {
        %f = tensor.extract %factor[%b, %i, %j] : tensor<?x?x?xf32>
        %e = tensor.extract %bias[%i, %j] : tensor<?x?xbf16>
        %w = arith.extf %e : bf16 to f32
        %u = arith.mulf %s, %f : f32
        %t = arith.addf %u, %w : f32
        attn.yield %t : f32
      } : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

//--- gate.mlir
// A mask that reads a matrix of floats: its blocks come from lists, and whole ones do not read it.
func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32, %gate: tensor<?x?x?xf32>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) scale(%scale)
      mask(%b, %h, %i, %j) {
        %e = tensor.extract %gate[%h, %i, %j] : tensor<?x?x?xf32>
        %sees = arith.cmpf oge, %e, %zero : f32
        attn.yield %sees : i1
      } : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
