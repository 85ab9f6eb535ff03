// RUN: fa-opt %s -split-input-file -verify-diagnostics

func.func @element_types(%q: tensor<1x1x?x64xf16>, %k: tensor<1x1x?x64xbf16>) {
  // expected-error @+1 {{q, k and v must have one element type, found 'f16', 'bf16' and 'bf16'}}
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x1x?x64xf16>, tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>) : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @element(%q: tensor<1x1x?x64xf64>) {
  // expected-error @+1 {{operand #0 must be 3D/4D tensor of 16-bit float or bfloat16 type or 32-bit float values}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf64>, tensor<1x1x?x64xf64>, tensor<1x1x?x64xf64>) : tensor<1x1x?x64xf64>, tensor<1x1x?xf32>
  return
}

// -----

func.func @rank(%q: tensor<?x64xf16>) {
  // expected-error @+1 {{operand #0 must be 3D/4D tensor}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<?x64xf16>, tensor<?x64xf16>, tensor<?x64xf16>) : tensor<?x64xf16>, tensor<?xf32>
  return
}

// -----

func.func @dynamic_head_dim(%q: tensor<1x1x?x?xf16>) {
  // expected-error @+1 {{the head dimensions of q and v must be static}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x?xf16>, tensor<1x1x?x?xf16>, tensor<1x1x?x?xf16>) : tensor<1x1x?x?xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @no_head_dim(%q: tensor<1x1x?x0xf16>) {
  // expected-error @+1 {{the head dimensions must be positive, found 0 and 0}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x0xf16>, tensor<1x1x?x0xf16>, tensor<1x1x?x0xf16>) : tensor<1x1x?x0xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @head_dims(%q: tensor<1x1x?x64xf16>, %k: tensor<1x1x?x128xf16>) {
  // expected-error @+1 {{q and k must have the same head dimension size, found 64 and 128}}
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x1x?x64xf16>, tensor<1x1x?x128xf16>, tensor<1x1x?x128xf16>) : tensor<1x1x?x128xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @batch(%q: tensor<2x1x?x64xf16>, %k: tensor<3x1x?x64xf16>) {
  // expected-error @+1 {{q and k must have the same batch size, found 2 and 3}}
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<2x1x?x64xf16>, tensor<3x1x?x64xf16>, tensor<3x1x?x64xf16>) : tensor<2x1x?x64xf16>, tensor<2x1x?xf32>
  return
}

// -----

func.func @kv_length(%q: tensor<1x1x8x64xf16>, %k: tensor<1x1x16x64xf16>, %v: tensor<1x1x17x64xf16>) {
  // expected-error @+1 {{k and v must have the same sequence size, found 16 and 17}}
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<1x1x8x64xf16>, tensor<1x1x16x64xf16>, tensor<1x1x17x64xf16>) : tensor<1x1x8x64xf16>, tensor<1x1x8xf32>
  return
}

// -----

func.func @heads(%q: tensor<1x8x?x64xf16>, %k: tensor<1x3x?x64xf16>) {
  // expected-error @+1 {{the query heads must be a multiple of the key/value heads, found 8 and 3}}
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x8x?x64xf16>, tensor<1x3x?x64xf16>, tensor<1x3x?x64xf16>) : tensor<1x8x?x64xf16>, tensor<1x8x?xf32>
  return
}

// -----

func.func @output_element(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{o must have q's element type, found 'f32' and 'f16'}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return
}

// -----

func.func @output_width(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{v and o must have the same head dimension size, found 64 and 32}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) : tensor<1x1x?x32xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @lse_length(%q: tensor<1x1x8x64xf16>) {
  // expected-error @+1 {{o and lse must have the same sequence size, found 8 and 9}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16>, tensor<1x1x8x64xf16>) : tensor<1x1x8x64xf16>, tensor<1x1x9xf32>
  return
}

// -----

func.func @no_variant(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{'using' takes attention variants, found 3 : i64}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) using [3] : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @mask_args(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+2 {{the mask region takes 4 arguments, found 2}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>)
      mask(%i, %j) {
        %t = arith.cmpi sle, %j, %i : index
        attn.yield %t : i1
      } : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @mask_yield(%q: tensor<1x1x?x64xf16>, %x: f32) {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>)
      mask(%b, %h, %i, %j) {
        // expected-error @+1 {{must yield 'i1' from a mask region, found 'f32'}}
        attn.yield %x : f32
      } : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @score_end(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{the score region must end in attn.yield}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>)
      score(%s, %b, %h, %i, %j) {
        llvm.unreachable
      } : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @state_rank(%a: tensor<64x128xf32>, %m: tensor<1x1x64xf32>) {
  // expected-error @+1 {{max must have one dimension less than acc, found 3 and 2}}
  %0, %1, %2 = attn.init outs(%a, %m, %m : tensor<64x128xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32>)
  return
}

// -----

func.func @state_rows(%a: tensor<64x128xf32>, %m: tensor<32xf32>) {
  // expected-error @+1 {{acc and max must have the same sequence size, found 64 and 32}}
  %0, %1, %2 = attn.init outs(%a, %m, %m : tensor<64x128xf32>, tensor<32xf32>, tensor<32xf32>)
  return
}

// -----

// expected-error @+1 {{block sizes must be positive, found br = 0, bc = 64}}
#s = #attn.schedule<target = "sm_80", br = 0, bc = 64, teams = 4, warps = 1, stages = 2, partition = split_q>

// -----

// expected-error @+1 {{'attn.schedule' must be an #attn.schedule, found 3 : i64}}
func.func private @schedule_kind() attributes {attn.schedule = 3}

// -----

// expected-error @+1 {{'attn.schedule' belongs on a function, or on a parallel loop that becomes one}}
module attributes {attn.schedule = 3} {}

// -----

// expected-error @+1 {{has no attribute 'attn.schedul' in the attn dialect}}
func.func private @schedule_name() attributes {attn.schedul = 3}

// -----

func.func @window_without_sides(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{a window needs a left or a right side}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) using [#attn.window<>] : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @negative_window(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{the sides of a window must be from 0 to 2^31 - 1, found -1}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) using [#attn.window<left = -1>] : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @cap(%q: tensor<1x1x?x64xf16>) {
  // expected-error @+1 {{the cap must be positive and finite, found 0}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) using [#attn.softcap<0.0>] : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @packed_rank(%q: tensor<1x1x?x64xf16>, %c: tensor<?xi32>) {
  // expected-error @+1 {{cu_seqlens is for packed tensors, which have three dimensions, found 4}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) cu_seqlens(%c, %c : tensor<?xi32>, tensor<?xi32>) : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @packed_sizes(%q: tensor<1x?x64xf16>, %c: tensor<3xi32>, %d: tensor<4xi32>) {
  // expected-error @+1 {{cu_seqlens of q and of k must have one size, found 3 and 4}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x?x64xf16>, tensor<1x?x64xf16>, tensor<1x?x64xf16>) cu_seqlens(%c, %d : tensor<3xi32>, tensor<4xi32>) : tensor<1x?x64xf16>, tensor<1x?xf32>
  return
}

// -----

func.func @packed_empty(%q: tensor<1x?x64xf16>, %c: tensor<0xi32>) {
  // expected-error @+1 {{cu_seqlens must have an entry more than there are sequences, found none}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x?x64xf16>, tensor<1x?x64xf16>, tensor<1x?x64xf16>) cu_seqlens(%c, %c : tensor<0xi32>, tensor<0xi32>) : tensor<1x?x64xf16>, tensor<1x?xf32>
  return
}

// -----

func.func @packed_type(%q: tensor<1x?x64xf16>, %c: tensor<?xi64>) {
  // expected-error @+1 {{must be 1D tensor of 32-bit signless integer values}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x?x64xf16>, tensor<1x?x64xf16>, tensor<1x?x64xf16>) cu_seqlens(%c, %c : tensor<?xi64>, tensor<?xi64>) : tensor<1x?x64xf16>, tensor<1x?xf32>
  return
}

// -----

func.func @kv_lens_rank(%q: tensor<1x?x64xf16>, %n: tensor<?xi32>) {
  // expected-error @+1 {{kv_lens is for tensors with a batch dimension, which have four, found 3}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x?x64xf16>, tensor<1x?x64xf16>, tensor<1x?x64xf16>) kv_lens(%n : tensor<?xi32>) : tensor<1x?x64xf16>, tensor<1x?xf32>
  return
}

// -----

func.func @kv_lens_size(%q: tensor<2x1x?x64xf16>, %n: tensor<3xi32>) {
  // expected-error @+1 {{kv_lens must have a length for each batch, found 3 and 2}}
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<2x1x?x64xf16>, tensor<2x1x?x64xf16>, tensor<2x1x?x64xf16>) kv_lens(%n : tensor<3xi32>) : tensor<2x1x?x64xf16>, tensor<2x1x?xf32>
  return
}

// -----

func.func @merge_rank(%a: tensor<16x64xf32>, %m: tensor<16xf32>, %as: tensor<4x1x16x64xf32>, %ms: tensor<4x16xf32>, %u: f32) {
  // expected-error @+1 {{the partial acc must have one dimension more than the state's, found 4 and 2}}
  %r:3 = attn.merge ins(%as, %ms, %ms : tensor<4x1x16x64xf32>, tensor<4x16xf32>, tensor<4x16xf32>) unit(%u) outs(%a, %m, %m : tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @merge_count(%a: tensor<16x64xf32>, %m: tensor<16xf32>, %as: tensor<4x16x64xf32>, %ms: tensor<3x16xf32>, %u: f32) {
  // expected-error @+1 {{the partial acc, max and sum must be of as many states, found 4, 3 and 3}}
  %r:3 = attn.merge ins(%as, %ms, %ms : tensor<4x16x64xf32>, tensor<3x16xf32>, tensor<3x16xf32>) unit(%u) outs(%a, %m, %m : tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @merge_size(%a: tensor<16x64xf32>, %m: tensor<16xf32>, %as: tensor<4x16x32xf32>, %ms: tensor<4x16xf32>, %u: f32) {
  // expected-error @+1 {{the partial acc and the state's must have the same size behind the leading dimension, found 'tensor<4x16x32xf32>' and 'tensor<16x64xf32>'}}
  %r:3 = attn.merge ins(%as, %ms, %ms : tensor<4x16x32xf32>, tensor<4x16xf32>, tensor<4x16xf32>) unit(%u) outs(%a, %m, %m : tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @prepares(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'attn.prepares' is a unit attribute of scf.forall}}
  scf.for %i = %c0 to %n step %c1 {
  } {attn.prepares}
  return
}
