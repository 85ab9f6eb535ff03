//===- Traffic.cpp - Counters of bytes, and where they go -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Traffic.h"

#include "TensorNames.h"

#include "fa/Execute/Levels.h"

#include "llvm/ADT/StringExtras.h"

#include <array>
#include <atomic>

using namespace fa::execute;

namespace {
struct Counters {
  std::atomic<int64_t> loads{0}, stores{0};
};
} // namespace

/// By the set of names that a tensor has.
static std::array<Counters, kNumNameSets> counters;

static void count(int64_t names, int64_t isStore, int64_t bytes) {
  Counters &entry = counters[names];
  (isStore ? entry.stores : entry.loads) += bytes;
}

void fa::execute::traffic::reset() {
  for (Counters &entry : counters)
    entry.loads = entry.stores = 0;
}

std::vector<TensorTraffic> fa::execute::traffic::get() {
  std::vector<TensorTraffic> rows;
  for (auto [names, entry] : llvm::enumerate(counters))
    if (entry.loads || entry.stores)
      rows.push_back({str(NameSet(names)), entry.loads, entry.stores});
  return rows;
}

std::pair<llvm::StringLiteral, void *> fa::execute::traffic::getSymbol() {
  return {kCountFunction, reinterpret_cast<void *>(&count)};
}

std::string fa::execute::addTrafficCounters(llvm::StringRef text,
                                            const AttentionFunction &problem) {
  attn::ForwardOp forward = problem.forward;
  auto number = [&](mlir::Value operand) {
    return std::to_string(problem.getArgumentNumber(operand));
  };
  std::string pass = "count-traffic{q=" + number(forward.getQ()) +
                     " k=" + number(forward.getK()) +
                     " v=" + number(forward.getV()) + "}";
  llvm::StringRef found = findPass(text, {"online-softmax"});
  if (!found.empty()) {
    // It is in a list of passes over functions, which is closed and opened
    // again unless it begins there.
    constexpr llvm::StringLiteral open("func.func(");
    size_t pos = found.data() - text.data();
    llvm::StringRef before = text.take_front(pos);
    std::string closed = before.consume_back(open)
                             ? before.str()
                             : before.rtrim(',').str() + "),";
    return closed + pass + "," + open.str() + text.drop_front(pos).str();
  }
  llvm::StringRef head = text.drop_back();
  return head.str() + (head.ends_with("(") ? "" : ",") + pass + ")";
}
