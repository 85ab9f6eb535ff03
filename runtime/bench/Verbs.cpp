//===- Verbs.cpp - What the verbs of fa-bench share -----------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "CurrentDevice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <set>

using namespace fa;
using namespace fa::bench;

std::vector<size_t> fa::bench::fittingKernels(const Options &options,
                                              const rt::Library &library) {
  rt::ComputeCapability device = rt::currentCapability();
  std::vector<size_t> fitting;
  for (size_t i = 0; i < library.kernels().size(); ++i) {
    const rt::Kernel &kernel = library.kernels()[i];
    if (kernel.runsOn(device) &&
        kernel.name.find(options.kernel) != std::string::npos)
      fitting.push_back(i);
  }
  if (fitting.empty())
    std::fprintf(stderr,
                 "fa-bench: of the %zu kernels of %s none %sruns on this "
                 "device (%s)\n",
                 library.kernels().size(), library.directory().c_str(),
                 options.kernel.empty()
                     ? ""
                     : ("named like " + options.kernel + " ").c_str(),
                 device.str().c_str());
  return fitting;
}

std::string fa::bench::describeSetup(const Device &device,
                                     const rt::Library &library) {
  std::set<std::string> compilers;
  for (const rt::Kernel &kernel : library.kernels())
    if (!kernel.ptxas.empty())
      compilers.insert(kernel.ptxas);
  std::string text = device.describe();
  for (const std::string &version : compilers)
    text += ", ptxas " + version;
  return text;
}

Sizes fa::bench::benchmarkSizes(const rt::Kernel &kernel, int64_t seq) {
  Sizes sizes;
  sizes.batch = std::max<int64_t>(1, kTokens / seq);
  sizes.heads = std::max<int64_t>(1, kWidth / kernel.headDim);
  sizes.kvHeads = sizes.heads;
  sizes.seqQ = sizes.seqKv = seq;
  sizes.dim = kernel.headDim;
  sizes.dimV = kernel.headDimV;
  return sizes;
}

Sizes fa::bench::cellSizes(const Options &options, const rt::Kernel &kernel,
                           int64_t seq) {
  if (!options.lens.empty()) {
    Sizes sizes = benchmarkSizes(kernel, kTokens);
    sizes.seqQ =
        std::accumulate(options.lens.begin(), options.lens.end(), int64_t(0));
    sizes.seqKv = sizes.seqQ;
    for (int64_t length : options.lens)
      sizes.lengths.push_back({length, length});
    return sizes;
  }
  if (options.sq == 0)
    return benchmarkSizes(kernel, seq);
  return {options.batch, options.heads,  options.kvHeads, options.sq,
          seq,           kernel.headDim, kernel.headDimV};
}

float fa::bench::defaultScale(const rt::Kernel &kernel) {
  return 1 / std::sqrt(float(kernel.headDim));
}
