//===- ManifestPlan.cpp - Reading launch plans ----------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestPlan.h"

#include "ManifestLaunch.h"

#include <limits>

using namespace fa::rt;

namespace {
constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxWorkspaceRank = 6;
/// Parts of the keys.
constexpr int64_t kMaxSplits = 1024;
} // namespace

static WorkspaceSize readWorkspaceSize(const JsonField &field) {
  if (field.isInteger())
    return {{Argument::Extra, field.integer(1, kMaxInt32)}};
  constexpr Argument sizes[] = {Argument::Batch,   Argument::Heads,
                                Argument::KvHeads, Argument::SeqQ,
                                Argument::SeqKv,   Argument::Splits};
  auto named = [&](const JsonField &name) -> SizeRule {
    return {sizes[name.choice(
        {"batch", "heads", "kv_heads", "seq_q", "seq_kv", "splits"})]};
  };
  if (!field.isObject())
    return {named(field)};
  return {named(field["size"]), field["tile"].integer(1, kMaxInt32),
          field["plus"].integer(0, kMaxInt32)};
}

static bool hasName(const Kernel &kernel, const std::string &name) {
  for (const Param &param : kernel.params)
    if (param.name == name)
      return true;
  for (const Workspace &workspace : kernel.plan.workspaces)
    if (workspace.name == name)
      return true;
  return false;
}

static Workspace readWorkspace(const JsonField &field, const Kernel &kernel) {
  Workspace workspace;
  workspace.name = field["name"].name();
  if (hasName(kernel, workspace.name))
    field["name"].refuse("must not be that of a parameter or workspace");
  constexpr fa_dtype dtypes[] = {FA_F32, FA_I32};
  workspace.dtype = dtypes[field["dtype"].choice({"f32", "i32"})];
  JsonField sizes = field["sizes"];
  size_t rank = sizes.arraySize();
  if (rank < 1 || rank > size_t(kMaxWorkspaceRank))
    sizes.refuse("must have 1 to 6 entries");
  for (size_t i = 0; i != rank; ++i) {
    workspace.sizes.push_back(readWorkspaceSize(sizes.at(i)));
    if (workspace.sizes.back().rule.argument == Argument::Splits &&
        kernel.plan.maxSplits == 0)
      sizes.at(i).refuse("needs the kernel's field splits");
  }
  return workspace;
}

static LaunchArgument readArgument(const JsonField &field,
                                   const Kernel &kernel) {
  LaunchArgument argument;
  std::string name = field.name();
  for (size_t i = 0; i != kernel.params.size(); ++i)
    if (kernel.params[i].name == name) {
      argument.index = i;
      return argument;
    }
  const std::vector<Workspace> &workspaces = kernel.plan.workspaces;
  for (size_t i = 0; i != workspaces.size(); ++i)
    if (workspaces[i].name == name) {
      argument.isWorkspace = true;
      argument.index = i;
      return argument;
    }
  field.refuse("must be the name of a parameter or workspace");
}

/// The dimensions of an argument; 0 of a scalar.
static int rankOf(const LaunchArgument &argument, const Kernel &kernel) {
  if (argument.isWorkspace)
    return int(kernel.plan.workspaces[argument.index].sizes.size());
  const Param &param = kernel.params[argument.index];
  return param.kind == ParamKind::Tensor ? param.rank : 0;
}

static PlannedFactor readFactor(const JsonField &field,
                                const PlannedLaunch &launch,
                                const Kernel &kernel) {
  size_t argument =
      size_t(field["arg"].integer(0, int64_t(launch.args.size()) - 1));
  int rank = rankOf(launch.args[argument], kernel);
  if (rank == 0)
    field["arg"].refuse("must be the number of a tensor of args");
  return {argument, int(field["dim"].integer(0, rank - 1)),
          field["tile"].integer(1, kMaxInt32)};
}

static PlannedLaunch readPlannedLaunch(const JsonField &field,
                                       const Kernel &kernel) {
  PlannedLaunch launch;
  readGridLaunch(field, kernel, launch);
  JsonField args = field["args"];
  for (size_t i = 0, e = args.arraySize(); i != e; ++i)
    launch.args.push_back(readArgument(args.at(i), kernel));
  if (launch.args.empty())
    args.refuse("must not be empty");
  JsonField grid = field["grid"];
  for (size_t i = 0, e = grid.arraySize(); i != e; ++i)
    launch.grid.push_back(readFactor(grid.at(i), launch, kernel));
  if (launch.grid.empty())
    grid.refuse("must not be empty");
  return launch;
}

void fa::rt::readPlan(const JsonField &field, Kernel &kernel) {
  LaunchPlan &plan = kernel.plan;
  if (field.has("splits")) {
    JsonField splits = field["splits"];
    plan.maxSplits = int32_t(splits["max"].integer(1, kMaxSplits));
    plan.splitKeys = splits["keys"].integer(1, kMaxInt32);
  }
  if (field.has("workspaces")) {
    JsonField workspaces = field["workspaces"];
    for (size_t i = 0, e = workspaces.arraySize(); i != e; ++i)
      plan.workspaces.push_back(readWorkspace(workspaces.at(i), kernel));
  }
  JsonField launches = field["launches"];
  for (size_t i = 0, e = launches.arraySize(); i != e; ++i)
    plan.launches.push_back(readPlannedLaunch(launches.at(i), kernel));
  if (plan.launches.empty())
    launches.refuse("must not be empty");
  if (plan.launches.back().prepares)
    launches.at(plan.launches.size() - 1)["prepares"].refuse(
        "must not be true of the last launch");
  static_cast<GridLaunch &>(kernel) = plan.launches.front();
}
