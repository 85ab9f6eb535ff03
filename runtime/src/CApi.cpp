//===- CApi.cpp - The C boundary ------------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function checks its pointers, calls into the C++ parts, and turns
// exceptions into a status and this thread's text.
//
//===----------------------------------------------------------------------===//

#include "CurrentDevice.h"
#include "DlpackCall.h"
#include "Extras.h"
#include "Failure.h"
#include "KernelChoice.h"
#include "Plan.h"
#include "Program.h"
#include "RecentCalls.h"

#include "flashloom/fa_runtime.h"

#include <memory>
#include <new>

using namespace fa::rt;

struct fa_library {
  explicit fa_library(const char *directory) : library(directory) {}
  Library library;
};

static std::string &lastError() {
  static thread_local std::string text;
  return text;
}

static fa_status fail(fa_status status, const char *text) noexcept {
  try {
    lastError() = text;
  } catch (...) {
    // Without memory for the text the status has to do.
  }
  return status;
}

template <typename Body> static fa_status guarded(Body body) noexcept {
  try {
    body();
    return FA_SUCCESS;
  } catch (const Failure &failure) {
    return fail(failure.status(), failure.what());
  } catch (const std::bad_alloc &) {
    return fail(FA_OUT_OF_MEMORY, "host memory is exhausted");
  } catch (const std::exception &error) {
    return fail(FA_INTERNAL_ERROR, error.what());
  } catch (...) {
    return fail(FA_INTERNAL_ERROR, "unknown exception");
  }
}

static void requirePointer(const void *pointer, const char *name) {
  if (!pointer)
    throw Failure(FA_INVALID_ARGUMENT,
                  std::string(name) + ": must not be NULL (found NULL)");
}

static fa_kernel_info infoOf(const Kernel &kernel) {
  fa_kernel_info info = {};
  info.struct_size = sizeof(info);
  info.name = kernel.name.c_str();
  info.file = kernel.file.c_str();
  info.format = formatName(kernel.format);
  info.arch = kernel.archText.c_str();
  info.pass = kernel.pass.c_str();
  info.variant = kernel.variant.c_str();
  info.pipeline = kernel.pipeline.c_str();
  info.schedule = kernel.schedule.c_str();
  info.hash = kernel.hash.c_str();
  info.ptxas = kernel.ptxas.c_str();
  info.dtype = kernel.dtype;
  info.gqa = kernel.gqa;
  info.head_dim = kernel.headDim;
  info.head_dim_v = kernel.headDimV;
  info.block = kernel.block;
  info.shared_bytes = kernel.sharedBytes;
  info.registers = kernel.registers;
  info.spill_bytes = kernel.spillBytes;
  return info;
}

int32_t fa_version(void) { return FA_VERSION; }

const char *fa_last_error(void) { return lastError().c_str(); }

const char *fa_status_name(fa_status status) {
  switch (status) {
  case FA_SUCCESS:
    return "FA_SUCCESS";
  case FA_INVALID_ARGUMENT:
    return "FA_INVALID_ARGUMENT";
  case FA_INVALID_LIBRARY:
    return "FA_INVALID_LIBRARY";
  case FA_NO_KERNEL:
    return "FA_NO_KERNEL";
  case FA_NO_DRIVER:
    return "FA_NO_DRIVER";
  case FA_DRIVER_ERROR:
    return "FA_DRIVER_ERROR";
  case FA_OUT_OF_MEMORY:
    return "FA_OUT_OF_MEMORY";
  case FA_OTHER_TENSORS:
    return "FA_OTHER_TENSORS";
  case FA_INTERNAL_ERROR:
    return "FA_INTERNAL_ERROR";
  }
  return "unknown status";
}

fa_status fa_library_open(const char *directory, fa_library **library) {
  return guarded([&] {
    requirePointer(library, "library");
    *library = nullptr;
    requirePointer(directory, "directory");
    *library = std::make_unique<fa_library>(directory).release();
  });
}

void fa_library_close(fa_library *library) {
  guarded([&] { delete library; });
}

size_t fa_library_kernel_count(const fa_library *library) {
  return library ? library->library.kernels().size() : 0;
}

fa_status fa_library_kernel_info(const fa_library *library, size_t index,
                                 fa_kernel_info *info) {
  return guarded([&] {
    requirePointer(library, "library");
    requirePointer(info, "info");
    if (info->struct_size != sizeof(fa_kernel_info))
      throw Failure(FA_INVALID_ARGUMENT,
                    "info: struct_size must be " +
                        std::to_string(sizeof(fa_kernel_info)) + " (found " +
                        std::to_string(info->struct_size) + ")");
    *info = infoOf(library->library.kernel(index));
  });
}

fa_status fa_kernel_fits(const fa_library *library, size_t index,
                         int32_t *fits) {
  return guarded([&] {
    requirePointer(library, "library");
    requirePointer(fits, "fits");
    *fits = library->library.kernel(index).runsOn(currentCapability());
  });
}

fa_status fa_kernel_load(fa_library *library, size_t index) {
  return guarded([&] {
    requirePointer(library, "library");
    library->library.function(index);
  });
}

fa_status fa_forward_pick(const fa_library *library,
                          const fa_forward_params *params, size_t *index) {
  return guarded([&] {
    requirePointer(library, "library");
    requirePointer(index, "index");
    Problem problem = checkProblem(params);
    size_t picked = pickKernel(library->library, problem, currentCapability());
    checkExtras(library->library.kernel(picked), problem, *params);
    *index = picked;
  });
}

fa_status fa_forward_workspace(fa_library *library,
                               const fa_forward_params *params, size_t *bytes) {
  return guarded([&] {
    requirePointer(library, "library");
    requirePointer(bytes, "bytes");
    Problem problem = checkProblem(params);
    *bytes = 0;
    if (problem.empty())
      return;
    size_t index = pickKernel(library->library, problem, currentCapability());
    *bytes = size_t(workspaceBytes(library->library, index, problem, *params));
  });
}

fa_status fa_kernel_workspace(fa_library *library, size_t index,
                              const fa_forward_params *params, size_t *bytes) {
  return guarded([&] {
    requirePointer(library, "library");
    requirePointer(bytes, "bytes");
    Problem problem = checkProblem(params);
    requireMatch(library->library.kernel(index), problem);
    *bytes = size_t(workspaceBytes(library->library, index, problem, *params));
  });
}

fa_status fa_forward(fa_library *library, const fa_forward_params *params,
                     fa_stream stream) {
  return guarded([&] {
    requirePointer(library, "library");
    if (launchAgain(library->library, kPickedKernel, params, stream))
      return;
    Problem problem = checkProblem(params);
    if (problem.empty())
      return;
    const CurrentDevice device = currentDevice();
    size_t index = pickKernel(library->library, problem, device.capability);
    launchAndKeep(device, library->library, kPickedKernel, index, problem,
                  *params, stream);
  });
}

fa_status fa_dlpack_forward(const fa_dlpack_call *call) {
  bool isBound = false;
  fa_status status = guarded([&] {
    requirePointer(call, "call");
    isBound = bindTensors(*call);
  });
  if (status != FA_SUCCESS)
    return status;
  if (!isBound)
    return FA_OTHER_TENSORS;
  void *thread = call->unlock();
  status = fa_forward(call->library, call->params, call->stream);
  call->lock(thread);
  return status;
}

fa_status fa_kernel_launch(fa_library *library, size_t index,
                           const fa_forward_params *params, fa_stream stream) {
  return guarded([&] {
    requirePointer(library, "library");
    if (launchAgain(library->library, index, params, stream))
      return;
    Problem problem = checkProblem(params);
    requireMatch(library->library.kernel(index), problem);
    if (!problem.empty())
      launchAndKeep(currentDevice(), library->library, index, index, problem,
                    *params, stream);
  });
}

fa_status fa_program_launch(fa_library *library, const char *name,
                            const fa_extra *arguments, size_t num_arguments,
                            fa_stream stream) {
  return guarded([&] {
    requirePointer(library, "library");
    requirePointer(name, "name");
    launchProgram(library->library, findProgram(library->library, name),
                  arguments, num_arguments, stream);
  });
}
