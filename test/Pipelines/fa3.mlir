// REQUIRES: ptxas
// The schedules that --fa3 chooses leave no register to spill, for each head dimension, with and without a mask.

// DEFINE: %{dim} = 64
// DEFINE: %{drop} = 's/^//'
// DEFINE: %{run} = sed -e s/x128x/x%{dim}x/g -e %{drop} %s | fa-opt - --fa3 | FileCheck %s

// RUN: %{run}
// REDEFINE: %{dim} = 128
// RUN: %{run}
// REDEFINE: %{dim} = 256
// RUN: %{run}
// REDEFINE: %{drop} = 's/using .#attn.causal.//'
// RUN: %{run}
// REDEFINE: %{dim} = 128
// RUN: %{run}
// REDEFINE: %{dim} = 64
// RUN: %{run}

// CHECK: gpu.binary
// CHECK-SAME: spill_stores = 0

func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                     %v: tensor<?x?x?x128xbf16>, %scale: f32)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward
      ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      scale(%scale) using [#attn.causal] : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
