// RUN: fa-opt %s -split-input-file -verify-diagnostics
// Score and mask regions in the generic form, where their types are free.

func.func @score_types(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{the score region must take ('f32', 'index', 'index', 'index', 'index'), found ('f16', 'index', 'index', 'index', 'index')}}
  %o:2 = "attn.forward"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}> ({
  ^bb0(%s: f16, %b: index, %h: index, %i: index, %j: index):
    %x = arith.constant 0.0 : f32
    attn.yield %x : f32
  }, {
  }) : (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) -> (tensor<1x1x?x64xf16>, tensor<1x1x?xf32>)
  return
}

// -----

func.func @mask_types(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{the mask region must take ('index', 'index', 'index', 'index'), found ('index', 'index', 'i32', 'i32')}}
  %o:2 = "attn.forward"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}> ({
  }, {
  ^bb0(%b: index, %h: index, %i: i32, %j: i32):
    %t = arith.cmpi sle, %j, %i : i32
    attn.yield %t : i1
  }) : (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) -> (tensor<1x1x?x64xf16>, tensor<1x1x?xf32>)
  return
}

// -----

func.func @score_args(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{the score region must take ('f32', 'index', 'index', 'index', 'index'), found ()}}
  %o:2 = "attn.forward"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}> ({
    %x = arith.constant 0.0 : f32
    attn.yield %x : f32
  }, {
  }) : (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) -> (tensor<1x1x?x64xf16>, tensor<1x1x?xf32>)
  return
}

// -----

func.func @score_yield(%q: tensor<1x1x?x64xf16>) {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>)
      score(%s, %b, %h, %i, %j) {
        %t = arith.cmpi sle, %j, %i : index
        // expected-error @+1 {{must yield 'f32' from a score region, found 'i1'}}
        attn.yield %t : i1
      } : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @two_blocks(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{region #1 ('maskRegion') failed to verify constraint: region with at most 1 blocks}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>)
      mask(%b, %h, %i, %j) {
        cf.br ^last
      ^last:
        %t = arith.cmpi sle, %j, %i : index
        attn.yield %t : i1
      } : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @yield_alone(%x: f32) {
  // expected-error @+1 {{expects parent op to be one of 'attn.forward, attn.update, attn.block_list'}}
  attn.yield %x : f32
}
