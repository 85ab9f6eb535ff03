//===- LibraryTest.cpp - Opening libraries and loading kernels ------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"

#include "FakeDriver.h"
#include "TestLibrary.h"

#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>
#include <thread>

using namespace fa;
using namespace fa::rt;
using namespace fa::test;

TEST(Library, OpensWithoutADriver) {
  TestFolder folder(manifestJson({kernelJson("a"), kernelJson("b")}));
  Library library(folder.path());
  EXPECT_EQ(library.kernels().size(), 2u);
  EXPECT_EQ(library.kernel(1).name, "b");
  EXPECT_EQ(failureOf([&] { library.kernel(2); }),
            "kernel index must be below 2 (found 2)");
}

TEST(Library, RefusesMissingFiles) {
  EXPECT_EQ(failureOf([] { Library("/nonexistent"); }),
            "/nonexistent/manifest.json: cannot be read: No such file or "
            "directory");
  TestFolder folder(manifestJson({kernelJson("a")}));
  folder.write("a.cubin", "");
  EXPECT_EQ(failureOf([&] { Library(folder.path()); }),
            folder.path() + "/a.cubin: the file of kernel a: empty");
  folder.remove("a.cubin");
  EXPECT_EQ(failureOf([&] { Library(folder.path()); }),
            folder.path() +
                "/a.cubin: the file of kernel a: No such file or directory");
}

TEST(Library, NamesTheManifestInRefusals) {
  TestFolder folder(std::string("{}"));
  EXPECT_EQ(failureOf([&] { Library(folder.path()); }),
            folder.path() + "/manifest.json: flashloom is missing");
}

TEST(Library, LoadsOncePerKernelAndContext) {
  FakeDriver fake;
  TestFolder folder(manifestJson({kernelJson("a"), kernelJson("b")}));
  {
    Library library(folder.path());
    EXPECT_EQ(fake.count("moduleLoadData"), 0u);
    CuFunction a = library.function(0).handle;
    EXPECT_EQ(library.function(0).handle, a);
    EXPECT_EQ(fake.count("moduleLoadData"), 1u);
    EXPECT_NE(library.function(1).handle, a);
    fake.context = 2;
    EXPECT_NE(library.function(0).handle, a);
    EXPECT_EQ(fake.images, (std::vector<std::string>{"image of a", "image of b",
                                                     "image of a"}));
    EXPECT_EQ(fake.count("moduleGetFunction attention"), 3u);
    EXPECT_EQ(fake.count("moduleUnload"), 0u);
  }
  EXPECT_EQ(fake.count("moduleUnload"), 3u);
  EXPECT_EQ(fake.count("push 1"), 2u);
  EXPECT_EQ(fake.count("push 2"), 1u);
  EXPECT_EQ(fake.count("pop"), 3u);
}

TEST(Library, AsksForSharedMemoryOverTheDefault) {
  FakeDriver fake;
  json small = kernelJson("small");
  small["shared_bytes"] = 48 * 1024;
  TestFolder folder(manifestJson({small, kernelJson("large")}));
  Library library(folder.path());
  library.function(0);
  EXPECT_TRUE(fake.functionAttributes.empty());
  library.function(1);
  EXPECT_EQ(fake.functionAttributes,
            (std::vector<std::pair<int, int>>{{8, 98304}}));
}

TEST(Library, LoadsOnceFromManyThreads) {
  FakeDriver fake;
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { library.function(0); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fake.count("moduleLoadData"), 1u);
}

TEST(Library, LeavesTheCaptureModeAsItWas) {
  FakeDriver fake;
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  library.function(0);
  EXPECT_EQ(fake.count("exchangeCaptureMode"), 2u);
  EXPECT_EQ(fake.captureMode, 0);
}

TEST(Library, WorksWithoutOptionalFunctions) {
  FakeDriver fake;
  fake.table.ctxGetId = nullptr;
  fake.table.threadExchangeStreamCaptureMode = nullptr;
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  CuFunction a = library.function(0).handle;
  EXPECT_EQ(library.function(0).handle, a);
}

TEST(Library, NamesTheFileThatTheDriverRefuses) {
  FakeDriver fake;
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  fake.failures["moduleLoadData"] = 200;
  EXPECT_EQ(failureOf([&] { library.function(0); }),
            folder.path() +
                "/a.cubin: loading failed: CUDA_ERROR_FAKE: a fake error "
                "(compiled by ptxas 13.0.88; the driver is for CUDA 12.4)");
  fake.failures = {{"moduleGetFunction attention", 500}};
  EXPECT_EQ(failureOf([&] { library.function(0); }),
            folder.path() + "/a.cubin: looking up the entry attention failed: "
                            "CUDA_ERROR_FAKE: a fake error");
  EXPECT_EQ(fake.count("moduleUnload"), 1u);
  fake.failures = {{"funcSetAttribute", 1}};
  EXPECT_EQ(failureOf([&] { library.function(0); }),
            folder.path() + "/a.cubin: asking for 98304 bytes of shared memory "
                            "failed: CUDA_ERROR_FAKE: a fake error");
  fake.failures.clear();
  EXPECT_NE(library.function(0).handle, nullptr);
}

TEST(Library, NeedsACurrentContext) {
  FakeDriver fake;
  TestFolder folder(manifestJson({kernelJson("a")}));
  Library library(folder.path());
  fake.context = 0;
  EXPECT_EQ(failureOf([&] { library.function(0); }),
            "no CUDA context is current on this thread");
  fake.failures["ctxGetCurrent"] = kCudaErrorNotInitialized;
  EXPECT_EQ(failureOf([&] { library.function(0); }),
            "no CUDA context is current on this thread");
}

/// The failure to load the one kernel of `folder`.
static std::string loadingFailure(const TestFolder &folder) {
  Library library(folder.path());
  return failureOf([&] { library.function(0); });
}

TEST(Library, RefusesAnotherFileThanWasCompiled) {
  FakeDriver fake;
  json kernel = kernelJson("a");
  kernel["crc32"] = 0xCBF43926; // of "123456789", as in every page on CRC-32
  TestFolder folder(manifestJson({kernel}));
  EXPECT_EQ(loadingFailure(folder),
            folder.path() +
                "/a.cubin: not the file that was compiled: its CRC-32 must be "
                "cbf43926 (found 28d26737)");
  EXPECT_TRUE(fake.images.empty());
  folder.write("a.cubin", "123456789");
  EXPECT_EQ(loadingFailure(folder), "");
  EXPECT_EQ(fake.images, std::vector<std::string>{"123456789"});
}

TEST(Library, RefusesElfFilesThatEndBeforeTheirTables) {
  FakeDriver fake;
  TestFolder folder(manifestJson({kernelJson("a")}));
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  std::string file(reinterpret_cast<const char *>(&header), sizeof(header));
  file.resize(sizeof(header) + 2 * sizeof(Elf64_Shdr));
  folder.write("a.cubin", file);
  EXPECT_EQ(loadingFailure(folder), "");
  for (size_t size : {file.size() - 1, sizeof(header) - 1, size_t(SELFMAG)}) {
    folder.write("a.cubin", file.substr(0, size));
    EXPECT_EQ(loadingFailure(folder),
              folder.path() + "/a.cubin: cut off: its tables end after its " +
                  std::to_string(size) + " bytes");
  }
  EXPECT_EQ(fake.count("moduleLoadData"), 1u);
}
