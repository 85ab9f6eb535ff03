// RUN: fa-opt %s --outline-kernels -split-input-file -verify-diagnostics

func.func @loop(%a: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<8xf32>) {
    // expected-error @below {{--outline-kernels: a kernel's loop is inside another op of the host, 'scf.for': launch plans are straight lines}}
    %q = scf.forall (%i) in (8) shared_outs(%x = %b) -> (tensor<8xf32>) {
      %e = tensor.extract_slice %a[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %e into %x[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    }
    scf.yield %q : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @step(%a: tensor<8xf32>, %s: index) -> tensor<8xf32> {
  // expected-error @below {{--outline-kernels: a kernel's loop has results and constant steps}}
  %q = scf.forall (%i) = (0) to (8) step (%s) shared_outs(%x = %a) -> (tensor<8xf32>) {
    %e = tensor.extract_slice %a[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %x[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %q : tensor<8xf32>
}

// -----

// expected-warning @below {{--outline-kernels found no scf.forall (run --interchange first)}}
module {
  func.func @nothing() {
    return
  }
}

// -----

// A declaration has no loops.
// expected-warning @below {{--outline-kernels found no scf.forall (run --interchange first)}}
module {
  func.func private @elsewhere(index)
}
