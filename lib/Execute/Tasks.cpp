//===- Tasks.cpp - Tasks that run compiled code -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tasks.h"

#include "mlir/ExecutionEngine/AsyncRuntime.h"

#include <condition_variable>
#include <mutex>

using namespace mlir::runtime;

namespace {
/// A coroutine that waits for a thread.
struct Task {
  CoroHandle handle;
  CoroResume resume;
};

/// The tasks that have not returned.
struct Running {
  std::mutex mutex;
  std::condition_variable none;
  int64_t count = 0;
};
} // namespace

/// Never destroyed: the runtime's threads end after statics of this file do.
static Running &running() {
  static auto *tasks = new Running;
  return *tasks;
}

static void runTask(void *argument) {
  auto *task = static_cast<Task *>(argument);
  task->resume(task->handle);
  delete task;
  std::lock_guard<std::mutex> lock(running().mutex);
  if (--running().count == 0)
    running().none.notify_all();
}

static void startTask(CoroHandle handle, CoroResume resume) {
  {
    std::lock_guard<std::mutex> lock(running().mutex);
    ++running().count;
  }
  mlirAsyncRuntimeExecute(new Task{handle, resume}, &runTask);
}

std::pair<llvm::StringLiteral, void *> fa::execute::tasks::getSymbol() {
  return {"mlirAsyncRuntimeExecute", reinterpret_cast<void *>(&startTask)};
}

void fa::execute::tasks::waitForAll() {
  std::unique_lock<std::mutex> lock(running().mutex);
  running().none.wait(lock, [] { return running().count == 0; });
}
