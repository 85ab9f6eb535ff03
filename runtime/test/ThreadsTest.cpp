//===- ThreadsTest.cpp - Many threads at the C API ------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Also compiled with the thread sanitizer, which sees races that do no harm
// here.
//
//===----------------------------------------------------------------------===//

#include "DriverApi.h"
#include "TestLibrary.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

using namespace fa;
using namespace fa::test;

namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 25;

/// Counts without ordering the threads: a lock here would hide races around it.
struct Counter {
  void add() { value.fetch_add(1, std::memory_order_relaxed); }
  int get() const { return value.load(std::memory_order_relaxed); }
  std::atomic<int> value{0};
};

Counter loads, unloads, launches;
thread_local uintptr_t currentContext = 1;

/// A driver that does next to nothing, in place of the real one while it lives.
class QuietDriver {
public:
  QuietDriver();
  ~QuietDriver() { rt::overrideDriver(nullptr); }

private:
  rt::DriverApi table;
};

QuietDriver::QuietDriver() {
  loads.value = unloads.value = launches.value = 0;
  table.ctxGetCurrent = [](rt::CuContext *context) {
    *context = reinterpret_cast<rt::CuContext>(currentContext);
    return 0;
  };
  table.ctxGetDevice = [](rt::CuDevice *device) { return *device = 0; };
  table.ctxPushCurrent = [](rt::CuContext) { return 0; };
  table.ctxPopCurrent = [](rt::CuContext *) { return 0; };
  table.ctxGetId = [](rt::CuContext context, unsigned long long *id) {
    *id = context ? reinterpret_cast<uintptr_t>(context) : currentContext;
    return 0;
  };
  // sm_90 with as many multiprocessors.
  table.deviceGetAttribute = [](int *value, int attribute, rt::CuDevice) {
    *value = attribute == rt::kComputeCapabilityMinor ? 0 : 9;
    return 0;
  };
  table.moduleLoadData = [](rt::CuModule *module, const void *) {
    loads.add();
    *module = reinterpret_cast<rt::CuModule>(0x100);
    return 0;
  };
  table.moduleUnload = [](rt::CuModule) {
    unloads.add();
    return 0;
  };
  table.moduleGetFunction = [](rt::CuFunction *function, rt::CuModule,
                               const char *) {
    *function = reinterpret_cast<rt::CuFunction>(0x200);
    return 0;
  };
  table.funcSetAttribute = [](rt::CuFunction, int, int) { return 0; };
  table.occupancyMaxActiveBlocksPerMultiprocessor =
      [](int *blocks, rt::CuFunction, int, size_t) {
        *blocks = 1;
        return 0;
      };
  table.threadExchangeStreamCaptureMode = [](int *) { return 0; };
  table.launchKernel = [](rt::CuFunction, unsigned, unsigned, unsigned,
                          unsigned, unsigned, unsigned, unsigned, rt::CuStream,
                          void **, void **) {
    launches.add();
    return 0;
  };
  table.tensorMapEncodeTiled =
      [](void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
         const uint32_t *, const uint32_t *, int, int, int, int) { return 0; };
  rt::overrideDriver(&table);
}

struct Closer {
  void operator()(fa_library *library) const { fa_library_close(library); }
};
using OpenLibrary = std::unique_ptr<fa_library, Closer>;

OpenLibrary open(const TestFolder &folder) {
  fa_library *library = nullptr;
  EXPECT_EQ(fa_library_open(folder.path().c_str(), &library), FA_SUCCESS)
      << fa_last_error();
  return OpenLibrary(library);
}

/// What failed on any thread.
class Failures {
public:
  /// Keeps the calling thread's reason where `status` is no success.
  void add(fa_status status) {
    if (status == FA_SUCCESS)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    reasons.insert(fa_last_error());
  }
  /// The reasons, each once.
  std::set<std::string> reasons;

private:
  std::mutex mutex;
};

/// Runs `body(thread)` on all threads at the same time.
template <typename Body> void onThreads(Body body) {
  std::atomic<int> waiting{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting)
        std::this_thread::yield();
      body(i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// A kernel of one launch, a persistent one with tensor maps, which is
/// preferred, one of two launches, and one that nobody asks for.
json library() {
  json maps = kernelJson("maps");
  maps["arch"] = "sm_90a";
  maps["blocks_per_sm"] = 1;
  maps["tensor_maps"] = {
      json{{"tensor", "q"}, {"rows", 64}, {"cols", 64}, {"swizzle", 128}}};
  json decode = decodeJson("decode");
  decode["arch"] = "sm_90";
  json other = kernelJson("other");
  other["variant"] = "other";
  return manifestJson({kernelJson("plain"), maps, decode, other});
}

fa_forward_params decodeParams(std::vector<char> &workspace) {
  fa_forward_params params = forwardParams();
  params.variant = "full";
  params.q.sizes[2] = params.o.sizes[2] = params.lse.sizes[2] = 1;
  params.workspace = workspace.data();
  params.workspace_bytes = workspace.size();
  return params;
}

} // namespace

TEST(Threads, LaunchFromOneLibrary) {
  QuietDriver driver;
  TestFolder folder(library());
  OpenLibrary opened = open(folder);
  Failures failures;
  onThreads([&](int thread) {
    std::vector<char> memory(1 << 22);
    fa_forward_params causal = forwardParams();
    fa_forward_params decode = decodeParams(memory);
    for (int round = 0; round < kRounds; ++round) {
      // Each thread begins with another kernel.
      for (int step = 0; step < 3; ++step)
        switch ((thread + step) % 3) {
        case 0:
          failures.add(fa_forward(opened.get(), &causal, nullptr));
          break;
        case 1:
          failures.add(fa_forward(opened.get(), &decode, nullptr));
          break;
        case 2:
          failures.add(fa_kernel_launch(opened.get(), 0, &causal, nullptr));
          break;
        }
    }
  });
  EXPECT_EQ(failures.reasons, std::set<std::string>());
  EXPECT_EQ(loads.get(), 3);
  // Two launches of the decoding kernel, one of the others.
  EXPECT_EQ(launches.get(), kThreads * kRounds * 4);
}

TEST(Threads, LaunchInContextsOfTheirOwn) {
  QuietDriver driver;
  TestFolder folder(library());
  {
    OpenLibrary opened = open(folder);
    Failures failures;
    onThreads([&](int thread) {
      currentContext = uintptr_t(10 + thread % 4);
      fa_forward_params params = forwardParams();
      for (int round = 0; round < kRounds; ++round)
        failures.add(fa_forward(opened.get(), &params, nullptr));
    });
    EXPECT_EQ(failures.reasons, std::set<std::string>());
    EXPECT_EQ(loads.get(), 4);
  }
  EXPECT_EQ(unloads.get(), 4);
}

TEST(Threads, HaveErrorsOfTheirOwn) {
  QuietDriver driver;
  TestFolder folder(library());
  OpenLibrary opened = open(folder);
  std::atomic<int> wrong{0};
  onThreads([&](int thread) {
    std::string variant = "variant" + std::to_string(thread);
    fa_forward_params params = forwardParams();
    params.variant = variant.c_str();
    for (int round = 0; round < kRounds; ++round) {
      wrong += fa_forward(opened.get(), &params, nullptr) != FA_NO_KERNEL;
      wrong += std::string(fa_last_error()).find(variant) == std::string::npos;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, OpenAndCloseOneFolder) {
  QuietDriver driver;
  TestFolder folder(library());
  Failures failures;
  onThreads([&](int) {
    for (int round = 0; round < kRounds; ++round) {
      fa_library *opened = nullptr;
      failures.add(fa_library_open(folder.path().c_str(), &opened));
      failures.add(fa_kernel_load(opened, size_t(round) % 4));
      fa_kernel_info info = {};
      info.struct_size = sizeof(info);
      failures.add(fa_library_kernel_info(opened, 0, &info));
      fa_library_close(opened);
    }
  });
  EXPECT_EQ(failures.reasons, std::set<std::string>());
  EXPECT_EQ(unloads.get(), kThreads * kRounds);
}
