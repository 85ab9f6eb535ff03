//===- Tasks.h - Tasks that run compiled code -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_EXECUTE_TASKS_H
#define FA_LIB_EXECUTE_TASKS_H

#include "llvm/ADT/StringRef.h"

#include <utility>

namespace fa::execute::tasks {

/// The function by which compiled code hands a task to the threads of MLIR's
/// async runtime, under the runtime's own name. It counts the tasks that have
/// not returned.
std::pair<llvm::StringLiteral, void *> getSymbol();

/// Waits until every task of this process has returned. Who awaits a task's
/// token is woken while the task still runs its last instructions, so compiled
/// code must not be freed before this.
void waitForAll();

} // namespace fa::execute::tasks

#endif // FA_LIB_EXECUTE_TASKS_H
