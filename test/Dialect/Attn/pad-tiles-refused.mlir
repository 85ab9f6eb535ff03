// RUN: fa-opt --pad-tiles --split-input-file %s -verify-diagnostics -o /dev/null

// Nothing says how large this tile can become.
func.func @no_bound(%q: tensor<?x64xf32>, %k: tensor<32x64xf32>, %i: index, %u: f32,
                    %a: tensor<?x64xf32>, %m: tensor<?xf32>) -> tensor<?x64xf32> {
  // expected-error @-2 {{--pad-tiles finds no constant bound on the rows of this tile}}
  %a1, %m1, %l1 = attn.update ins(%q, %k, %k : tensor<?x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
      at(%i, %i, %i, %i) lens(%i, %i) scale(%u) outs(%a, %m, %m : tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>)
  return %a1 : tensor<?x64xf32>
}

// -----

// expected-warning @+1 {{--pad-tiles found no attention on tiles}}
func.func @nothing() {
  return
}
