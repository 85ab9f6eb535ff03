//===- Tuned.cpp - Schedules that were measured ---------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuned.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace fa;

/// The format that is read here.
static constexpr int64_t kTableVersion = 1;

/// The tables of kernels-gen/tuned when this was built.
static const char *const kBuiltIn[] = {
#include "TunedTables.inc"
    nullptr};

//===----------------------------------------------------------------------===//
// Parts of a table
//===----------------------------------------------------------------------===//

namespace fa {

static bool fromJSON(const json::Value &value, Rescale &rescale,
                     json::Path path) {
  std::string name;
  if (!json::fromJSON(value, name, path))
    return false;
  std::optional<Rescale> parsed = parseRescale(name);
  if (!parsed) {
    path.report("expected always, lazy or first-max");
    return false;
  }
  rescale = *parsed;
  return true;
}

static bool fromJSON(const json::Value &value, Candidate &candidate,
                     json::Path path) {
  Schedule &schedule = candidate.schedule;
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("br", schedule.br) &&
         mapper.map("bc", schedule.bc) && mapper.map("teams", schedule.teams) &&
         mapper.map("warps", schedule.warps) &&
         mapper.map("stages", schedule.stages) &&
         mapper.map("rescale", schedule.rescale) &&
         mapper.map("ping_pong", candidate.pingPong) &&
         mapper.map("persistent", candidate.persistent) &&
         mapper.mapOptional("overlap_tiles", candidate.overlapTiles);
}

static bool fromJSON(const json::Value &value, TunedClass &tuned,
                     json::Path path) {
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.mapOptional("max_rows", tuned.maxRows) ||
      !mapper.map("schedule", tuned.candidate) ||
      !mapper.map("seqs", tuned.seqs) || !mapper.map("tflops", tuned.tflops))
    return false;
  if (tuned.seqs.size() != tuned.tflops.size()) {
    path.report("expected one rate for each length");
    return false;
  }
  return true;
}

/// Whether the limits of the classes rise, and only the last one has none.
static bool areOrdered(ArrayRef<TunedClass> classes) {
  if (classes.empty() || classes.back().maxRows != 0)
    return false;
  int64_t before = 0;
  for (const TunedClass &tuned : classes.drop_back()) {
    if (tuned.maxRows <= before)
      return false;
    before = tuned.maxRows;
  }
  return true;
}

static bool fromJSON(const json::Value &value, TunedProblem &problem,
                     json::Path path) {
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("dtype", problem.dtype) ||
      !mapper.map("head_dim", problem.headDim) ||
      !mapper.map("head_dim_v", problem.headDimV) ||
      !mapper.map("variant", problem.variant) ||
      !mapper.map("card", problem.card) ||
      !mapper.map("driver", problem.driver) ||
      !mapper.map("ptxas", problem.ptxas) ||
      !mapper.map("date", problem.date) ||
      !mapper.map("classes", problem.classes))
    return false;
  if (!areOrdered(problem.classes)) {
    path.field("classes").report(
        "expected classes of rising max_rows, and a last one without");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, TunedTable &table,
                     json::Path path) {
  int64_t version = 0;
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("flashloom_tuned", version))
    return false;
  if (version != kTableVersion) {
    path.field("flashloom_tuned").report("expected version 1");
    return false;
  }
  return mapper.map("arch", table.arch) &&
         mapper.map("problems", table.problems);
}

} // namespace fa

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static bool isOf(const TunedProblem &problem, StringRef dtype, int64_t headDim,
                 int64_t headDimV, StringRef variant) {
  return problem.dtype == dtype && problem.headDim == headDim &&
         problem.headDimV == headDimV && problem.variant == variant;
}

const TunedProblem *TunedTable::find(StringRef dtype, int64_t headDim,
                                     int64_t headDimV,
                                     StringRef variant) const {
  for (const TunedProblem &problem : problems)
    if (isOf(problem, dtype, headDim, headDimV, variant))
      return &problem;
  return nullptr;
}

void TunedTable::add(const TunedTable &other) {
  for (const TunedProblem &problem : other.problems) {
    llvm::erase_if(problems, [&](const TunedProblem &old) {
      return isOf(old, problem.dtype, problem.headDim, problem.headDimV,
                  problem.variant);
    });
    problems.push_back(problem);
  }
}

/// Gives the schedules their target and holds them against it.
static Error checkSchedules(TunedTable &table, StringRef name) {
  const Target *target = Target::lookup(table.arch);
  if (!target)
    return createStringError(formatv("{0}: unknown architecture '{1}', "
                                     "expected one of {2}",
                                     name, table.arch, Target::listNames()));
  for (auto [index, problem] : enumerate(table.problems))
    for (auto [place, tuned] : enumerate(problem.classes)) {
      Schedule &schedule = tuned.candidate.schedule;
      schedule.target = table.arch;
      if (std::optional<std::string> why = findViolation(
              {problem.headDim, problem.headDimV}, schedule, *target))
        return createStringError(
            formatv("{0}: problems[{1}].classes[{2}].schedule: {3}", name,
                    index, place, *why));
    }
  return Error::success();
}

Expected<TunedTable> fa::parseTunedTable(StringRef text, StringRef name) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError(name + ": " + toString(value.takeError()));
  TunedTable table;
  json::Path::Root root("table");
  if (!fromJSON(*value, table, root))
    return createStringError(name + ": " + toString(root.getError()));
  if (Error error = checkSchedules(table, name))
    return std::move(error);
  return table;
}

Expected<TunedTable> fa::readTunedTable(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError("cannot read the tuned table '" + path +
                             "': " + buffer.getError().message());
  return parseTunedTable((*buffer)->getBuffer(), path);
}

std::string fa::userTablePath(StringRef arch) {
  SmallString<256> path;
  if (!sys::path::user_config_directory(path))
    return "";
  sys::path::append(path, "flashloom", "tuned", arch + ".json");
  return std::string(path);
}

Expected<TunedTable> fa::findTunedTable(StringRef arch) {
  TunedTable table;
  table.arch = arch.str();
  for (const char *text : ArrayRef(kBuiltIn).drop_back()) {
    Expected<TunedTable> builtIn =
        parseTunedTable(text, "the table that fa-gen was built with");
    if (!builtIn)
      return builtIn.takeError();
    if (builtIn->arch == arch)
      table.add(*builtIn);
  }
  std::string path = userTablePath(arch);
  if (path.empty() || !sys::fs::exists(path))
    return table;
  Expected<TunedTable> own = readTunedTable(path);
  if (!own)
    return own.takeError();
  if (own->arch != arch)
    return createStringError(path + " is a table of " + own->arch +
                             ", not of " + arch);
  table.add(*own);
  return table;
}
