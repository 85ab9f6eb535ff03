// Captured tensors: whole problems against the reference, with rows and keys past the ends, and a lookup past the end.
// RUN: fa-run %S/../../kernels-gen/specs/bias.mlir --fa2 --on=sim --check --sizes=B=1,Hq=4,Hkv=2,Sq=77,Skv=150
// RUN: fa-run %S/../../kernels-gen/specs/document.mlir --fa2 --on=sim --check --sizes=B=2,Hq=1,Hkv=1,Sq=130,Skv=100
// RUN: fa-run %S/../../kernels-gen/specs/prefix-lm.mlir --fa2 --on=sim --check --sizes=B=3,Hq=1,Hkv=1,Sq=70,Skv=70
// RUN: not fa-run %s --on=sim 2>&1 | FileCheck %s

// CHECK: error: {{.*}}'cta.lookup'{{.*}}leaves the bounds of argument 0: index 16 of 16 in dimension 0
gpu.module @kernels {
  gpu.func @f(%M: memref<16xf32>, %O: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    cta.role "all" teams(%w in 1) warps(1) {
      %rows = cta.row %one : vector<16xi32>
      %v = cta.lookup %M[%rows] : memref<16xf32>, (vector<16xi32>) -> vector<16xf32>
      cta.store %v, %O[%c0] : vector<16xf32>, memref<16xf32>
    }
    gpu.return
  }
}
