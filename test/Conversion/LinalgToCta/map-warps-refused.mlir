// RUN: not fa-opt --tile --pad-tiles --online-softmax --map-warps %S/../../../kernels-gen/specs/attention.mlir 2>&1 | FileCheck %s --check-prefix=NEST
// RUN: not fa-opt --tile --interchange --online-softmax --map-warps %S/../../../kernels-gen/specs/attention.mlir 2>&1 | FileCheck %s --check-prefix=UNPADDED
// RUN: not fa-opt --tile --interchange --pad-tiles --online-softmax --map-warps %s 2>&1 | FileCheck %s --check-prefix=F32
// RUN: sed s/x64x/x72x/g %S/Inputs/f16.mlir | not fa-opt --fa2=level=cta 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: fa-opt --fa2=level=arithmetic %S/Inputs/f16.mlir | sed "s/teams = 4/teams = 64/" | not fa-opt --map-warps 2>&1 | FileCheck %s --check-prefix=THREADS --implicit-check-not=error:
// RUN: fa-opt --fa2=level=arithmetic %S/../../../kernels-gen/specs/attention.mlir | sed "s/arith.constant 3 : index/arith.constant -3 : index/; s/arith.constant 2 : index/arith.constant -1 : index/" | not fa-opt --map-warps 2>&1 | FileCheck %s --check-prefix=DIMENSION
// RUN: fa-opt --map-warps %s 2>&1 -o /dev/null | FileCheck %s --check-prefix=NOTHING

// NEST: error: --map-warps takes functions of one scf.forall over tiles, found 0 (run --interchange first)
// UNPADDED: error: {{.*}}run --pad-tiles first
// F32: error: {{.*}}the right operand of a product must be a tile of 16-bit elements that was loaded, found 'tensor<{{[0-9]+}}x64xf32>'
// COLUMNS: error: tiles that are loaded have rows of a multiple of 16 elements, found 'tensor<{{[0-9]+}}x72xf16>'
// THREADS: error: its schedule has no thread block: at most 1024 threads, found 64 teams of 1 warps
// DIMENSION: error: 'tensor.dim' op asks for the size of dimension -1 of a tensor of rank 4
// NOTHING: warning: --map-warps found no function with a schedule
func.func @f32(%q: tensor<1x4x?x64xf32>, %k: tensor<1x4x?x64xf32>) -> (tensor<1x4x?x64xf32>, tensor<1x4x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %k : tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>)
      : tensor<1x4x?x64xf32>, tensor<1x4x?xf32>
  return %o, %lse : tensor<1x4x?x64xf32>, tensor<1x4x?xf32>
}
