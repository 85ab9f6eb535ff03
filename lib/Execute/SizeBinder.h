//===- SizeBinder.h - Fixes the sizes of a problem -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_EXECUTE_SIZEBINDER_H
#define FA_LIB_EXECUTE_SIZEBINDER_H

#include "fa/Execute/AttentionFunction.h"
#include "fa/Execute/InputOptions.h"
#include "fa/Execute/Sizes.h"

namespace fa::execute {

/// What the leading dimensions of q (and o and lse) are.
llvm::SmallVector<Dim> getQueryDims(attn::ForwardOp forward);
/// What the leading dimensions of k and v are.
llvm::SmallVector<Dim> getKeyDims(attn::ForwardOp forward);

/// Fixes the sizes of one problem, each only once.
class SizeBinder {
public:
  SizeBinder(const AttentionFunction &problem, Sizes &sizes,
             const InputOptions &options)
      : forward(problem.forward), problem(problem), sizes(sizes),
        options(options) {}

  /// Fixes sizes from types, files and lengths, and then lengths that nothing
  /// fixed. Fails with a diagnostic where two of them differ.
  mlir::LogicalResult bind();

private:
  /// One of the two sides of packed tensors.
  struct Side {
    mlir::Value starts;
    Dim total, longest;
    const std::optional<std::vector<int64_t>> &lengths;
    llvm::StringRef option;
  };

  mlir::LogicalResult fix(Dim dim, int64_t size, const llvm::Twine &source);
  mlir::LogicalResult fixType(mlir::Type type, llvm::ArrayRef<Dim> dims);
  mlir::LogicalResult fixTypes();
  mlir::LogicalResult fixFile(mlir::Value argument, llvm::ArrayRef<Dim> dims);
  mlir::LogicalResult fixFiles();
  void set(Dim dim, int64_t size);
  void fixRegionFile(mlir::BlockArgument argument, const GivenTensor &given,
                     bool isShared);
  void fixRegionFiles();
  mlir::LogicalResult fixBatch();
  mlir::LogicalResult checkOptions();
  mlir::LogicalResult setLongest(Dim longest, int64_t length);
  mlir::LogicalResult chooseStarts(const Side &side,
                                   std::vector<int64_t> &starts);
  mlir::LogicalResult applyStarts(const Side &side,
                                  llvm::ArrayRef<int64_t> starts);
  mlir::LogicalResult bindPacked();
  mlir::LogicalResult bindKeyLengths();
  const GivenTensor *findFile(mlir::Value argument) const;
  uint64_t getStream(mlir::Value argument) const;

  attn::ForwardOp forward;
  const AttentionFunction &problem;
  Sizes &sizes;
  const InputOptions &options;
};

} // namespace fa::execute

#endif // FA_LIB_EXECUTE_SIZEBINDER_H
