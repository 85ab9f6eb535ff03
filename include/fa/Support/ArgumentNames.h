//===- ArgumentNames.h - What a file calls an argument ----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR forgets the names of values; files and manifests name arguments by them.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SUPPORT_ARGUMENTNAMES_H
#define FA_SUPPORT_ARGUMENTNAMES_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

namespace fa {

/// The identifier at `line` and `column` (from 1) of `source`, behind its `%`;
/// "" where there is none, or only a number.
inline llvm::StringRef identifierAt(llvm::StringRef source, unsigned line,
                                    unsigned column) {
  for (; line > 1; --line)
    source = source.split('\n').second;
  source = source.drop_front(std::min<size_t>(column - 1, source.size()));
  if (!source.consume_front("%"))
    return "";
  llvm::StringRef name = source.take_while([](char c) {
    return llvm::isAlnum(c) || llvm::StringRef("_$.-").contains(c);
  });
  return llvm::all_of(name, llvm::isDigit) ? "" : name;
}

/// Gives the function's arguments that have none a name as their location: the
/// text after the `%` in `source`, from which they were parsed.
inline void nameArguments(mlir::Block &entry, llvm::StringRef source) {
  for (mlir::BlockArgument argument : entry.getArguments()) {
    auto place = llvm::dyn_cast<mlir::FileLineColLoc>(argument.getLoc());
    if (!place)
      continue;
    llvm::StringRef name =
        identifierAt(source, place.getLine(), place.getColumn());
    if (!name.empty())
      argument.setLoc(mlir::NameLoc::get(
          mlir::StringAttr::get(argument.getContext(), name), place));
  }
}

/// An argument's name, where it has one, else "arg4" by its number.
inline std::string nameOf(mlir::BlockArgument argument) {
  if (auto name = argument.getLoc()->findInstanceOf<mlir::NameLoc>())
    return name.getName().str();
  return "arg" + std::to_string(argument.getArgNumber());
}

/// Whether `given` on a command line means this argument: its name, its number,
/// or "arg" and its number.
inline bool isMeant(llvm::StringRef given, mlir::BlockArgument argument) {
  std::string number = std::to_string(argument.getArgNumber());
  return given == nameOf(argument) || given == number ||
         given == "arg" + number;
}

} // namespace fa

#endif // FA_SUPPORT_ARGUMENTNAMES_H
