//===- Tolerance.cpp - How exact an output must be ------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tolerance.h"

#include "Float16.h"
#include "Kernel.h"
#include "Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

using namespace fa;
using namespace fa::bench;

static constexpr double kF32Relative = 1e-5;

static std::string placeOf(const char *name, const RowId &row) {
  return std::string(name) + " at batch " + std::to_string(row.b) + ", head " +
         std::to_string(row.h) + ", row " + std::to_string(row.i);
}

/// Whether all bytes of an element still are those it was poisoned with.
static bool isUnwritten(const uint8_t *element, int64_t bytes) {
  return std::all_of(element, element + bytes,
                     [](uint8_t byte) { return byte == 0xff; });
}

/// What is wrong with an element that is not finite.
static const char *faultKind(double value, const uint8_t *element,
                             int64_t bytes) {
  return isUnwritten(element, bytes) ? " is unwritten"
         : std::isnan(value)         ? " is NaN"
                                     : " is infinite";
}

/// The first fault of one row: an element that is unwritten, NaN or infinite
/// (-inf is allowed for lse).
static std::string rowFault(const HostTensor &tensor, const char *name,
                            const RowId &row, std::vector<float> &values) {
  bool isLse = tensor.dim() == 1;
  tensor.readRow(row.b, row.h, row.i, values.data());
  int64_t bytes = tensor.dtype() == FA_F32 ? 4 : 2;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (std::isfinite(values[d]) || (isLse && values[d] < 0))
      continue;
    const uint8_t *element = tensor.row(row.b, row.h, row.i) + d * bytes;
    const char *kind = faultKind(values[d], element, bytes);
    std::string column = isLse ? "" : ", column " + std::to_string(d);
    return placeOf(name, row) + column + kind;
  }
  return "";
}

/// The fault of the first faulty row, over all rows.
static std::string findFault(const HostTensor &tensor, const char *name) {
  std::mutex mutex;
  int64_t firstRow = std::numeric_limits<int64_t>::max();
  std::string first;
  int64_t rows = tensor.batch() * tensor.heads() * tensor.seq();
  parallelRanges(rows, 1024, [&](int64_t lo, int64_t hi) {
    std::vector<float> values(tensor.dim());
    for (int64_t r = lo; r < hi; ++r) {
      int64_t head = r / tensor.seq();
      RowId row{head / tensor.heads(), head % tensor.heads(), r % tensor.seq()};
      std::string fault = rowFault(tensor, name, row, values);
      if (fault.empty())
        continue;
      std::lock_guard<std::mutex> lock(mutex);
      if (r < firstRow) {
        firstRow = r;
        first = fault;
      }
      return;
    }
  });
  if (!first.empty())
    return first;
  std::string guard = tensor.touchedGuard();
  return guard.empty() ? "" : std::string(name) + " was written at " + guard;
}

namespace {

/// The maxima that the limit of o is made of.
struct Maxima {
  double naive = 0, rounding = 0, magnitude = 0;
};

} // namespace

/// |((ref + 0.3) - 0.3) - ref|, with the input and each result in the type:
/// the error of a computation that rounds about once too often.
static double roundingError(fa_dtype dtype, double ref) {
  float rounded = roundTo(dtype, float(ref));
  float sum = roundTo(dtype, rounded + 0.3f);
  return std::abs(double(roundTo(dtype, sum - 0.3f)) - ref);
}

static double limitOf(fa_dtype dtype, const Maxima &maxima) {
  if (dtype == FA_F32)
    return kF32Relative * maxima.magnitude;
  return 2 * maxima.naive + 2 * maxima.rounding;
}

static void compareO(const HostTensor &o, const Reference &reference,
                     Comparison &result) {
  Maxima maxima;
  std::vector<float> values(reference.dimV);
  for (size_t r = 0; r < reference.rows.size(); ++r) {
    const RowId &row = reference.rows[r];
    o.readRow(row.b, row.h, row.i, values.data());
    bool sees = reference.lse[r] != -std::numeric_limits<double>::infinity();
    for (int64_t d = 0; d < reference.dimV; ++d) {
      double ref = reference.o[r * reference.dimV + d];
      double naive = reference.naive[r * reference.dimV + d];
      double error = std::abs(values[d] - ref);
      if (error > result.oError) {
        result.oError = error;
        result.worst = row;
      }
      if (!sees && values[d] != 0 && result.fault.empty())
        result.fault = placeOf("o", row) + " sees no key and is not 0";
      maxima.naive = std::max(maxima.naive, std::abs(naive - ref));
      maxima.rounding =
          std::max(maxima.rounding, roundingError(o.dtype(), ref));
      maxima.magnitude = std::max(maxima.magnitude, std::abs(ref));
    }
  }
  result.oLimit = limitOf(o.dtype(), maxima);
}

static void compareLse(const HostTensor &lse, const Reference &reference,
                       Comparison &result) {
  for (size_t r = 0; r < reference.rows.size(); ++r) {
    const RowId &row = reference.rows[r];
    float value;
    lse.readRow(row.b, row.h, row.i, &value);
    double ref = reference.lse[r];
    if (std::isinf(ref) || std::isinf(value)) {
      if (value != ref && result.fault.empty())
        result.fault = placeOf("lse", row) + " is " + std::to_string(value) +
                       " and must be " + std::to_string(ref);
      continue;
    }
    result.lseError = std::max(
        result.lseError, std::abs(value - ref) / std::max(1.0, std::abs(ref)));
  }
}

Comparison fa::bench::compare(const HostTensor &o, const HostTensor &lse,
                              const Reference &reference) {
  Comparison result;
  result.fault = findFault(o, "o");
  if (result.fault.empty())
    result.fault = findFault(lse, "lse");
  compareO(o, reference, result);
  compareLse(lse, reference, result);
  return result;
}

ElementComparison
fa::bench::compareElements(fa_dtype dtype, const std::vector<uint8_t> &bytes,
                           const std::vector<double> &values,
                           const std::vector<double> &reference,
                           const std::vector<double> &naive) {
  ElementComparison result;
  Maxima maxima;
  const int64_t width = rt::dtypeBytes(dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      if (result.fault.empty())
        result.fault = "element " + std::to_string(i) +
                       faultKind(values[i], &bytes[i * width], width);
      continue;
    }
    const double ref = reference[i];
    const double naiveValue =
        naive.empty() ? double(roundTo(dtype, float(ref))) : naive[i];
    result.error = std::max(result.error, std::abs(values[i] - ref));
    maxima.naive = std::max(maxima.naive, std::abs(naiveValue - ref));
    maxima.rounding = std::max(maxima.rounding, roundingError(dtype, ref));
    maxima.magnitude = std::max(maxima.magnitude, std::abs(ref));
  }
  result.limit = limitOf(dtype, maxima);
  return result;
}
