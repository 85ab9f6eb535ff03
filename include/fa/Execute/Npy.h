//===- Npy.h - Tensors in .npy files -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_EXECUTE_NPY_H
#define FA_EXECUTE_NPY_H

#include "fa/Execute/HostTensor.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace fa::execute {

/// Reads an array in NumPy's format, versions 1.0 to 3.0, into a tensor of
/// `element`. The file must be little-endian and in C order. Floats of 16, 32
/// and 64 bits are rounded to a float `element`; for bf16 the file may also
/// hold its bits, which NumPy calls V2. Integers and booleans fill an integer
/// `element`, in which each must fit. Errors name the file.
llvm::Expected<HostTensor> readNpy(llvm::StringRef file, mlir::Type element);

/// Writes a tensor of floats in NumPy's format 1.0: f16, f32 and f64 as they
/// are, bf16, which NumPy does not have, as f32. Errors name the file.
llvm::Error writeNpy(llvm::StringRef file, const HostTensor &tensor);

} // namespace fa::execute

#endif // FA_EXECUTE_NPY_H
