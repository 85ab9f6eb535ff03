//===- Progress.h - Where a long run stands -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TOOLS_FA_RUN_PROGRESS_H
#define FA_TOOLS_FA_RUN_PROGRESS_H

#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace fa::run {

/// Says on stderr, while it lives, what runs and for how long: once a second
/// from the second second on where stderr is a terminal; from the start, and at
/// the end, where that is asked for.
class Progress {
public:
  Progress(llvm::StringRef phase, bool isAsked);
  ~Progress();

  /// Parts that are done, from any thread.
  void update(int64_t done, int64_t total);

private:
  void watch();
  void print(const char *end);
  double getSeconds() const;

  std::string phase;
  bool isAsked, isTerminal, hasPrinted = false, isOver = false;
  std::chrono::steady_clock::time_point start;
  std::atomic<int64_t> done{0}, total{0};
  std::mutex mutex;
  std::condition_variable over;
  std::thread watcher;
};

} // namespace fa::run

#endif // FA_TOOLS_FA_RUN_PROGRESS_H
