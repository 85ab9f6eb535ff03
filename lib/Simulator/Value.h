//===- Value.h - What SSA values are in the simulator -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_SIMULATOR_VALUE_H
#define FA_LIB_SIMULATOR_VALUE_H

#include "fa/Dialect/Cta/IR/Cta.h"
#include "fa/Simulator/Fragment.h"

#include <functional>
#include <variant>

namespace fa::sim {

class GlobalTensor;
struct RingInstance;
struct BarrierInstance;

/// A matrix in shared memory: one stage of a ring, or the place of a load.
struct SharedTile {
  cta::TileType type;
  std::vector<float> data;

  explicit SharedTile(cta::TileType type);
  /// Makes every element NaN: what is there now may not be read.
  void poison();
};

/// A tile as an op names it: where it is, and for a ring's stage which use of
/// it.
struct TileRef {
  SharedTile *tile = nullptr;
  RingInstance *ring = nullptr;
  int64_t use = 0;
};

/// A product that was started.
struct Flight {
  cta::MmaOp op;
  TileRef aTile, bTile;
  FragmentPtr a, acc;
  FragmentPtr result; ///< null until it is done
};

using FlightPtr = std::shared_ptr<Flight>;

/// The value of an SSA value: an integer or index, a float, a fragment, or what
/// a type of the dialect stands for.
using Datum =
    std::variant<std::monostate, int64_t, float, FragmentPtr, TileRef,
                 FlightPtr, GlobalTensor *, RingInstance *, BarrierInstance *>;

/// Gives the result of an op without side effects. Fails with a diagnostic.
using Evaluator = std::function<mlir::FailureOr<Datum>(mlir::Operation *,
                                                       llvm::ArrayRef<Datum>)>;

/// The evaluator of the op's name: arithmetic, or null where it is none that
/// the simulator knows.
const Evaluator *findArithmetic(llvm::StringRef name);
/// The same for ops that move elements about: broadcasts, reductions, iotas.
const Evaluator *findRearrangement(llvm::StringRef name);

/// What a constant of `type` with `value` is. Fails where that is no type of
/// the simulator.
mlir::FailureOr<Datum> makeConstant(mlir::Type type, mlir::Attribute value);

/// `value` as an integer of `bits` bits: i1 as 0 or 1, others sign-extended.
int64_t wrapInteger(int64_t value, unsigned bits);
/// Whether any element of a predicate, a fragment of i1, is true.
bool isAnyTrue(const Datum &predicate);
/// The bits of an integer or index type.
unsigned getIntegerBits(mlir::Type type);

} // namespace fa::sim

#endif // FA_LIB_SIMULATOR_VALUE_H
