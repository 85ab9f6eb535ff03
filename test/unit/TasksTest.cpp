//===- TasksTest.cpp - Compiled code outlives its tasks -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execute/Tasks.h"
#include "fa/Execute/Jit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/AsyncRuntime.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace fa::execute;
using namespace mlir::runtime;

namespace {

/// A task as compiled code makes them: it wakes who awaits it, and goes on.
struct Task {
  AsyncToken *token = mlirAsyncRuntimeCreateToken();
  std::atomic<bool> returned{false};

  static void run(void *argument) {
    auto *task = static_cast<Task *>(argument);
    mlirAsyncRuntimeEmplaceToken(task->token);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    task->returned = true;
  }
};

TEST(TasksTest, WaitsUntilTasksReturn) {
  auto [name, function] = tasks::getSymbol();
  EXPECT_EQ(name, "mlirAsyncRuntimeExecute");
  auto execute = reinterpret_cast<void (*)(CoroHandle, CoroResume)>(function);
  Task first, second;
  execute(&first, &Task::run);
  execute(&second, &Task::run);
  mlirAsyncRuntimeAwaitToken(first.token);
  mlirAsyncRuntimeAwaitToken(second.token);
  tasks::waitForAll();
  EXPECT_TRUE(first.returned && second.returned);
  for (Task *task : {&first, &second})
    mlirAsyncRuntimeDropRef(task->token, 1);
}

// Freed under a task, compiled code would be gone when the task returns to it.
TEST(TasksTest, CompiledCodeOutlivesItsTasks) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"mlir(
    llvm.func @mlirAsyncRuntimeExecute(!llvm.ptr, !llvm.ptr)
    llvm.func @_mlir_ciface_start(%task: !llvm.ptr, %run: !llvm.ptr) {
      llvm.call @mlirAsyncRuntimeExecute(%task, %run) : (!llvm.ptr, !llvm.ptr) -> ()
      llvm.return
    })mlir",
                                                        &context);
  ASSERT_TRUE(module);
  Task task;
  {
    llvm::Expected<Jit> jit = Jit::compile(*module, /*optimize=*/false);
    ASSERT_TRUE(bool(jit)) << llvm::toString(jit.takeError());
    llvm::Expected<Jit::Function> start = jit->lookup("start");
    ASSERT_TRUE(bool(start)) << llvm::toString(start.takeError());
    void *handle = &task, *run = reinterpret_cast<void *>(&Task::run);
    void *arguments[] = {&handle, &run};
    (*start)(arguments);
    mlirAsyncRuntimeAwaitToken(task.token);
  }
  EXPECT_TRUE(task.returned);
  mlirAsyncRuntimeDropRef(task.token, 1);
}

TEST(TasksTest, WaitsForNothing) { tasks::waitForAll(); }

} // namespace
