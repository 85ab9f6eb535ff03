//===- Passes.td - From arithmetic on tiles to a program for a thread block -*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_CONVERSION_LINALGTOCTA_PASSES_TD
#define FA_CONVERSION_LINALGTOCTA_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineKernels : Pass<"outline-kernels", "::mlir::ModuleOp"> {
  let summary = "each parallel loop of a function becomes a kernel, the function a launch plan";
  let description = [{
    Level C to C. Each outermost `scf.forall` of a function becomes a private
    function of its own, `@name_0`, `@name_1` and so on in their order, marked
    `cta.plan = "name"`. The function that is left is the launch plan: it calls the kernels one
    after another and makes the tensors that they write, workspaces among them. A kernel
    takes what it reads, then the tensors that it writes to, one for each of its
    results; so plan and kernels still run on the CPU.

    Index arithmetic, constants and sizes are computed anew in the kernel; an
    index that is a size of a tensor which the kernel has is asked of that
    tensor. So the number of parts of `--split-kv` is known to
    the kernels by the shape of the workspaces, and needs no parameter.

    Every parallel loop must stand at the top of its function, have results and
    constant steps. The schedule moves from the plan to its kernels; a loop that
    has an `attn.schedule` of its own gives that to its kernel, and one that is
    marked `attn.prepares` makes a kernel marked `cta.prepares`. With `only-several` a
    function of one loop is left as it is.

    Before:
    ```mlir
    func.func @f(%q: tensor<?x64xbf16>) -> tensor<?x64xf32> {
      %e = tensor.empty(%n, %m) : tensor<?x?x64xf32>
      %p = scf.forall (%s, %i) in (%n, %m) shared_outs(%a = %e) { ... %q ... }
      %r = scf.forall (%i) in (%m) shared_outs(%b = %e1) { ... %p ... }
      return %r : tensor<?x64xf32>
    }
    ```
    After:
    ```mlir
    func.func private @f_0(%q: tensor<?x64xbf16>, %e: tensor<?x?x64xf32>) -> tensor<?x?x64xf32> { ... }
    func.func private @f_1(%p: tensor<?x?x64xf32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> { ... }
    func.func @f(%q: tensor<?x64xbf16>) -> tensor<?x64xf32> {
      %e = tensor.empty(%n, %m) : tensor<?x?x64xf32>
      %p = call @f_0(%q, %e)
      %r = call @f_1(%p, %e1)
      return %r : tensor<?x64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"onlySeveral", "only-several", "bool", "false",
           "leave functions that have less than two parallel loops">
  ];
  let statistics = [Statistic<"numKernels", "num-kernels", "kernels outlined">];
}

def MapWarps : Pass<"map-warps", "::mlir::ModuleOp"> {
  let summary = "a parallel loop over tiles becomes what one thread block does";
  let description = [{
    Level C to D. A function that is one `scf.forall` over static tiles (after
    `--pad-tiles` and `--online-softmax`) becomes a `gpu.func` of the function's
    name in a `gpu.module` (`@attention_kernels`):

    1. The forall's iterations are the grid's work items (`cta.work`).
    2. The dimension of the results that the forall's blocks cut (the rows of Q)
       is divided among the schedule's teams; which dimensions of which tiles
       that means follows from the indexing maps (`partition=split_q`). With
       `partition=split_k` the teams divide what the loops cut that results are
       summed up over (the rows of K and V): row reductions and products over a
       divided dimension end in a `cta.combine`.
    3. Slices of the function's arguments, padded with zeros or static, become
       `cta.load`: `each` where a divided dimension is in it, else `once`. Tiles
       of other than 16-bit matrices (the states that a merge reads) go straight
       to fragments, by `cta.lookup`.
    4. Contractions become `cta.mma` and `cta.wait`, other generics the same
       arithmetic on fragments. A value that depends on the row alone stays a
       row vector until it meets one that depends on the column, so a mask's
       limits are computed once a row, in i32, and only compared per element.
    5. `tensor.extract` of an argument becomes `cta.lookup` where a position
       differs between elements, else `memref.load`: i32, f32, f16 or bf16.
    6. `tensor.parallel_insert_slice` becomes `cta.store`, and so does
       `tensor.insert_slice` into a result of the forall that loops carry; what
       they read of it becomes `cta.fetch`. Where all teams have all rows of
       such a tile the first team stores it, and teams meet (`cta.meet`) before
       they read it again.

    7. A branch on the flags of a tile's rows is `cta.if_any` where it says that
       each row may be asked alone (`attn.any_row`); else teams ask each other
       (`cta.any`) and branch together (`scf.if`), as where `rescale=first-max`
       folds a tile once more.

    The pass speaks of products, loads and reductions, not of attention. The
    kernel's arguments are the function's arguments and then those of its results
    that are written to no argument, as
    memrefs with strides of their own, but 1 for the last dimension; indices in fragments are i32, so
    sequences are shorter than 2^31. Teams, warps and the target come from
    `attn.schedule`. Blocks whose trip count depends on the first coordinate are
    started from the last one, in groups of heads whose keys and values fit
    32 MB (`#cta.order<lpt, group_bytes = 33554432>`).

    Of a function that `--outline-kernels` made a declaration is left, with
    `cta.kernel` naming the kernel, for the launch plan to call; the kernels of one
    plan share a module.

    Before:
    ```mlir
    %s = linalg.matmul ... ins(%q, %k : tensor<128x128xbf16>, tensor<64x128xbf16>) ...
    %m = linalg.generic ... ["parallel", "reduction"] ins(%s) { arith.maxnumf }
    ```
    After (4 teams):
    ```mlir
    %f = cta.mma %q, transpose %k : ... -> !cta.flight<32x64xf32>
    %s = cta.wait %f : !cta.flight<32x64xf32>
    %m = vector.multi_reduction <maxnumf>, %s, %ninf [1] : vector<32x64xf32> to vector<32xf32>
    ```
  }];
  let dependentDialects = [
    "::fa::cta::CtaDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numKernels", "num-kernels", "kernels made">];
}

#endif // FA_CONVERSION_LINALGTOCTA_PASSES_TD
