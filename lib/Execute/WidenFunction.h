//===- WidenFunction.h - A function in another precision --------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_EXECUTE_WIDENFUNCTION_H
#define FA_LIB_EXECUTE_WIDENFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fa::execute {

/// Makes all floats of `function` f64, arguments and results among them, in
/// place: what it says, without its roundings. Fails with a diagnostic where an
/// op reads the bits of a float.
mlir::LogicalResult widenFunction(mlir::func::FuncOp function);

} // namespace fa::execute

#endif // FA_LIB_EXECUTE_WIDENFUNCTION_H
