//===- Program.cpp - Launching kernels that are no attention --------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "CurrentDevice.h"
#include "Extras.h"
#include "Failure.h"
#include "Launch.h"

#include <algorithm>
#include <optional>

using namespace fa::rt;

/// "gemm_sm_80, gemm_sm_90a", "none".
static std::string programNames(const Library &library) {
  std::string names;
  for (const Kernel &program : library.programs())
    names += (names.empty() ? "" : ", ") + program.name;
  return names.empty() ? "none" : names;
}

size_t fa::rt::findProgram(const Library &library, const std::string &name) {
  const ComputeCapability device = currentCapability();
  const std::vector<Kernel> &programs = library.programs();
  std::optional<size_t> best;
  bool isKnown = false;
  for (size_t i = 0; i != programs.size(); ++i) {
    const Kernel &program = programs[i];
    if (program.name != name && program.entry != name)
      continue;
    isKnown = true;
    if (program.runsOn(device) &&
        (!best || isPreferred(program, programs[*best], 0, 1)))
      best = i;
  }
  if (best)
    return *best;
  std::string reason =
      isKnown ? "the program " + name +
                    " is for other devices than this one (" + device.str() + ")"
              : "the library has no program " + name +
                    " (there is: " + programNames(library) + ")";
  throw Failure(FA_NO_KERNEL, reason);
}

/// Whether a size that makes the grid is 0: there is no output element.
static bool isEmpty(const Kernel &program, const fa_forward_params &params) {
  return std::any_of(
      program.grid.begin(), program.grid.end(), [&](const GridFactor &factor) {
        const fa_tensor &tensor = extraOf(factor.extra, params).tensor;
        return tensor.sizes[factor.dim] == 0;
      });
}

void fa::rt::launchProgram(Library &library, size_t index,
                           const fa_extra *arguments, size_t count,
                           CuStream stream) {
  const Kernel &program = library.programs()[index];
  // All that a program takes are extras, which are checked and passed as those
  // of attention are.
  fa_forward_params params = {};
  params.struct_size = sizeof(params);
  params.extras = arguments;
  params.num_extras = count;
  const Problem problem = {};
  checkExtras(program, problem, params);
  if (isEmpty(program, params))
    return;
  const CurrentDevice device = currentDevice();
  const unsigned blocks = gridSize(program, params);
  const LoadedFunction &function = library.programFunction(device, index);
  ParamList list(program, function.places);
  packParams(program, problem, params, list);
  ReadyLaunch ready = makeReady(program, program, device, function, blocks,
                                /*isBehind=*/false, std::move(list), params);
  start(ready, program, stream);
}
