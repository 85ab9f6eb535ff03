//===- Plan.cpp - Kernels of several launches -----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include "Extras.h"
#include "Failure.h"
#include "Launch.h"
#include "TensorView.h"

#include <algorithm>

using namespace fa::rt;

namespace {

/// Each workspace begins at a multiple of this from the first one.
constexpr int64_t kWorkspaceUnit = 256;

/// Occupancy is computed in integers, in these units, and a share of the best
/// one is good enough.
constexpr int64_t kOccupancyUnit = 100000;
constexpr int64_t kGoodEnoughPercent = 95;

/// A tensor of any rank as a kernel gets it; of a workspace also where it
/// begins among all.
struct View {
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
};

/// The launches of a plan with one number of parts.
class PlanLauncher {
public:
  PlanLauncher(const Kernel &kernel, const Problem &problem,
               const fa_forward_params &params, int64_t splits)
      : kernel(kernel), problem(problem), params(params), splits(splits) {}

  /// 0 where a size that makes the grid is 0: nothing is to be started.
  unsigned countBlocks(const PlannedLaunch &launch) const;
  void packArguments(const PlannedLaunch &launch, ParamList &list) const;

private:
  std::vector<int64_t> sizesOf(const Workspace &workspace) const;
  View viewOf(const LaunchArgument &argument) const;
  View workspaceView(size_t index) const;

  const Kernel &kernel;
  const Problem &problem;
  const fa_forward_params &params;
  int64_t splits;
};

} // namespace

//===----------------------------------------------------------------------===//
// Heads as rows
//===----------------------------------------------------------------------===//

/// The stride from row to row of [batch, kv_heads, rows, ...], in the order
/// (head, row) or (row, head); 0 where it is not one.
static int64_t packedStride(const fa_tensor &tensor, int64_t group,
                            bool rowsFirst) {
  int64_t seq = tensor.sizes[2];
  int64_t head = tensor.strides[1], row = tensor.strides[2];
  if (seq == 1)
    return head;
  if (rowsFirst)
    return row == group * head ? head : 0;
  return head == seq * row ? row : 0;
}

static void packTensorHeads(fa_tensor &tensor, int64_t group, int64_t stride) {
  tensor.sizes[1] /= group;
  tensor.strides[1] *= group;
  tensor.sizes[2] *= group;
  tensor.strides[2] = stride;
}

PackedHeads fa::rt::packHeads(const Kernel &kernel, const Problem &problem,
                              const fa_forward_params &params) {
  PackedHeads result{problem, copyOf(params)};
  const int64_t group = problem.group();
  if (!kernel.packsHeads || group == 1 || problem.empty())
    return result;
  fa_tensor *tensors[] = {&result.params.q, &result.params.o,
                          &result.params.lse};
  for (bool rowsFirst : {false, true}) {
    int64_t strides[3];
    for (size_t i = 0; i != 3; ++i)
      strides[i] = packedStride(*tensors[i], group, rowsFirst);
    // Kernels know lse's last stride to be 1.
    if (!strides[0] || !strides[1] || strides[2] != 1)
      continue;
    for (size_t i = 0; i != 3; ++i)
      packTensorHeads(*tensors[i], group, strides[i]);
    result.problem.heads = problem.kvHeads;
    result.problem.seqQ *= group;
    return result;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static int64_t sizeOfRule(const WorkspaceSize &size, const Problem &problem,
                          int64_t splits) {
  const SizeRule &rule = size.rule;
  if (rule.argument == Argument::Extra)
    return rule.constant;
  int64_t named = rule.argument == Argument::Splits
                      ? splits
                      : sizeOf(rule.argument, problem);
  return named / size.tile + (named % size.tile != 0) + size.plus;
}

/// `bytes` and the next workspace's. Throws Failure over 2^63-1.
static int64_t addWorkspace(int64_t bytes, const Workspace &workspace,
                            const Problem &problem, int64_t splits) {
  int64_t size = dtypeBytes(workspace.dtype);
  bool fits = true;
  for (const WorkspaceSize &rule : workspace.sizes)
    fits &=
        !__builtin_mul_overflow(size, sizeOfRule(rule, problem, splits), &size);
  int64_t total = 0;
  fits &= !__builtin_add_overflow(bytes, size, &total) &&
          !__builtin_add_overflow(total, kWorkspaceUnit - 1, &total);
  if (!fits)
    throw Failure(FA_INVALID_ARGUMENT,
                  "the problem needs workspaces of more than 2^63-1 bytes");
  return total / kWorkspaceUnit * kWorkspaceUnit;
}

/// Bytes of all workspaces with so many parts.
static int64_t addWorkspaces(const Kernel &kernel, const Problem &problem,
                             int64_t splits) {
  int64_t bytes = 0;
  for (const Workspace &workspace : kernel.plan.workspaces)
    bytes = addWorkspace(bytes, workspace, problem, splits);
  return bytes;
}

static size_t countCounters(const LaunchPlan &plan) {
  size_t count = 0;
  for (const PlannedLaunch &launch : plan.launches)
    count += launch.hasCounter;
  return count;
}

int64_t fa::rt::workspaceBytes(Library &library, size_t index,
                               const Problem &problem,
                               const fa_forward_params &params) {
  const Kernel &kernel = library.kernel(index);
  if (problem.empty())
    return 0;
  if (kernel.plan.launches.empty())
    return counterBytes(kernel.hasCounter);
  PackedHeads packed = packHeads(kernel, problem, params);
  return addWorkspaces(
             kernel, packed.problem,
             chooseSplits(library, index, packed.problem, packed.params)) +
         counterBytes(countCounters(kernel.plan));
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

/// The words of a counter, and their bytes.
static constexpr int64_t kCounterWords = 2, kCounterBytes = 8;

int64_t fa::rt::counterBytes(size_t launches) {
  const int64_t bytes = int64_t(launches) * kCounterBytes;
  return (bytes + kWorkspaceUnit - 1) / kWorkspaceUnit * kWorkspaceUnit;
}

void fa::rt::packCounter(int64_t offset, size_t launch,
                         const fa_forward_params &params, ParamList &list) {
  list.addAddress(workspaceOf(params).data, kWorkspaceAddress,
                  uint64_t(offset + int64_t(launch) * kCounterBytes));
}

void fa::rt::clearCounters(int64_t offset, size_t counters,
                           const fa_forward_params &params,
                           std::vector<ReadyLaunch> &launches) {
  if (counters == 0 || launches.empty())
    return;
  // Between two launches of a plan they would keep the second one from
  // beginning early.
  auto base = reinterpret_cast<uintptr_t>(workspaceOf(params).data);
  launches.front().cleared = {uint64_t(offset), base + uint64_t(offset),
                              counters * kCounterWords};
}

//===----------------------------------------------------------------------===//
// Parts of the keys
//===----------------------------------------------------------------------===//

void fa::rt::requireNoSplits(const Kernel &kernel,
                             const fa_forward_params &params) {
  int32_t splits = workspaceOf(params).splits;
  if (splits < 0 || splits > 1)
    refuse("splits",
           "must be 0 or 1: kernel " + kernel.name + " does not split the keys",
           std::to_string(splits));
}

/// Blocks of a launch that a multiprocessor holds at a time.
static int64_t residentBlocks(const PlannedLaunch &launch,
                              CuFunction function) {
  const DriverApi &api = driver();
  int blocks = 0;
  api.check(api.occupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, function, launch.block, size_t(launch.sharedBytes)),
            "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return std::max(blocks, 1);
}

/// The share of the places that `blocks` fill over all their waves.
static int64_t occupancy(int64_t blocks, int64_t places) {
  int64_t waves = (blocks + places - 1) / places;
  return blocks * kOccupancyUnit / (waves * places);
}

int64_t fa::rt::chooseSplits(Library &library, size_t index,
                             const Problem &problem,
                             const fa_forward_params &params) {
  // 1. The caller's.
  const Kernel &kernel = library.kernel(index);
  const LaunchPlan &plan = kernel.plan;
  if (plan.maxSplits == 0) {
    requireNoSplits(kernel, params);
    return 1;
  }
  int32_t given = workspaceOf(params).splits;
  if (given < 0 || given > plan.maxSplits)
    refuse("splits",
           "must be from 0 (the runtime's choice) to " +
               std::to_string(plan.maxSplits) + " for kernel " + kernel.name,
           std::to_string(given));
  if (given > 0 || problem.empty())
    return std::max(given, 1);

  // 2. At most a part for each block of keys.
  int64_t blocks = (problem.seqKv + plan.splitKeys - 1) / plan.splitKeys;
  int64_t last =
      std::min<int64_t>(plan.maxSplits, std::max<int64_t>(blocks, 1));

  // 3. The best occupancy, then the first that is good enough.
  const PlannedLaunch &first = plan.launches.front();
  int64_t tiles = PlanLauncher(kernel, problem, params, 1).countBlocks(first);
  const CurrentDevice device = currentDevice();
  int64_t places =
      residentBlocks(first, library.functionOn(device, index).handle) *
      int64_t(device.multiprocessors);
  int64_t best = 0;
  for (int64_t n = 1; n <= last; ++n)
    best = std::max(best, occupancy(tiles * n, places));
  int64_t chosen = 1;
  while (occupancy(tiles * chosen, places) * 100 < best * kGoodEnoughPercent)
    ++chosen;
  return chosen;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::vector<int64_t> PlanLauncher::sizesOf(const Workspace &workspace) const {
  std::vector<int64_t> sizes;
  for (const WorkspaceSize &rule : workspace.sizes)
    sizes.push_back(sizeOfRule(rule, problem, splits));
  return sizes;
}

/// Workspaces follow one another, dense and row by row.
View PlanLauncher::workspaceView(size_t index) const {
  const std::vector<Workspace> &workspaces = kernel.plan.workspaces;
  int64_t offset = 0;
  for (size_t i = 0; i != index; ++i)
    offset = addWorkspace(offset, workspaces[i], problem, splits);
  View view;
  view.offset = offset;
  view.sizes = sizesOf(workspaces[index]);
  view.strides.assign(view.sizes.size(), 1);
  for (size_t dim = view.sizes.size() - 1; dim > 0; --dim)
    view.strides[dim - 1] = view.strides[dim] * view.sizes[dim];
  return view;
}

/// The tensor that `argument` is.
View PlanLauncher::viewOf(const LaunchArgument &argument) const {
  if (argument.isWorkspace)
    return workspaceView(argument.index);
  const Param &param = kernel.params[argument.index];
  const fa_tensor &tensor = tensorOf(param.argument, param.name, params);
  return {{tensor.sizes, tensor.sizes + tensor.rank},
          {tensor.strides, tensor.strides + tensor.rank}};
}

unsigned PlanLauncher::countBlocks(const PlannedLaunch &launch) const {
  std::vector<GridExtent> extents;
  for (const PlannedFactor &factor : launch.grid) {
    int64_t size = viewOf(launch.args[factor.argument]).sizes[factor.dim];
    if (size == 0)
      return 0;
    extents.push_back({size, factor.tile});
  }
  return fa::rt::countBlocks(kernel, extents);
}

void PlanLauncher::packArguments(const PlannedLaunch &launch,
                                 ParamList &list) const {
  for (const LaunchArgument &argument : launch.args) {
    if (argument.isWorkspace) {
      View view = workspaceView(argument.index);
      packMemRef(
          {workspaceOf(params).data, kWorkspaceAddress, uint64_t(view.offset)},
          int(view.sizes.size()), view.sizes.data(), view.strides.data(), list);
    } else {
      packParam(kernel.params[argument.index], problem, params, list);
    }
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void fa::rt::requireWorkspace(const Kernel &kernel, int64_t needed,
                              const fa_forward_params &params) {
  if (needed == 0)
    return;
  WorkspaceArguments given = workspaceOf(params);
  if (!given.data)
    refuse("workspace",
           "must not be NULL: kernel " + kernel.name + " needs " +
               std::to_string(needed) + " bytes, as fa_forward_workspace says",
           "NULL");
  if (given.bytes < size_t(needed))
    refuse("workspace_bytes",
           "must be at least " + std::to_string(needed) +
               ", as fa_forward_workspace says",
           std::to_string(given.bytes));
  if (reinterpret_cast<uintptr_t>(given.data) % kWorkspaceAddressBytes)
    refuse("workspace",
           "address must be a multiple of " +
               std::to_string(kWorkspaceAddressBytes) + " bytes",
           std::to_string(reinterpret_cast<uintptr_t>(given.data)));
}

std::vector<ReadyLaunch>
fa::rt::makePlannedLaunches(const CurrentDevice &device, Library &library,
                            size_t index, const Problem &given,
                            const fa_forward_params &arguments) {
  const Kernel &kernel = library.kernel(index);
  const PackedHeads packed = packHeads(kernel, given, arguments);
  const fa_forward_params &params = packed.params;
  checkRowStride(params);
  int64_t splits = chooseSplits(library, index, packed.problem, params);
  const int64_t firstCounter = addWorkspaces(kernel, packed.problem, splits);
  const size_t counters = countCounters(kernel.plan);
  requireWorkspace(kernel, firstCounter + counterBytes(counters), params);
  PlanLauncher launcher(kernel, packed.problem, params, splits);
  const std::vector<PlannedLaunch> &planned = kernel.plan.launches;
  const bool reusesLists = flagsOf(params) & FA_REUSE_LISTS;
  std::vector<ReadyLaunch> launches;
  bool isBehind = false; // the one before it in the plan
  size_t counter = 0;
  bool keepsLists = false;
  for (size_t i = 0; i != planned.size(); ++i) {
    const size_t ownCounter = counter;
    counter += planned[i].hasCounter;
    const unsigned blocks = launcher.countBlocks(planned[i]);
    keepsLists |= reusesLists && planned[i].prepares;
    if (blocks == 0 || (reusesLists && planned[i].prepares)) {
      isBehind = false;
      continue;
    }
    const LoadedFunction &function = library.functionOn(device, index, i);
    ParamList list(kernel, function.places);
    launcher.packArguments(planned[i], list);
    if (planned[i].hasCounter)
      packCounter(firstCounter, ownCounter, params, list);
    launches.push_back(makeReady(kernel, planned[i], device, function, blocks,
                                 isBehind, std::move(list), params));
    isBehind = true;
  }
  // Where lists are kept, so is what the launch behind them left.
  if (!keepsLists)
    clearCounters(firstCounter, counters, params, launches);
  return launches;
}
