//===- KernelChoice.cpp - Which kernel runs a problem ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelChoice.h"

#include "Failure.h"
#include "TensorView.h"

#include <algorithm>

using namespace fa::rt;

/// Whether the kernel computes the problem's variant. The one query of a causal
/// problem sees all keys.
static bool isVariant(const Kernel &kernel, const Problem &problem) {
  bool seesAll = problem.variant == "causal" && problem.seqQ == 1 &&
                 kernel.variant == "full" && kernel.packsHeads;
  return kernel.variant == problem.variant || seesAll;
}

/// Everything of `matches` but the heads.
static bool isOfKind(const Kernel &kernel, const Problem &problem) {
  return kernel.dtype == problem.dtype && kernel.headDim == problem.headDim &&
         kernel.headDimV == problem.headDimV && isVariant(kernel, problem);
}

static bool takesHeads(const Kernel &kernel, const Problem &problem) {
  return kernel.gqa || problem.heads == problem.kvHeads;
}

static bool matches(const Kernel &kernel, const Problem &problem) {
  return isOfKind(kernel, problem) && takesHeads(kernel, problem);
}

/// The architectures of the kernels that `wanted` accepts, each once, ordered.
template <typename Predicate>
static std::string architectures(const Library &library, Predicate wanted) {
  std::vector<const Kernel *> kernels;
  for (const Kernel &kernel : library.kernels())
    if (wanted(kernel))
      kernels.push_back(&kernel);
  std::stable_sort(
      kernels.begin(), kernels.end(),
      [](const Kernel *a, const Kernel *b) { return a->arch < b->arch; });
  std::vector<std::string> names;
  for (const Kernel *kernel : kernels) {
    std::string name = kernel->archText;
    if (kernel->format == Format::Ptx)
      name += " (ptx)";
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  return list;
}

[[noreturn]] static void refuseProblem(const Library &library,
                                       const Problem &problem) {
  for (const Kernel &kernel : library.kernels())
    if (isOfKind(kernel, problem))
      throw Failure(FA_NO_KERNEL, "the kernels of " + library.directory() +
                                      " for " + problem.describe() +
                                      " need as many kv_heads as heads (found "
                                      "heads " +
                                      std::to_string(problem.heads) +
                                      ", kv_heads " +
                                      std::to_string(problem.kvHeads) + ")");
  throw Failure(FA_NO_KERNEL, library.directory() + " has no kernel for " +
                                  problem.describe());
}

size_t fa::rt::pickKernel(const Library &library, const Problem &problem,
                          ComputeCapability device) {
  const std::vector<Kernel> &kernels = library.kernels();
  bool anyMatch = false;
  size_t best = kernels.size();
  for (size_t i = 0; i != kernels.size(); ++i) {
    if (!matches(kernels[i], problem))
      continue;
    anyMatch = true;
    if (kernels[i].runsOn(device) &&
        (best == kernels.size() ||
         isPreferred(kernels[i], kernels[best], problem.seqQ, problem.group())))
      best = i;
  }
  if (best != kernels.size())
    return best;
  if (!anyMatch)
    refuseProblem(library, problem);
  auto wanted = [&](const Kernel &kernel) { return matches(kernel, problem); };
  throw Failure(FA_NO_KERNEL, "no kernel for " + problem.describe() +
                                  " runs on this device (" + device.str() +
                                  "): " + library.directory() + " has " +
                                  architectures(library, wanted));
}

static void requireEqual(const Kernel &kernel, const char *what,
                         const std::string &wanted, const std::string &found) {
  if (wanted != found)
    throw Failure(FA_INVALID_ARGUMENT, "kernel " + kernel.name + ": " + what +
                                           " must be " + wanted + " (found " +
                                           found + ")");
}

void fa::rt::requireMatch(const Kernel &kernel, const Problem &problem) {
  if (matches(kernel, problem))
    return;
  requireEqual(kernel, "dtype", dtypeName(kernel.dtype),
               dtypeName(problem.dtype));
  requireEqual(kernel, "head_dim", std::to_string(kernel.headDim),
               std::to_string(problem.headDim));
  requireEqual(kernel, "head_dim_v", std::to_string(kernel.headDimV),
               std::to_string(problem.headDimV));
  if (!isVariant(kernel, problem))
    requireEqual(kernel, "variant", kernel.variant, problem.variant);
  requireEqual(kernel, "kv_heads", std::to_string(problem.heads),
               std::to_string(problem.kvHeads));
}

void fa::rt::checkBatch(const Kernel &kernel, const Problem &problem) {
  if (kernel.isPacked && problem.batch != 1)
    refuse("q",
           "size of dimension 0 (batch) must be 1 for the packed sequences of "
           "kernel " +
               kernel.name,
           std::to_string(problem.batch));
}
