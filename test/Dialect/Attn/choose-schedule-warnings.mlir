// RUN: fa-opt --choose-schedule --split-input-file -verify-diagnostics %s -o /dev/null

// expected-warning @+1 {{--choose-schedule found no attn.forward}}
func.func @nothing() {
  return
}

// -----

// expected-warning @+1 {{--choose-schedule keeps the schedule that is there already}}
func.func @kept(%q: tensor<1x1x?x64xf16>) attributes {attn.schedule = #attn.schedule<target = "sm_80", br = 16, bc = 16, teams = 1, warps = 1, stages = 1, partition = split_q>} {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

// expected-error @+1 {{its schedule does not fit sm_80: stages must be from 1 to 65536, found 100000}}
func.func @does_not_fit(%q: tensor<1x1x?x64xf16>) attributes {attn.schedule = #attn.schedule<target = "sm_80", br = 16, bc = 16, teams = 1, warps = 1, stages = 100000, partition = split_q>} {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return
}

// -----

func.func @two_kinds(%q: tensor<1x1x?x64xf16>, %r: tensor<1x1x?x128xf16>) {
  %o, %lse = attn.forward ins(%q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  // expected-error @+1 {{differs in head dimension or element type from another attention of this function}}
  %p, %lsf = attn.forward ins(%r, %r, %r : tensor<1x1x?x128xf16>, tensor<1x1x?x128xf16>, tensor<1x1x?x128xf16>) : tensor<1x1x?x128xf16>, tensor<1x1x?xf32>
  return
}
