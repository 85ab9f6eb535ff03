//===- Verbs.h - What fa-bench does -----------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_VERBS_H
#define FLASHLOOM_BENCH_VERBS_H

#include "CommandLine.h"
#include "Device.h"
#include "Library.h"
#include "Sampling.h"

namespace fa::bench {

/// Exit statuses.
inline constexpr int kOk = 0, kFailed = 1, kUsage = 2, kNoGpu = 77;

/// Checks every fitting kernel; returns the exit status.
int runCheck(const Options &options, rt::Library &library,
             const Device &device);

/// Checks each kernel on a few small problems, in seconds; the exit status.
int runSelftest(const Options &options, rt::Library &library,
                const Device &device);

/// `options` with the problems of the self-test.
Options selftestOptions(const Options &options);

/// Whether a kernel is right on the problems of `options`; prints a line for
/// each where it is not. Throws rt::Failure where a launch fails.
bool checkKernel(const Options &options, rt::Library &library,
                 const Device &device, size_t index);

/// The kernels of one problem, among `indexes`, that are wrong on the problems
/// of `options`; prints a line for each fault. Throws rt::Failure where a
/// launch fails.
std::vector<size_t> findWrongKernels(const Options &options,
                                     rt::Library &library, const Device &device,
                                     const std::vector<size_t> &indexes);

/// Checks and times candidates, prints their rates and writes the table of the
/// fastest; the exit status.
int runTune(const Options &options, rt::Library &library, const Device &device);

/// Checks and times the kernels of each problem beside one another, in the
/// order of the manifest, and prints what each gained over the one before; the
/// exit status.
int runAblate(const Options &options, rt::Library &library,
              const Device &device);

/// Launches each kernel many times on random shapes and compares the results of
/// equal launches bit by bit; the exit status.
int runSoak(const Options &options, rt::Library &library, const Device &device);

/// Prints what a call of fa_forward costs the host; the exit status.
int runLaunch(const Options &options, rt::Library &library,
              const Device &device);

/// Runs a program on the tensors of a folder and compares its outputs with
/// those that the folder has; the exit status. Throws rt::Failure.
int runProgram(const Options &options, rt::Library &library,
               const Device &device);

/// Times the library's cells; returns the exit status.
int runTime(const Options &options, rt::Library &library, const Device &device);

/// Indexes of the kernels that run on the current device and that --kernel
/// accepts. None at all is said on stderr.
std::vector<size_t> fittingKernels(const Options &options,
                                   const rt::Library &library);

/// The device and its driver, and what compiled the library's cubins:
/// "NVIDIA H200, sm_90, CUDA driver 13.0, ptxas 13.0".
std::string describeSetup(const Device &device, const rt::Library &library);

/// Tokens and model width of the benchmark, as in FlashAttention-3's paper.
inline constexpr int64_t kTokens = 16384, kWidth = 2048;

/// The cell of `time` with `seq` keys: the benchmark's, decoding's, or that of
/// packed sequences of given lengths, whatever `seq` is.
Sizes cellSizes(const Options &options, const rt::Kernel &kernel, int64_t seq);

/// The benchmark's problem for a kernel and a sequence length.
Sizes benchmarkSizes(const rt::Kernel &kernel, int64_t seq);

/// 1/sqrt(head_dim).
float defaultScale(const rt::Kernel &kernel);

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_VERBS_H
