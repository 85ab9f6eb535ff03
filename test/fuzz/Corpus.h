//===- Corpus.h - The texts that mutants are made of -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_TEST_FUZZ_CORPUS_H
#define FA_TEST_FUZZ_CORPUS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <string>
#include <vector>

namespace fa::fuzz {

/// What a token is, so that it can be exchanged for another of its kind.
enum class TokenKind { Value, Name, Type, Number, String, Word, Sign };
constexpr size_t kNumTokenKinds = 7;

/// A word of MLIR with the white space behind it.
struct Token {
  TokenKind kind;
  std::string text;
  std::string space;
};

/// Cuts `text` into tokens; `joinTokens` gives the same text.
std::vector<Token> splitTokens(llvm::StringRef text);
std::string joinTokens(llvm::ArrayRef<Token> tokens);

/// Modules from test files, and the vocabulary in them.
class Corpus {
public:
  /// Reads the `.mlir` files below `folders`, in the order of their names.
  static llvm::Expected<Corpus> read(llvm::ArrayRef<std::string> folders);

  /// The modules' texts, without comments; at least one.
  llvm::ArrayRef<std::string> texts() const { return modules; }
  /// Those of them that are valid.
  llvm::ArrayRef<std::string> validTexts() const { return validModules; }
  /// Says which texts are valid. At least one must be.
  llvm::Error classify(llvm::function_ref<bool(llvm::StringRef)> isValid);
  /// Every text of a token of this kind, once; at least one.
  llvm::ArrayRef<std::string> words(TokenKind kind) const {
    return vocabulary[static_cast<size_t>(kind)];
  }

private:
  void add(llvm::StringRef file);
  void collectWords();

  std::vector<std::string> modules;
  std::vector<std::string> validModules;
  std::array<std::vector<std::string>, kNumTokenKinds> vocabulary;
};

} // namespace fa::fuzz

#endif // FA_TEST_FUZZ_CORPUS_H
