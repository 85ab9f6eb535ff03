//===- Check.cpp - fa-bench check -----------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that compute the same thing are checked together, so that inputs and
// reference are made once for each problem.
//
//===----------------------------------------------------------------------===//

#include "Extras.h"
#include "Failure.h"
#include "Launch.h"
#include "Tolerance.h"
#include "Verbs.h"
#include "Workspace.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

using namespace fa;
using namespace fa::bench;

/// Parts of the keys that leave a remainder.
static constexpr int32_t kOtherSplits = 3;

/// NaN rows behind each sequence.
static constexpr int64_t kGuardRows = 8;

/// Sequence lengths around and off every tile edge, without rows, without keys.
static constexpr int64_t kOddLengths[][2] = {
    {1, 20}, {5, 2}, {113, 271}, {128, 1000}, {1000, 128}, {0, 16},
    {16, 0}, {1, 1}, {17, 17},   {1, 4099},   {4097, 4097}};

/// Lengths of packed sequences that other implementations were reported to
/// fault on: rows without a key, sequences without rows, without keys.
static const std::vector<std::array<int64_t, 2>> kPackedLengths[] = {
    {{76, 1}, {34, 1}, {146, 1}},
    {{0, 0}, {1, 3}, {0, 0}, {1, 5}},
    {{0, 2538}, {1208, 1742}, {840, 840}, {0, 3072}},
    {{300, 0}, {0, 40}, {64, 64}, {129, 128}}};

namespace {

/// What all kernels of a group compute.
using GroupKey = std::tuple<int, int64_t, int64_t, std::string, bool>;

/// How a kernel fared over all problems.
struct Tally {
  int problems = 0, failed = 0;
  /// Largest error of o over its limit.
  double worst = 0;
  int64_t rowsCompared = 0, rows = 0;
};

/// Inputs and reference of one problem, on the host and on the device.
struct Case {
  Case(const Options &options, const rt::Kernel &kernel, const Sizes &sizes,
       const Device &device);

  const Variant *variant;
  Sizes sizes;
  float scale;
  HostTensor q, k, v, o, lse;
  VariantData data;
  Reference reference;
  DeviceBuffer dq, dk, dv, dO, dLse;
  std::optional<DeviceExtras> extras;

  fa_forward_params params(const rt::Kernel &kernel) const;
  std::string describe() const;
  /// Fills the keys that do not count, of K and V on the device.
  void fillUnusedKeys(float even, float odd);
  bool hasUnusedKeys() const { return variant->keysOf != nullptr; }
  void uploadKeys();
  /// Fills the keys of every other packed sequence, from the first or the
  /// second on.
  void fillSequences(bool isOdd, float even, float odd);
  /// Whether every other one has the same bits in o and lse as in these.
  bool hasSameSequences(bool isOdd, const HostTensor &otherO,
                        const HostTensor &otherLse) const;
};

class Checker {
public:
  Checker(const Options &options, rt::Library &library, const Device &device)
      : options(options), library(library), device(device) {}

  int run();
  /// Those of the kernels of one group that are wrong on some problem.
  std::vector<size_t> findWrong(const std::vector<size_t> &indexes);

private:
  void checkGroup(const std::vector<size_t> &kernels);
  bool takesExtras(size_t index, const Case &problem);
  void checkKernel(size_t index, Case &problem);
  void checkSplits(size_t index, Case &problem, int32_t splits);
  void launch(size_t index, Case &problem, int32_t splits);
  std::string checkUnusedKeys(size_t index, Case &problem, int32_t splits);
  std::string checkNeighbours(size_t index, Case &problem, int32_t splits);
  std::vector<Sizes> sizesFor(const rt::Kernel &kernel) const;
  void report(const rt::Kernel &kernel, const Case &problem,
              const Comparison &result);
  int summarize() const;

  const Options &options;
  rt::Library &library;
  const Device &device;
  std::map<size_t, Tally> tallies;
};

} // namespace

static Layout layoutOf(const Options &options) {
  return options.layout.value_or(Layout::Bshd);
}

Case::Case(const Options &options, const rt::Kernel &kernel, const Sizes &sizes,
           const Device &device)
    : variant(findVariant(kernel.variant)), sizes(sizes),
      scale(defaultScale(kernel)),
      q(kernel.dtype, sizes.batch, sizes.heads, sizes.seqQ, sizes.dim,
        layoutOf(options), kGuardRows),
      k(kernel.dtype, sizes.batch, sizes.kvHeads, sizes.seqKv, sizes.dim,
        layoutOf(options), kGuardRows),
      v(kernel.dtype, sizes.batch, sizes.kvHeads, sizes.seqKv, sizes.dimV,
        layoutOf(options), kGuardRows),
      o(kernel.dtype, sizes.batch, sizes.heads, sizes.seqQ, sizes.dimV,
        layoutOf(options), kGuardRows),
      lse(FA_F32, sizes.batch, sizes.heads, sizes.seqQ, 1, Layout::Bhsd,
          kGuardRows),
      data(sizes.variantData()), dq(device, q.bytes().size()),
      dk(device, k.bytes().size()), dv(device, v.bytes().size()),
      dO(device, o.bytes().size()), dLse(device, lse.bytes().size()) {
  q.fill(options.distribution, 4 * options.seed);
  k.fill(options.distribution, 4 * options.seed + 1);
  v.fill(Distribution{}, 4 * options.seed + 2);
  dq.upload(q.bytes().data(), q.bytes().size());
  dk.upload(k.bytes().data(), k.bytes().size());
  dv.upload(v.bytes().data(), v.bytes().size());
  data.rowUnit = rowUnitOf(kernel);
  variant->fillForCheck(data, options.seed);
  extras.emplace(device, data.extras);
  if (hasUnusedKeys())
    fillUnusedKeys(std::numeric_limits<float>::quiet_NaN(),
                   std::numeric_limits<float>::infinity());
  Inputs inputs{q, k, v, scale, *variant, data};
  reference = computeReference(inputs, chooseRows(sizes, options.seed));
}

void Case::fillUnusedKeys(float even, float odd) {
  for (int64_t b = 0; b < sizes.batch; ++b)
    for (HostTensor *tensor : {&k, &v})
      tensor->overwrite(b, variant->keysOf(data, b), sizes.seqKv, even, odd);
  uploadKeys();
}

void Case::uploadKeys() {
  dk.upload(k.bytes().data(), k.bytes().size());
  dv.upload(v.bytes().data(), v.bytes().size());
}

void Case::fillSequences(bool isOdd, float even, float odd) {
  int64_t first = 0;
  for (size_t s = 0; s < data.lengths.size(); ++s) {
    int64_t end = first + data.lengths[s][1];
    if (s % 2 == isOdd)
      for (HostTensor *tensor : {&k, &v})
        tensor->overwrite(0, first, end, even, odd);
    first = end;
  }
  uploadKeys();
}

bool Case::hasSameSequences(bool isOdd, const HostTensor &otherO,
                            const HostTensor &otherLse) const {
  int64_t first = 0;
  for (size_t s = 0; s < data.lengths.size(); ++s) {
    int64_t end = first + data.lengths[s][0];
    if (s % 2 == isOdd && (!o.hasSameRows(otherO, 0, first, end) ||
                           !lse.hasSameRows(otherLse, 0, first, end)))
      return false;
    first = end;
  }
  return true;
}

fa_forward_params Case::params(const rt::Kernel &kernel) const {
  fa_forward_params params = {};
  params.struct_size = sizeof(params);
  params.q = q.view(dq.data(), 4);
  params.k = k.view(dk.data(), 4);
  params.v = v.view(dv.data(), 4);
  params.o = o.view(dO.data(), 4);
  params.lse = lse.view(dLse.data(), 3);
  params.scale = scale;
  params.variant = kernel.variant.c_str();
  extras->addTo(params);
  return params;
}

std::string Case::describe() const { return describeSizes(sizes); }

/// Heads of k and v: fewer than heads where the kernel can.
static int64_t kvHeadsFor(const rt::Kernel &kernel, int64_t heads) {
  if (kernel.gqa)
    for (int64_t ratio : {3, 2})
      if (heads % ratio == 0)
        return heads / ratio;
  return heads;
}

std::vector<Sizes> Checker::sizesFor(const rt::Kernel &kernel) const {
  std::vector<Sizes> list;
  auto add = [&](int64_t batch, int64_t heads, int64_t seqQ, int64_t seqKv,
                 int64_t kvHeads = 0) {
    list.push_back({batch, heads, kvHeads ? kvHeads : kvHeadsFor(kernel, heads),
                    seqQ, seqKv, kernel.headDim, kernel.headDimV});
  };
  bool isPacked = findVariant(kernel.variant)->isPacked;
  for (const auto &[batch, heads, kvHeads, seqQ, seqKv] : options.sizes)
    add(options.areSizesShared && isPacked ? 1 : batch, heads, seqQ, seqKv,
        kvHeads);
  if (!list.empty())
    return list;
  for (const auto &lengths : kOddLengths) {
    bool big = lengths[0] > 4000;
    add(big || isPacked ? 1 : 2, big ? 2 : 3, lengths[0], lengths[1]);
  }
  if (isPacked) {
    for (const auto &lengths : kPackedLengths) {
      int64_t rows = 0, keys = 0;
      for (const auto &[q, kv] : lengths)
        rows += q, keys += kv;
      add(1, 3, rows, keys);
      list.back().lengths = lengths;
    }
    return list;
  }
  for (int64_t seq = 512; seq <= kTokens; seq *= 2) {
    Sizes sizes = benchmarkSizes(kernel, seq);
    add(sizes.batch, sizes.heads, seq, seq);
  }
  return list;
}

void Checker::report(const rt::Kernel &kernel, const Case &problem,
                     const Comparison &result) {
  if (result.passed() && !options.verbose)
    return;
  std::printf("%s %s %s: o %.2e of %.2e, lse %.2e of %.2e, rows %zu of %lld",
              result.passed() ? "ok  " : "FAIL", kernel.name.c_str(),
              problem.describe().c_str(), result.oError, result.oLimit,
              result.lseError, result.lseLimit, problem.reference.rows.size(),
              static_cast<long long>(problem.sizes.rows()));
  if (result.oError > result.oLimit)
    std::printf("; worst o at batch %lld, head %lld, row %lld",
                static_cast<long long>(result.worst.b),
                static_cast<long long>(result.worst.h),
                static_cast<long long>(result.worst.i));
  std::printf("%s%s\n", result.fault.empty() ? "" : "; ", result.fault.c_str());
  std::fflush(stdout);
}

void Checker::launch(size_t index, Case &problem, int32_t splits) {
  const rt::Kernel &kernel = library.kernel(index);
  fa_forward_params params = problem.params(kernel);
  rt::Problem arguments = rt::checkProblem(&params);
  // Kernels that do not split take no number of parts.
  if (kernel.plan.maxSplits)
    params.splits = splits;
  Workspace workspace(device, library, index, arguments, params);
  auto start = [&] {
    problem.dO.fillBytes(0xff);
    problem.dLse.fillBytes(0xff);
    rt::launch(library, index, arguments, params, device.stream());
    device.wait(options.timeoutS, kernel.name + " on " + problem.describe());
  };
  start();
  if (options.keepLists) {
    params.flags |= FA_REUSE_LISTS;
    start();
  }
  problem.dO.download(problem.o.bytes().data(), problem.o.bytes().size());
  problem.dLse.download(problem.lse.bytes().data(), problem.lse.bytes().size());
}

/// "" where zeros in the place of the keys that do not count give the same
/// bits, else what differs.
std::string Checker::checkUnusedKeys(size_t index, Case &problem,
                                     int32_t splits) {
  std::vector<uint8_t> o = problem.o.bytes(), lse = problem.lse.bytes();
  problem.fillUnusedKeys(0, 0);
  launch(index, problem, splits);
  problem.fillUnusedKeys(std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::infinity());
  if (o == problem.o.bytes() && lse == problem.lse.bytes())
    return "";
  return "keys past the valid length make a difference";
}

/// "" where a packed sequence has the same bits beside sequences whose keys are
/// NaN and infinities, else what differs.
std::string Checker::checkNeighbours(size_t index, Case &problem,
                                     int32_t splits) {
  const HostTensor k = problem.k, v = problem.v, o = problem.o,
                   lse = problem.lse;
  std::string fault;
  for (bool isOdd : {false, true}) {
    problem.fillSequences(isOdd, std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity());
    launch(index, problem, splits);
    if (!problem.hasSameSequences(!isOdd, o, lse))
      fault = "the keys of other sequences make a difference";
    problem.k = k, problem.v = v;
  }
  problem.uploadKeys();
  return fault;
}

/// Checks a kernel with the runtime's number of parts and another, or the given
/// one.
void Checker::checkKernel(size_t index, Case &problem) {
  const int32_t given = int32_t(options.splits);
  checkSplits(index, problem, given);
  if (!given && library.kernel(index).plan.maxSplits)
    checkSplits(index, problem, kOtherSplits);
}

void Checker::checkSplits(size_t index, Case &problem, int32_t splits) {
  const rt::Kernel &kernel = library.kernel(index);
  launch(index, problem, splits);
  Comparison result = compare(problem.o, problem.lse, problem.reference);
  if (result.passed() && problem.hasUnusedKeys())
    result.fault = checkUnusedKeys(index, problem, splits);
  if (result.passed() && problem.variant->isPacked)
    result.fault = checkNeighbours(index, problem, splits);
  Tally &tally = tallies[index];
  ++tally.problems;
  tally.failed += !result.passed();
  if (result.oError > 0)
    tally.worst = std::max(tally.worst, result.oError / result.oLimit);
  tally.rowsCompared += int64_t(problem.reference.rows.size());
  tally.rows += problem.sizes.rows();
  report(kernel, problem, result);
}

/// Whether a kernel takes the tensors that its variant has here; else says why
/// not.
bool Checker::takesExtras(size_t index, const Case &problem) {
  const rt::Kernel &kernel = library.kernel(index);
  try {
    fa_forward_params params = problem.params(kernel);
    rt::checkExtras(kernel, rt::checkProblem(&params), params);
    return true;
  } catch (const rt::Failure &failure) {
    std::printf("FAIL %s: not the variant %s that is known here: %s\n",
                kernel.name.c_str(), kernel.variant.c_str(), failure.what());
    ++tallies[index].failed;
    return false;
  }
}

void Checker::checkGroup(const std::vector<size_t> &kernels) {
  // The one that asks most of the tensors that all are given.
  const rt::Kernel &first = library.kernel(*std::max_element(
      kernels.begin(), kernels.end(), [&](size_t a, size_t b) {
        return rowUnitOf(library.kernel(a)) < rowUnitOf(library.kernel(b));
      }));
  if (!findVariant(first.variant)) {
    for (size_t index : kernels) {
      std::printf("FAIL %s: no reference for variant %s (there is: %s)\n",
                  library.kernel(index).name.c_str(), first.variant.c_str(),
                  variantNames().c_str());
      ++tallies[index].failed;
    }
    return;
  }
  for (const Sizes &sizes : sizesFor(first)) {
    Case problem(options, first, sizes, device);
    for (size_t index : kernels)
      if (takesExtras(index, problem))
        checkKernel(index, problem);
  }
}

int Checker::summarize() const {
  int problems = 0, failed = 0;
  for (const auto &[index, tally] : tallies) {
    std::printf("%s %s: %d problems, %d failed, o error at most %.2f of its "
                "limit, rows %lld of %lld\n",
                tally.failed ? "FAIL" : "ok  ",
                library.kernel(index).name.c_str(), tally.problems,
                tally.failed, tally.worst,
                static_cast<long long>(tally.rowsCompared),
                static_cast<long long>(tally.rows));
    problems += tally.problems;
    failed += tally.failed;
  }
  std::printf("%zu kernels, %d problems, %d failed\n", tallies.size(), problems,
              failed);
  return failed ? kFailed : kOk;
}

int Checker::run() {
  std::map<GroupKey, std::vector<size_t>> groups;
  for (size_t index : fittingKernels(options, library)) {
    const rt::Kernel &kernel = library.kernel(index);
    groups[{kernel.dtype, kernel.headDim, kernel.headDimV, kernel.variant,
            kernel.gqa}]
        .push_back(index);
  }
  if (groups.empty())
    return kFailed;
  try {
    for (const auto &group : groups)
      checkGroup(group.second);
  } catch (const rt::Failure &failure) {
    // A failed launch mostly takes the context with it: nothing after it
    // counts.
    std::printf("FAIL %s; stopped\n", failure.what());
    summarize();
    return kFailed;
  }
  return summarize();
}

std::vector<size_t> Checker::findWrong(const std::vector<size_t> &indexes) {
  checkGroup(indexes);
  std::vector<size_t> wrong;
  for (size_t index : indexes)
    if (tallies[index].failed)
      wrong.push_back(index);
  return wrong;
}

std::vector<size_t>
fa::bench::findWrongKernels(const Options &options, rt::Library &library,
                            const Device &device,
                            const std::vector<size_t> &indexes) {
  return Checker(options, library, device).findWrong(indexes);
}

bool fa::bench::checkKernel(const Options &options, rt::Library &library,
                            const Device &device, size_t index) {
  return findWrongKernels(options, library, device, {index}).empty();
}

int fa::bench::runCheck(const Options &options, rt::Library &library,
                        const Device &device) {
  return Checker(options, library, device).run();
}

//===----------------------------------------------------------------------===//
// The self-test
//===----------------------------------------------------------------------===//

/// Small problems that meet every branch of a kernel: one row, rows and keys
/// that fill no block, more than two blocks of each, nothing to see, no keys.
static const std::vector<std::array<int64_t, 5>> kSelftestSizes = {
    {2, 3, 0, 1, 20},    {1, 2, 0, 33, 71},  {2, 2, 0, 113, 271},
    {1, 2, 0, 300, 129}, {1, 1, 0, 130, 20}, {1, 2, 0, 16, 0}};

Options fa::bench::selftestOptions(const Options &options) {
  Options small = options;
  small.sizes = kSelftestSizes;
  small.areSizesShared = true;
  return small;
}

int fa::bench::runSelftest(const Options &options, rt::Library &library,
                           const Device &device) {
  auto start = std::chrono::steady_clock::now();
  Options small = selftestOptions(options);
  int status = Checker(small, library, device).run();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  std::printf("%s: %.1f s\n", describeSetup(device, library).c_str(),
              seconds.count());
  return status;
}
