//===- Report.cpp - What fa-run prints about a run -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace fa::execute;

/// How many elements a summary shows.
static constexpr int64_t kShown = 4;

void fa::run::printComparison(llvm::StringRef name, const Comparison &result) {
  llvm::outs() << llvm::format(
      "%-4s max error %.3e, tolerance %.3e, relative error %.3e: ",
      name.str().c_str(), result.error, result.tolerance, result.relative);
  llvm::outs() << (result.passed() ? "ok" : "WRONG");
  if (!result.fault.empty())
    llvm::outs() << ", " << result.fault;
  llvm::outs() << '\n';
}

void fa::run::noteEmptyRows(const HostTensor &lse) {
  for (int64_t i = 0; i < lse.getNumElements(); ++i)
    if (!std::isinf(lse.load(i)))
      return;
  if (lse.getNumElements() != 0)
    llvm::outs() << "note: no row sees a key at these sizes (--sizes): the "
                    "outputs are 0 whatever the scores are\n";
}

void fa::run::printUnusedRows(const Comparison &result) {
  llvm::outs() << "unused rows of NaN and infinities: ";
  if (result.passed())
    llvm::outs() << "ok, the same bits as with zeros\n";
  else
    llvm::outs() << "WRONG, " << result.error
                 << " elements differ from those with zeros, " << result.fault
                 << '\n';
}

static void printTrafficRow(const TensorTraffic &row) {
  auto toMiB = [](int64_t bytes) { return double(bytes) / (1 << 20); };
  llvm::outs() << llvm::format("%-8s %12.3f MiB %14lld %12.3f MiB %14lld\n",
                               row.tensor.c_str(), toMiB(row.loads),
                               (long long)row.loads, toMiB(row.stores),
                               (long long)row.stores);
}

void fa::run::printTraffic(llvm::ArrayRef<TensorTraffic> rows) {
  llvm::outs()
      << "traffic         loads          bytes           stores          "
         "bytes\n";
  TensorTraffic total{"total"};
  for (const TensorTraffic &row : rows) {
    printTrafficRow(row);
    total.loads += row.loads;
    total.stores += row.stores;
  }
  printTrafficRow(total);
}

void fa::run::printTrafficHeader(llvm::raw_ostream &stream) {
  stream << "batch,heads,kv_heads,seq_q,seq_kv,tensor,load_bytes,store_bytes\n";
}

void fa::run::printTrafficLines(llvm::raw_ostream &stream, const Sizes &sizes,
                                llvm::ArrayRef<TensorTraffic> rows) {
  for (const TensorTraffic &row : rows)
    stream << sizes[Dim::B] << ',' << sizes[Dim::Hq] << ',' << sizes[Dim::Hkv]
           << ',' << sizes[Dim::Sq] << ',' << sizes[Dim::Skv] << ','
           << row.tensor << ',' << row.loads << ',' << row.stores << '\n';
}

void fa::run::printSummary(llvm::StringRef name, const HostTensor &tensor) {
  llvm::outs() << llvm::format("%-4s shape ", name.str().c_str());
  llvm::interleave(tensor.getShape(), llvm::outs(), "x");
  double sum = 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (double value = tensor.load(i); !std::isinf(value))
      sum += value;
  llvm::outs() << llvm::format(", sum of finite elements %.6g", sum);
  int64_t shown = std::min(kShown, tensor.getNumElements());
  for (int64_t i = 0; i < shown; ++i)
    llvm::outs() << (i ? ", " : ", first ")
                 << llvm::format("%.6g", tensor.load(i));
  llvm::outs() << '\n';
}
