// Factors that are the same for all elements of a fragment multiply one another, where the order of products is free. What a
// branch alone still reads is computed there.

// RUN: fa-opt %s --allow-unregistered-dialect --fold-factors | FileCheck %s
// RUN: fa-opt %s --allow-unregistered-dialect --fold-factors --remarks-filter=fold-factors -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: [Passed] factors | Category:fold-factors | Function=softcap | factors=2
// REMARK: remark: [Missed] factors | Category:fold-factors | Function=strict | Reason="no fragment has two uniform factors whose order is free"

// Softcap has one product less for each element than it has factors, and its exponent none:
// RUN: fa-opt %S/../../../kernels-gen/specs/softcap.mlir "--fa3=level=cta rescale=first-max bc=128" | FileCheck %s --check-prefix=SPEC
// SPEC: cta.role "compute"
// SPEC: scf.for {{.*}} -> (vector<64x128xf32>, vector<64xf32>, vector<64x8xf32>, vector<64x128xbf16>)
// SPEC: %[[S:.*]] = cta.wait %{{.*}} pending 1
// SPEC: %[[X:.*]] = arith.mulf %[[S]], %{{.*}} fastmath<reassoc,contract> : vector<64x128xf32>
// SPEC-NEXT: %[[T:.*]] = math.tanh %[[X]]
// SPEC-NOT: arith.mulf {{.*}} : vector<64x128xf32>
// SPEC: cta.if_any
// SPEC-NEXT: arith.mulf %[[T]], %{{.*}} : vector<64x128xf32>
// SPEC: math.fma %[[T]]

!s = vector<16x64xf32>
!l = vector<16xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @softcap
  // CHECK-SAME: %[[S:.*]]: vector<16x64xf32>, %[[M:.*]]: vector<16x64xf32>, %[[SCALE:.*]]: f32, %[[ROWS:.*]]: vector<16xi1>, %{{.*}}: vector<16xf32>
  // CHECK: %[[C:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK: %[[F:.*]] = arith.mulf %[[SCALE]], %[[C]] : f32
  // CHECK: %[[FS:.*]] = vector.broadcast %[[F]]
  // CHECK: %[[X:.*]] = arith.mulf %[[S]], %[[FS]] fastmath<reassoc>
  // CHECK: %[[T:.*]] = math.tanh %[[X]]
  // CHECK-NOT: arith.mulf %[[T]]
  // CHECK: %[[BOTH:.*]] = arith.constant dense<1.000000e+01> : vector<16x64xf32>
  // CHECK: %[[E:.*]] = math.fma %[[T]], %[[BOTH]], %[[M]] fastmath<reassoc>
  // CHECK: cta.if_any %[[ROWS]]
  // CHECK-NEXT: arith.mulf %[[T]], %{{.*}} fastmath<reassoc>
  gpu.func @softcap(%s: !s, %m: !s, %scale: f32, %rows: vector<16xi1>, %none: !l) kernel {
    %half = arith.constant dense<0.5> : !s
    %cap = arith.constant dense<2.0> : !s
    %five = arith.constant dense<5.0> : !s
    %scales = vector.broadcast %scale : f32 to !s
    %a = arith.mulf %s, %scales fastmath<reassoc> : !s
    %x = arith.mulf %half, %a fastmath<reassoc> : !s
    %t = math.tanh %x : !s
    %y = arith.mulf %t, %cap fastmath<reassoc> : !s
    %e = math.fma %y, %five, %m fastmath<reassoc> : !s
    %max = cta.if_any %rows : vector<16xi1> -> (!l) {
      %r = vector.multi_reduction <maxnumf>, %y, %none [1] : !s to !l
      cta.yield %r : !l
    } else {
      cta.yield %none : !l
    }
    "test.use"(%e, %max) : (!s, !l) -> ()
    gpu.return
  }

  // The order of these is given: of the first by its operand, of the second by itself. A factor that differs from row to row is none.
  // CHECK-LABEL: gpu.func @strict
  // CHECK-COUNT-3: arith.mulf
  // CHECK: math.fma
  // CHECK: arith.mulf
  gpu.func @strict(%s: !s, %m: !s, %scale: f32, %row: !s) kernel {
    %two = arith.constant dense<2.0> : !s
    %scales = vector.broadcast %scale : f32 to !s
    %a = arith.mulf %s, %scales : !s
    %b = arith.mulf %a, %two fastmath<reassoc> : !s
    %c = arith.mulf %m, %two fastmath<reassoc> : !s
    %d = math.fma %c, %two, %m : !s
    %e = arith.mulf %c, %row fastmath<reassoc> : !s
    "test.use"(%b, %d, %e) : (!s, !s, !s) -> ()
    gpu.return
  }
}
