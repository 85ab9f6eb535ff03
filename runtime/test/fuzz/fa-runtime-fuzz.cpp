//===- fa-runtime-fuzz.cpp - Damaged kernel libraries ---------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   fa-runtime-fuzz FOLDER [COUNT [FIRST]]
//
// Damages the library of a folder that fa-gen wrote COUNT times, each time in
// one way that its seed determines (the numbers from FIRST on), and uses it
// through the C API: it is refused with a line that names the file, or it
// serves. Compiled with the address and undefined-behaviour sanitizers, which
// end it where the runtime does what it must not.
//
//===----------------------------------------------------------------------===//

#include "Damage.h"
#include "FakeDriver.h"
#include "Requests.h"
#include "TestLibrary.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <elf.h>
#include <fstream>
#include <iterator>

using namespace fa;
using namespace fa::test;

namespace {

/// All that is asked of a library.
struct Requests {
  explicit Requests(const json &manifest);
  std::deque<Request> forward;
  std::deque<ProgramRequest> programs;
};

/// One damaged library, and what is wrong with how the runtime takes it.
class Trial {
public:
  /// `folder` holds the library, which is damaged only while this lives.
  Trial(const Content &original, const TestFolder &folder,
        const Requests &requests, uint64_t seed);
  ~Trial();

  /// Whether the library is as it should be: refused or serving.
  bool run();

private:
  void use(fa_library *library);
  void load(fa_library *library, size_t index);
  void forward(fa_library *library);
  void launchPrograms(fa_library *library);
  /// Whether the last call's reason is one line that begins with a path in the
  /// library's folder.
  bool namesFile(const std::string &file = "") const;
  void expect(bool holds, const std::string &rule);

  const Content &original;
  const TestFolder &files;
  const Requests &requests;
  uint64_t seed;
  Damage damage;
  bool isRight = true;
};

} // namespace

static std::string read(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    std::fprintf(stderr, "fa-runtime-fuzz: %s: cannot be read\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(stream), {}};
}

static Content readLibrary(const std::string &folder) {
  Content content;
  content.manifest = read(folder + "/manifest.json");
  json manifest = json::parse(content.manifest);
  for (const char *list : {"kernels", "programs"})
    if (manifest.contains(list))
      for (const json &entry : manifest[list]) {
        std::string file = entry["file"];
        content.files[file] = read(folder + "/" + file);
      }
  return content;
}

Requests::Requests(const json &manifest) {
  for (const json &kernel : manifest["kernels"])
    forward.emplace_back(kernel);
  if (manifest.contains("programs"))
    for (const json &program : manifest["programs"])
      programs.emplace_back(program);
}

/// Reads an ELF file's tables where its header says that they are, as the
/// driver does, which is not told how many bytes there are.
static rt::CuResult loadByHeader(rt::CuModule *module, const void *image) {
  const auto *bytes = static_cast<const unsigned char *>(image);
  *module = reinterpret_cast<rt::CuModule>(0x100);
  if (std::strncmp(reinterpret_cast<const char *>(bytes), ELFMAG, SELFMAG) != 0)
    return rt::kCudaSuccess;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof(header));
  unsigned sum = 0;
  for (size_t i = 0, e = size_t(header.e_shnum) * header.e_shentsize; i != e;
       ++i)
    sum += bytes[header.e_shoff + i];
  for (size_t i = 0, e = size_t(header.e_phnum) * header.e_phentsize; i != e;
       ++i)
    sum += bytes[header.e_phoff + i];
  // A use of the sum, so that the reading stays.
  return sum == ~0u ? rt::kCudaErrorNotReady : rt::kCudaSuccess;
}

Trial::Trial(const Content &original, const TestFolder &files,
             const Requests &requests, uint64_t seed)
    : original(original), files(files), requests(requests), seed(seed) {
  Random random(seed);
  Content content = original;
  damage = fa::test::damage(content, random);
  files.write("manifest.json", content.manifest);
  if (!damage.file.empty())
    files.write(damage.file, content.files[damage.file]);
}

Trial::~Trial() {
  if (!damage.file.empty())
    files.write(damage.file, original.files.at(damage.file));
}

void Trial::expect(bool holds, const std::string &rule) {
  if (holds)
    return;
  isRight = false;
  std::printf("seed %llu, %s: %s (found: %s)\n",
              static_cast<unsigned long long>(seed), damage.description.c_str(),
              rule.c_str(), fa_last_error());
}

bool Trial::namesFile(const std::string &file) const {
  std::string text = fa_last_error();
  return text.find(files.path() + "/" + file) == 0 &&
         text.find('\n') == std::string::npos;
}

void Trial::load(fa_library *library, size_t index) {
  fa_kernel_info info = {};
  info.struct_size = sizeof(info);
  expect(fa_library_kernel_info(library, index, &info) == FA_SUCCESS,
         "a kernel of an open library has its information");
  fa_status status = fa_kernel_load(library, index);
  if (status != FA_SUCCESS)
    expect(status == FA_INVALID_LIBRARY && namesFile(info.file),
           "a kernel that is not loaded is refused by the name of its file");
  if (damage.file == info.file && damage.hasChecksums)
    expect(status != FA_SUCCESS, "a file with another checksum is refused");
}

/// Whether a status is the caller's fault or the library's, or none.
static bool isReasonable(fa_status status) {
  return status != FA_INTERNAL_ERROR && status != FA_OUT_OF_MEMORY;
}

void Trial::forward(fa_library *library) {
  size_t count = fa_library_kernel_count(library);
  for (const Request &request : requests.forward) {
    fa_forward_params params = request.params();
    size_t bytes = 0;
    for (fa_status status :
         {fa_forward(library, &params, nullptr),
          fa_forward_workspace(library, &params, &bytes),
          count ? fa_kernel_launch(library, seed % count, &params, nullptr)
                : FA_SUCCESS})
      expect(isReasonable(status), "a call fails for a reason of its own");
  }
}

void Trial::launchPrograms(fa_library *library) {
  for (const ProgramRequest &request : requests.programs) {
    const std::vector<fa_extra> &arguments = request.arguments();
    fa_status status =
        fa_program_launch(library, request.name().c_str(), arguments.data(),
                          arguments.size(), nullptr);
    expect(isReasonable(status), "a program fails for a reason of its own");
    if (damage.file == request.file() && damage.hasChecksums)
      expect(status == FA_INVALID_LIBRARY && namesFile(damage.file),
             "a program's file with another checksum is refused by its name");
  }
}

void Trial::use(fa_library *library) {
  for (size_t i = 0, e = fa_library_kernel_count(library); i != e; ++i)
    load(library, i);
  forward(library);
  launchPrograms(library);
}

bool Trial::run() {
  FakeDriver fake;
  fake.table.moduleLoadData = loadByHeader;
  fa_library *library = nullptr;
  fa_status status = fa_library_open(files.path().c_str(), &library);
  if (status == FA_SUCCESS)
    use(library);
  else
    expect(status == FA_INVALID_LIBRARY && namesFile(),
           "a library that is not opened is refused by the name of a file");
  fa_library_close(library);
  return isRight;
}

/// Whether the library as it is answers every request, without which the trials
/// would say little.
static bool isServing(const std::string &folder, const Requests &requests) {
  FakeDriver fake;
  fa_library *library = nullptr;
  bool serves = fa_library_open(folder.c_str(), &library) == FA_SUCCESS;
  for (const Request &request : requests.forward) {
    fa_forward_params params = request.params();
    serves = serves && fa_forward(library, &params, nullptr) == FA_SUCCESS;
  }
  for (const ProgramRequest &request : requests.programs)
    serves = serves && fa_program_launch(library, request.name().c_str(),
                                         request.arguments().data(),
                                         request.arguments().size(),
                                         nullptr) == FA_SUCCESS;
  fa_library_close(library);
  return serves;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: fa-runtime-fuzz FOLDER [COUNT [FIRST]]\n");
    return 2;
  }
  uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  Content original = readLibrary(argv[1]);
  Requests requests(json::parse(original.manifest));
  if (!isServing(argv[1], requests)) {
    std::printf("the library does not serve: %s\n", fa_last_error());
    return 1;
  }
  TestFolder folder(original.manifest);
  for (const auto &[name, bytes] : original.files)
    folder.write(name, bytes);
  uint64_t wrong = 0;
  for (uint64_t seed = first; seed != first + count; ++seed)
    wrong += !Trial(original, folder, requests, seed).run();
  std::printf("%llu damaged libraries, %llu taken wrongly\n",
              static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(wrong));
  return wrong != 0;
}
