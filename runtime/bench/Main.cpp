//===- Main.cpp - fa-bench ------------------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks and times a kernel library on a GPU. Needs the CUDA driver and
// nothing else.
//
//===----------------------------------------------------------------------===//

#include "Failure.h"
#include "Verbs.h"

#include <cstdio>
#include <memory>

using namespace fa;
using namespace fa::bench;

/// The first GPU, or null with the reason on stderr.
static std::unique_ptr<Device> openDevice() {
  try {
    return std::make_unique<Device>();
  } catch (const rt::Failure &failure) {
    std::fprintf(stderr, "fa-bench: no GPU: %s\n", failure.what());
    return nullptr;
  }
}

static int run(const Options &options) {
  rt::Library library(options.directory);
  std::unique_ptr<Device> device = openDevice();
  if (!device)
    return kNoGpu;
  switch (options.verb) {
  case Verb::Check:
    return runCheck(options, library, *device);
  case Verb::Time:
    return runTime(options, library, *device);
  case Verb::Ablate:
    return runAblate(options, library, *device);
  case Verb::Soak:
    return runSoak(options, library, *device);
  case Verb::Tune:
    return runTune(options, library, *device);
  case Verb::Selftest:
    return runSelftest(options, library, *device);
  case Verb::Launch:
    return runLaunch(options, library, *device);
  case Verb::Run:
    return runProgram(options, library, *device);
  case Verb::Help:
    break;
  }
  return kUsage;
}

int main(int argc, char **argv) {
  std::string error;
  std::optional<Options> options =
      parseCommandLine({argv + 1, argv + argc}, error);
  if (!options) {
    std::fprintf(stderr, "fa-bench: %s\nTry fa-bench --help.\n", error.c_str());
    return kUsage;
  }
  if (options->verb == Verb::Help) {
    std::fputs(helpText().c_str(), stdout);
    return kOk;
  }
  try {
    return run(*options);
  } catch (const std::exception &failure) {
    std::fflush(stdout);
    std::fprintf(stderr, "fa-bench: %s\n", failure.what());
    return kFailed;
  }
}
