// RUN: fa-opt --map-warps %s | FileCheck %s
// RUN: fa-opt --map-warps --stage-tiles --prefetch --lower-to-nvvm --emit-cubin=format=ptx %s | FileCheck %s --check-prefix=PTX

// A product with an epilogue, D = relu(A B + row), which is no attention: 64 x 64 blocks, two teams.
// CHECK: gpu.func @gemm
// CHECK: cta.work (%{{.*}}, %{{.*}}) in ({{.*}}) order(#cta.order<natural>)
// CHECK: cta.role "all" teams(%{{.*}} in 2) warps(1)
// CHECK: scf.for {{.*}} -> (vector<32x64xf32>)
// CHECK: %[[A:.*]] = cta.load each {{.*}} -> !cta.tile<32x64xf16
// CHECK: %[[B:.*]] = cta.load once {{.*}} -> !cta.tile<64x64xf16
// CHECK: cta.mma %[[A]], %[[B]] into %{{.*}} -> !cta.flight<32x64xf32>
// CHECK: arith.maximumf {{.*}} : vector<32x64xf32>
// CHECK: cta.store {{.*}} : vector<32x64xf16>
// PTX: mma.sync.aligned.m16n8k16
#schedule = #attn.schedule<target = "sm_80", br = 64, bc = 64, teams = 2, warps = 1, stages = 2, partition = split_q>
#id = affine_map<(d0, d1) -> (d0, d1)>
#end = affine_map<(d0)[s0] -> (-d0 + s0, 64)>
func.func @gemm(%a: tensor<?x256xf16>, %b: tensor<256x512xf16>, %bias: f32) -> tensor<?x512xf16> attributes {attn.schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %zero16 = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%m) : tensor<?x512xf16>
  %d = scf.forall (%i, %j) = (0, 0) to (%m, 512) step (64, 64) shared_outs(%out = %e) -> (tensor<?x512xf16>) {
    %n = affine.min #end(%i)[%m]
    %et = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%et : tensor<64x64xf32>) -> tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %c256 step %c64 iter_args(%s = %z) -> tensor<64x64xf32> {
      %as = tensor.extract_slice %a[%i, %k] [%n, 64] [1, 1] : tensor<?x256xf16> to tensor<?x64xf16>
      %rest = arith.subi %c64, %n : index
      %at = tensor.pad %as low[0, 0] high[%rest, 0] {
      ^bb0(%x: index, %y: index):
        tensor.yield %zero16 : f16
      } : tensor<?x64xf16> to tensor<64x64xf16>
      %bt = tensor.extract_slice %b[%k, %j] [64, 64] [1, 1] : tensor<256x512xf16> to tensor<64x64xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<64x64xf16>, tensor<64x64xf16>) outs(%s : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %p : tensor<64x64xf32>
    }
    %e16 = tensor.empty() : tensor<64x64xf16>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<64x64xf32>) outs(%e16 : tensor<64x64xf16>) {
    ^bb0(%x: f32, %y: f16):
      %t = arith.addf %x, %bias : f32
      %u = arith.maximumf %t, %zero : f32
      %v = arith.truncf %u : f32 to f16
      linalg.yield %v : f16
    } -> tensor<64x64xf16>
    %cut = tensor.extract_slice %r[0, 0] [%n, 64] [1, 1] : tensor<64x64xf16> to tensor<?x64xf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %cut into %out[%i, %j] [%n, 64] [1, 1] : tensor<?x64xf16> into tensor<?x512xf16>
    }
  }
  return %d : tensor<?x512xf16>
}
