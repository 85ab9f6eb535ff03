// Upstream's transform dialect drives the tiling of whole-tensor updates through
// TilingInterface and PartialReductionOpInterface.
//
// RUN: fa-opt %s --transform-interpreter -split-input-file | FileCheck %s

!t = tensor<2x4x?x64xf16>
!a = tensor<2x4x?x64xf32>
!r = tensor<2x4x?xf32>

module attributes {transform.with_named_sequence} {
  func.func @tile(%q: !t, %k: !t, %v: !t, %sq: index, %skv: index, %scale: f32, %a: !a, %m: !r, %l: !r) -> (!a, !r, !r) {
    %c0 = arith.constant 0 : index
    %u:3 = attn.update ins(%q, %k, %v : !t, !t, !t) at(%c0, %c0, %c0, %c0) lens(%sq, %skv) scale(%scale) outs(%a, %m, %l : !a, !r, !r)
    return %u#0, %u#1, %u#2 : !a, !r, !r
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %update = transform.structured.match ops{["attn.update"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:4 = transform.structured.tile_using_for %update tile_sizes [1, 1, 128, 64]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// CHECK-LABEL: func @tile
// CHECK-COUNT-4: scf.for
// CHECK: attn.update ins({{.*}} : tensor<?x64xf16>, tensor<?x64xf16>, tensor<?x64xf16>)

// -----

!t = tensor<2x4x?x64xf16>
!a = tensor<2x4x?x64xf32>
!r = tensor<2x4x?xf32>

module attributes {transform.with_named_sequence} {
  func.func @split(%q: !t, %k: !t, %v: !t, %sq: index, %skv: index, %scale: f32, %a: !a, %m: !r, %l: !r) -> (!a, !r, !r) {
    %c0 = arith.constant 0 : index
    %u:3 = attn.update ins(%q, %k, %v : !t, !t, !t) at(%c0, %c0, %c0, %c0) lens(%sq, %skv) scale(%scale) outs(%a, %m, %l : !a, !r, !r)
    return %u#0, %u#1, %u#2 : !a, !r, !r
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %update = transform.structured.match ops{["attn.update"]} in %root : (!transform.any_op) -> !transform.any_op
    %fills:3, %part, %merge, %loop = transform.structured.tile_reduction_using_forall %update
      by num_threads = [0, 0, 0, 4] tile_sizes = []
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// CHECK-LABEL: func @split
// CHECK: attn.init outs({{.*}} : tensor<4x2x4x?x64xf32>, tensor<4x2x4x?xf32>, tensor<4x2x4x?xf32>)
// CHECK: scf.forall
// CHECK: attn.update
// CHECK: attn.merge
