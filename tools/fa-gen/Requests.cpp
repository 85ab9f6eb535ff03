//===- Requests.cpp - Which kernels a library has -------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Requests.h"

#include "Steps.h"

#include "fa/Target/Target.h"

using namespace mlir;
using namespace fa;

/// Whether no choice of steps and of blocks of rows was made by hand.
static bool choosesRows(const Choices &choices) {
  return choices.steps.empty() && choices.overrides.br == 0 &&
         choices.overrides.teams == 0;
}

/// Whether nothing of a schedule was chosen by hand.
static bool choosesAll(const Choices &choices) {
  return choosesRows(choices) && choices.lengths.empty() &&
         choices.overrides.bc == 0 && choices.overrides.stages == 0 &&
         choices.overrides.rescale.empty() &&
         choices.overrides.scheduler.empty();
}

/// Adds kernels of `spec` by each step that makes them.
static LogicalResult addSteps(const KernelSpec &spec, const std::string &arch,
                              const Choices &choices,
                              std::vector<KernelRequest> &requests,
                              std::string &reason) {
  FailureOr<std::vector<const AblationStep *>> steps =
      chooseSteps(spec, arch, choices.steps, reason);
  if (failed(steps))
    return failure();
  for (const AblationStep *step : *steps) {
    KernelRequest request;
    request.spec = spec;
    request.step = step;
    request.arch = arch;
    request.overrides = choices.overrides;
    requests.push_back(std::move(request));
  }
  return success();
}

/// Appends the rates of a class to what is known of a kernel.
static void addMeasurement(const TunedProblem &problem, const TunedClass &tuned,
                           Measurement &measured) {
  measured.source = problem.card + ", driver " + problem.driver + ", ptxas " +
                    problem.ptxas + ", " + problem.date;
  llvm::append_range(measured.seqs, tuned.seqs);
  llvm::append_range(measured.tflops, tuned.tflops);
}

/// Adds a kernel for each class of lengths; neighbours with one schedule are
/// one class.
static LogicalResult addClasses(const KernelSpec &spec, const std::string &arch,
                                const TunedProblem &problem,
                                std::vector<KernelRequest> &requests,
                                std::string &reason) {
  FailureOr<std::vector<const AblationStep *>> steps =
      chooseSteps(spec, arch, {}, reason);
  if (failed(steps))
    return failure();
  const std::vector<TunedClass> &classes = problem.classes;
  Measurement measured;
  for (size_t i = 0; i < classes.size(); ++i) {
    const TunedClass &tuned = classes[i];
    addMeasurement(problem, tuned, measured);
    if (i + 1 < classes.size() && tuned.candidate == classes[i + 1].candidate)
      continue;
    KernelRequest request;
    request.spec = spec;
    request.step = steps->front();
    request.arch = arch;
    request.overrides = overridesOf(tuned.candidate);
    request.maxRows = tuned.maxRows;
    if (tuned.maxRows)
      request.label = "rows" + std::to_string(tuned.maxRows);
    request.isTuned = true;
    request.measured = std::exchange(measured, {});
    requests.push_back(std::move(request));
  }
  return success();
}

/// Adds the kernels of a problem for one architecture.
static LogicalResult addProblem(KernelSpec spec, const std::string &arch,
                                const Choices &choices, const TunedTable *table,
                                std::vector<KernelRequest> &requests,
                                std::string &reason) {
  // A program has no lengths, and its schedule with it.
  if (spec.isProgram)
    return addSteps(spec, arch, choices, requests, reason);
  for (Lengths lengths : choices.lengths) {
    spec.lengths = lengths;
    if (failed(addSteps(spec, arch, choices, requests, reason)))
      return failure();
  }
  if (!choices.lengths.empty())
    return success();
  const TunedProblem *tuned =
      table && choosesAll(choices)
          ? table->find(spec.dtype, spec.headDim, spec.headDimV, spec.variant)
          : nullptr;
  if (tuned)
    return addClasses(spec, arch, *tuned, requests, reason);
  if (failed(addSteps(spec, arch, choices, requests, reason)))
    return failure();
  if (!choosesRows(choices) || !hasShortKernel(spec, arch))
    return success();
  spec.lengths = Lengths::Short;
  return addSteps(spec, arch, choices, requests, reason);
}

FailureOr<std::vector<KernelRequest>>
fa::collectKernels(const std::vector<KernelSpec> &specs, const Choices &choices,
                   const llvm::StringMap<TunedTable> &tables,
                   std::string &reason) {
  std::vector<KernelRequest> requests;
  for (const std::string &arch : choices.archs) {
    auto table = tables.find(arch);
    for (const KernelSpec &spec : specs)
      if (failed(addProblem(spec, arch, choices,
                            table == tables.end() ? nullptr : &table->second,
                            requests, reason)))
        return failure();
  }
  return requests;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// What a candidate's name says of its schedule: "br128_bc176_st2".
static std::string labelOf(const Candidate &candidate, const Candidate &first) {
  const Schedule &schedule = candidate.schedule;
  std::string label = "br" + std::to_string(schedule.br) + "_bc" +
                      std::to_string(schedule.bc) + "_st" +
                      std::to_string(schedule.stages);
  if (schedule.rescale != first.schedule.rescale)
    label += std::string("_") + nameRescale(schedule.rescale);
  if (schedule.teams > 1 && candidate.pingPong != first.pingPong)
    label += "_no-ping-pong";
  if (candidate.persistent != first.persistent)
    label += "_no-persistent";
  if (candidate.overlapTiles)
    label += "_overlap-tiles";
  return label;
}

/// Adds the candidates of a problem for one architecture.
static LogicalResult addCandidates(const KernelSpec &spec,
                                   const std::string &arch,
                                   std::vector<KernelRequest> &requests,
                                   std::string &reason) {
  if (spec.isProgram) {
    reason = "program '" + spec.function +
             "' has a schedule of its own: there are no candidates";
    return failure();
  }
  FailureOr<std::vector<const AblationStep *>> steps =
      chooseSteps(spec, arch, {}, reason);
  if (failed(steps))
    return failure();
  const AblationStep &step = *steps->front();
  Rescale rescale = parseRescale(step.rescale.str()).value_or(spec.rescale);
  ScheduleProblem problem = spec.problem;
  problem.stagesMatrices = step.passes.specializeWarps;
  std::vector<Candidate> candidates = enumerateCandidates(
      problem, *Target::lookup(arch), step.passes.warpgroups, rescale);
  if (candidates.empty()) {
    reason = "no schedule fits " + arch + " for D " +
             std::to_string(spec.headDim) + " and Dv " +
             std::to_string(spec.headDimV);
    return failure();
  }
  for (const Candidate &candidate : candidates) {
    KernelRequest request;
    request.spec = spec;
    request.step = &step;
    request.arch = arch;
    request.overrides = overridesOf(candidate);
    request.label = labelOf(candidate, candidates.front());
    request.isTrial = true;
    requests.push_back(std::move(request));
  }
  return success();
}

FailureOr<std::vector<KernelRequest>>
fa::collectCandidates(const std::vector<KernelSpec> &specs,
                      const std::vector<std::string> &archs,
                      std::string &reason) {
  std::vector<KernelRequest> requests;
  for (const std::string &arch : archs)
    for (const KernelSpec &spec : specs)
      if (failed(addCandidates(spec, arch, requests, reason)))
        return failure();
  return requests;
}
