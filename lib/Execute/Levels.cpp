//===- Levels.cpp - Which passes the CPU can follow -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Levels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace fa::execute;
using llvm::StringRef;

llvm::ArrayRef<llvm::StringLiteral> fa::execute::getPassesBelowLevelC() {
  static constexpr llvm::StringLiteral names[] = {
      "map-warps",       "stage-tiles",   "prefetch",  "specialize-warps",
      "overlap-softmax", "overlap-tiles", "ping-pong", "persistent",
      "unroll-stages",   "lower-to-nvvm", "emit-cubin"};
  return names;
}

llvm::ArrayRef<llvm::StringLiteral> fa::execute::getPassesBelowLevelD() {
  static constexpr llvm::StringLiteral names[] = {"lower-to-nvvm",
                                                  "emit-cubin"};
  return names;
}

static bool isNameChar(char c) {
  return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.';
}

/// Options stand in braces: skips from the opening brace at `pos` past the
/// closing one.
static size_t skipOptions(StringRef text, size_t pos) {
  for (int depth = 0; pos < text.size(); ++pos) {
    depth += text[pos] == '{' ? 1 : text[pos] == '}' ? -1 : 0;
    if (depth == 0)
      return pos + 1;
  }
  return pos;
}

StringRef fa::execute::findPass(StringRef text,
                                llvm::ArrayRef<llvm::StringLiteral> passes) {
  for (size_t pos = 0; pos < text.size();) {
    if (text[pos] == '{') {
      pos = skipOptions(text, pos);
      continue;
    }
    StringRef name = text.substr(pos).take_while(isNameChar);
    if (llvm::is_contained(passes, name))
      return name;
    pos += std::max<size_t>(name.size(), 1);
  }
  return "";
}

/// `text` without the check of what a pipeline makes kernels of.
static std::string dropCheck(StringRef text) {
  constexpr llvm::StringLiteral check = "check-support";
  size_t begin = text.find(check);
  if (begin == StringRef::npos)
    return text.str();
  size_t end = begin + check.size();
  if (end < text.size() && text[end] == '{')
    end = skipOptions(text, end);
  StringRef rest = text.substr(end);
  rest.consume_front(",");
  return (text.take_front(begin) + rest).str();
}

std::string fa::execute::cutBelow(StringRef text,
                                  llvm::ArrayRef<llvm::StringLiteral> passes) {
  StringRef below = findPass(text, passes);
  if (below.empty())
    return text.str();
  StringRef kept = text.take_front(below.data() - text.data()).rtrim(", ");
  // A nest of which nothing is left has no textual form; the outermost stays.
  while (kept.consume_back("(")) {
    StringRef name = kept;
    while (!kept.empty() && isNameChar(kept.back()))
      kept = kept.drop_back();
    if (kept.empty()) {
      kept = text.take_front(name.size() + 1);
      break;
    }
    kept = kept.rtrim(", ");
  }
  // What is open where the text was cut must be closed again.
  std::string result = kept.str();
  result.append(kept.count('(') - kept.count(')'), ')');
  return dropCheck(result);
}
