//===- Tune.cpp - fa-bench tune -------------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times the candidates of each problem beside one another and keeps, for each
// class of lengths, the fastest.
//
//===----------------------------------------------------------------------===//

#include "Cell.h"
#include "Contenders.h"
#include "Failure.h"
#include "Launch.h"
#include "Stopwatch.h"
#include "TunedTable.h"
#include "Verbs.h"
#include "Workspace.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>

using namespace fa;
using namespace fa::bench;

/// Before each timing, as in `time`: without it a card that is at its power
/// limit hides what differs between short kernels.
static constexpr double kPauseS = 0.1;
/// Each cell is timed in so many rounds over all candidates, so that a card
/// whose clock drifts is the same for all.
static constexpr int kRounds = 3;
/// A candidate that is this much slower than the best after a round runs in no
/// other.
static constexpr double kHopeless = 1.1;

namespace {

/// Inputs of one cell on the device, for all candidates.
struct Inputs {
  Inputs(const Device &device, const Options &options, const rt::Kernel &kernel,
         const Sizes &sizes, const Buffers &buffers)
      : variant(*findVariant(kernel.variant)), data(sizes.variantData()) {
    data.rowUnit = rowUnitOf(kernel);
    variant.fillForTiming(data, options.seed);
    extras = std::make_unique<DeviceExtras>(device, data.extras);
    params = cellParams(kernel, sizes, buffers,
                        options.layout.value_or(Layout::Bhsd));
    extras->addTo(params);
  }

  const Variant &variant;
  VariantData data;
  std::unique_ptr<DeviceExtras> extras;
  fa_forward_params params;
};

class Tuner {
public:
  Tuner(const Options &options, rt::Library &library, const Device &device)
      : options(options), library(library), device(device),
        stopwatch(device, {std::max(1, options.runs / kRounds), options.warmup,
                           kPauseS, options.timeoutS}) {}

  int run();

private:
  bool tune(Contest &contest);
  bool dropWrong(Contest &contest);
  void timeCell(Contest &contest, int64_t seq);
  std::vector<double> timeOne(size_t index, fa_forward_params params);
  Buffers &buffersFor(const rt::Kernel &kernel);
  Json describe(const Contest &contest) const;

  const Options &options;
  rt::Library &library;
  const Device &device;
  Stopwatch stopwatch;
  std::unique_ptr<Buffers> buffers;
  int64_t elements = 0;
};

} // namespace

/// Tensors that are large enough for every length, made anew for another
/// element type or larger ones.
Buffers &Tuner::buffersFor(const rt::Kernel &kernel) {
  int64_t needed = 0;
  for (int64_t seq : options.seqs) {
    Sizes sizes = benchmarkSizes(kernel, seq);
    needed = std::max(needed, sizes.rows() * std::max(sizes.dim, sizes.dimV));
  }
  if (!buffers || buffers->dtype != kernel.dtype || elements < needed) {
    buffers.reset();
    elements = needed;
    buffers =
        std::make_unique<Buffers>(device, kernel.dtype, elements, options.seed);
  }
  return *buffers;
}

/// Takes the candidates out that do not compute what they should, after a line
/// for each of their faults; whether any is left.
bool Tuner::dropWrong(Contest &contest) {
  std::vector<size_t> indexes;
  for (const Contender &contender : contest.contenders)
    indexes.push_back(contender.index);
  std::vector<size_t> wrong =
      findWrongKernels(selftestOptions(options), library, device, indexes);
  for (size_t index : wrong)
    contest.drop(index);
  if (!contest.contenders.empty())
    return true;
  std::fprintf(stderr, "fa-bench: no candidate of %s is right\n",
               contest.title.c_str());
  return false;
}

/// The milliseconds of one candidate's launches in one round.
std::vector<double> Tuner::timeOne(size_t index, fa_forward_params params) {
  rt::Problem problem = rt::checkProblem(&params);
  Workspace workspace(device, library, index, problem, params);
  return stopwatch.milliseconds(
      [&] { rt::launch(library, index, problem, params, device.stream()); },
      library.kernel(index).name, [] {});
}

void Tuner::timeCell(Contest &contest, int64_t seq) {
  const rt::Kernel &first = library.kernel(contest.contenders.front().index);
  Sizes sizes = benchmarkSizes(first, seq);
  Inputs inputs(device, options, first, sizes, buffersFor(first));
  std::vector<std::vector<double>> times(contest.contenders.size());
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < times.size(); ++i) {
      bool isHopeless =
          round > 0 && i > 0 && median(times[i]) > kHopeless * best;
      if (isHopeless)
        continue;
      std::vector<double> more =
          timeOne(contest.contenders[i].index, inputs.params);
      times[i].insert(times[i].end(), more.begin(), more.end());
    }
    best = median(times[0]);
    for (const std::vector<double> &all : times)
      best = std::min(best, median(all));
  }
  double flops = sizes.flops() * inputs.variant.share(inputs.data);
  for (size_t i = 0; i < times.size(); ++i)
    contest.contenders[i].tflops.push_back(flops / median(times[i]) / 1e9);
}

/// Today, as 2026-01-31.
static std::string today() {
  std::time_t now = std::time(nullptr);
  char text[16] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

Json Tuner::describe(const Contest &contest) const {
  const rt::Kernel &kernel = library.kernel(contest.contenders.front().index);
  Json problem = {{"dtype", rt::dtypeName(kernel.dtype)},
                  {"head_dim", kernel.headDim},
                  {"head_dim_v", kernel.headDimV},
                  {"variant", kernel.variant},
                  {"card", device.name()},
                  {"driver", device.driverVersion()},
                  {"ptxas", kernel.ptxas.empty() ? "driver's" : kernel.ptxas},
                  {"date", today()}};
  problem["classes"] = contest.describeClasses(options.seqs);
  return problem;
}

bool Tuner::tune(Contest &contest) {
  std::fprintf(stderr, "# %s: %zu candidates\n", contest.title.c_str(),
               contest.contenders.size());
  if (!dropWrong(contest))
    return false;
  for (int64_t seq : options.seqs)
    timeCell(contest, seq);
  contest.print(options.seqs);
  return true;
}

int Tuner::run() {
  std::vector<Contest> contests =
      collectContests(library, fittingKernels(options, library));
  if (contests.empty()) {
    std::fprintf(stderr,
                 "fa-bench: %s has no candidates for this device: make them "
                 "with fa-gen --candidates\n",
                 library.directory().c_str());
    return kFailed;
  }
  std::fprintf(stderr, "# %s\n", device.describe().c_str());
  const std::string &arch =
      library.kernel(contests.front().contenders.front().index).archText;
  TunedTable table =
      options.merge ? TunedTable::read(options.table, arch) : TunedTable(arch);
  int status = kOk;
  for (Contest &contest : contests) {
    size_t all = contest.contenders.size();
    bool isTuned = tune(contest);
    if (contest.contenders.size() != all)
      status = kFailed;
    if (!isTuned)
      continue;
    table.add(describe(contest));
    // What was measured is kept where a later problem ends the program.
    if (!options.table.empty())
      table.write(options.table);
  }
  return status;
}

int fa::bench::runTune(const Options &options, rt::Library &library,
                       const Device &device) {
  return Tuner(options, library, device).run();
}
