//===- TensorNames.h - What the tensors of an attention are -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_EXECUTE_TENSORNAMES_H
#define FA_LIB_EXECUTE_TENSORNAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <string>

namespace fa::execute {

/// What a tensor of an attention can be.
enum class TensorName { Q, K, V, O, Lse, Acc, Max, Sum, S, P };
inline constexpr unsigned kNumNames = 10;

/// A set of names, one bit each.
using NameSet = unsigned;
inline constexpr unsigned kNumNameSets = 1u << kNumNames;

constexpr NameSet toSet(TensorName name) { return 1u << unsigned(name); }
/// "q", or "q=k" for several, or "other" for none.
std::string str(NameSet names);

/// The function that instrumented code calls with a name set, 0 for a load or 1
/// for a store, and bytes.
inline constexpr llvm::StringLiteral kCountFunction("fa_count_traffic");

/// Names of the tensors in a function at any level from A to the linalg ops of
/// level C. Values that are one tensor at different times, or a part of it,
/// have the same names.
class TensorNames {
public:
  /// `inputs` are the numbers of the arguments q, k and v.
  TensorNames(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> inputs);

  NameSet get(mlir::Value value) const;
  /// Whether `value` is a whole tensor, or one sequence of it, and no tile.
  bool isWhole(mlir::Value value) const;

private:
  void join(mlir::Value left, mlir::Value right);
  void joinOp(mlir::Operation *op);
  void joinLoops(mlir::Operation *op);
  void nameOp(mlir::Operation *op);
  void nameScores(mlir::Operation *op);
  void add(mlir::Value value, TensorName name);

  llvm::EquivalenceClasses<void *> classes;
  llvm::DenseMap<void *, NameSet> names;
};

} // namespace fa::execute

#endif // FA_LIB_EXECUTE_TENSORNAMES_H
