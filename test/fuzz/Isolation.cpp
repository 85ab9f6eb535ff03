//===- Isolation.cpp - Work that may end its process -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Isolation.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace fa::fuzz;

namespace {
/// What parent and child both see.
struct Shared {
  uint64_t current;
  uint64_t outcomes[kNumOutcomes];
};
} // namespace

static Shared *makeShared() {
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    llvm::report_fatal_error("no shared memory");
  return new (memory) Shared();
}

/// Address space of this process in bytes, as Linux tells it.
static uint64_t addressSpace() {
  unsigned long pages = 0;
  if (FILE *file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%lu", &pages) != 1)
      pages = 0;
    fclose(file);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

/// Ends this process when it has used `seconds` of its processor, from now on.
static void startClock(unsigned seconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

/// The child: the items from `shared.current` to `last`.
[[noreturn]] static void
runBatch(Shared &shared, uint64_t last, const Limits &limits, int output,
         llvm::function_ref<std::function<Outcome(uint64_t)>()> makeRunner) {
  // The signals' own ends: no handler that prints a stack.
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGPROF})
    std::signal(signal, SIG_DFL);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  rlimit memory = {addressSpace() + limits.memoryBytes,
                   addressSpace() + limits.memoryBytes};
  setrlimit(RLIMIT_AS, &memory);
  dup2(output, STDERR_FILENO);
  std::function<Outcome(uint64_t)> run = makeRunner();
  for (; shared.current < last; ++shared.current) {
    if (ftruncate(output, 0) || lseek(output, 0, SEEK_SET))
      _exit(1);
    startClock(limits.seconds);
    Outcome outcome = run(shared.current);
    ++shared.outcomes[static_cast<size_t>(outcome)];
  }
  _exit(0);
}

/// Why a child ended by itself, from waitpid's status.
static std::string describeEnd(int status, const Limits &limits) {
  if (!WIFSIGNALED(status))
    return "exited with " + std::to_string(WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGPROF)
    return "took more than " + std::to_string(limits.seconds) + " s";
  return strsignal(WTERMSIG(status));
}

static std::string readAll(FILE *file) {
  std::string text;
  char buffer[4096];
  rewind(file);
  while (size_t count = fread(buffer, 1, sizeof(buffer), file))
    text.append(buffer, count);
  return text;
}

Summary fa::fuzz::runIsolated(
    Range range, uint64_t batch, const Limits &limits,
    llvm::function_ref<std::function<Outcome(uint64_t)>()> makeRunner,
    llvm::function_ref<void(const Crash &)> report) {
  Shared &shared = *makeShared();
  FILE *output = tmpfile();
  if (!output)
    llvm::report_fatal_error("no temporary file");
  Summary summary;
  shared.current = range.first;
  while (shared.current < range.last) {
    uint64_t last = std::min(shared.current + batch, range.last);
    pid_t child = fork();
    if (child < 0)
      llvm::report_fatal_error("cannot fork");
    if (child == 0)
      runBatch(shared, last, limits, fileno(output), makeRunner);
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0)
      continue;
    ++summary.crashes;
    report({shared.current, describeEnd(status, limits), readAll(output)});
    ++shared.current;
  }
  std::copy(std::begin(shared.outcomes), std::end(shared.outcomes),
            std::begin(summary.outcomes));
  fclose(output);
  munmap(&shared, sizeof(Shared));
  return summary;
}

bool fa::fuzz::runApart(llvm::function_ref<void()> run) {
  pid_t child = fork();
  if (child < 0)
    llvm::report_fatal_error("cannot fork");
  if (child == 0) {
    startClock(Limits().seconds);
    run();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}
