// Fragments that a kernel stores and reads again, and that teams combine.
// RUN: fa-opt %s --split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: gpu.func @ops
gpu.module @kernels {
  gpu.func @ops(%A: memref<?x?x64xf32>, %M: memref<?x?xf32>, %h: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    cta.work (%i, %b) in (%n, %n) order(#cta.order<lpt>) {
      cta.role "all" teams(%w in 4) warps(1) {
        // CHECK: cta.fetch %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : memref<?x?x64xf32> -> vector<16x64xf32>
        %a = cta.fetch %A[%h, %i, %c0] : memref<?x?x64xf32> -> vector<16x64xf32>
        // CHECK: cta.fetch %{{.*}}[%{{.*}}, %{{.*}}] pad(0xFF800000) : memref<?x?xf32> -> vector<16xf32>
        %m = cta.fetch %M[%h, %i] pad(0xFF800000) : memref<?x?xf32> -> vector<16xf32>
        // CHECK: cta.fetch %{{.*}}[%{{.*}}, %{{.*}}] until %{{.*}} pad(1.000000e+00) : memref<?x?xf32> -> vector<16xf32>
        %l = cta.fetch %M[%h, %i] until %n pad(1.0) : memref<?x?xf32> -> vector<16xf32>
        // CHECK: cta.meet
        cta.meet
        // CHECK: cta.combine <maxnumf> %{{.*}} : vector<16xf32>
        %x = cta.combine <maxnumf> %m : vector<16xf32>
        cta.store %x, %M[%h, %i] : vector<16xf32>, memref<?x?xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @columns(%A: memref<?x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      // expected-error @below {{expects a fragment of at most the memref's 32 columns, but found 64}}
      %a = cta.fetch %A[%c0, %c0] : memref<?x32xf32> -> vector<16x64xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @indices(%A: memref<?x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 1) warps(1) {
      // expected-error @below {{expects one index for each dimension of 'memref<?x32xf32>', but found 1}}
      %a = cta.fetch %A[%c0] : memref<?x32xf32> -> vector<16xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @kind(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    cta.role "all" teams(%w in 2) warps(1) {
      %a = cta.fetch %A[%c0] : memref<?xf32> -> vector<16xf32>
      // expected-error @below {{expects a kind of floats, but found xor}}
      %x = cta.combine <xor> %a : vector<16xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @place(%a: vector<16xf32>) kernel {
    // expected-error @below {{expects to stand in a cta.role, whose teams meet}}
    %x = cta.combine <add> %a : vector<16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @alone() kernel {
    // expected-error @below {{expects to stand in a cta.role, whose teams meet}}
    cta.meet
    gpu.return
  }
}
