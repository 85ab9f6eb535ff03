//===- Corpus.cpp - The texts that mutants are made of -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Corpus.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <set>

using namespace fa::fuzz;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static TokenKind kindOf(char first) {
  switch (first) {
  case '%':
    return TokenKind::Value;
  case '@':
  case '#':
  case '^':
    return TokenKind::Name;
  case '!':
    return TokenKind::Type;
  case '"':
    return TokenKind::String;
  default:
    if (llvm::isDigit(first) || first == '-')
      return TokenKind::Number;
    return llvm::isAlpha(first) || first == '_' ? TokenKind::Word
                                                : TokenKind::Sign;
  }
}

/// How many characters of `text`, which starts with a token of `kind`, are its.
static size_t lengthOf(StringRef text, TokenKind kind) {
  auto isWord = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
  };
  switch (kind) {
  case TokenKind::Sign:
    return text.starts_with("->") || text.starts_with("::") ? 2 : 1;
  case TokenKind::String: {
    size_t end = text.find('"', 1);
    return end == StringRef::npos ? text.size() : end + 1;
  }
  default:
    return 1 + text.drop_front().take_while(isWord).size();
  }
}

std::vector<Token> fa::fuzz::splitTokens(StringRef text) {
  std::vector<Token> tokens;
  while (!text.empty()) {
    TokenKind kind = kindOf(text.front());
    size_t length = lengthOf(text, kind);
    StringRef space = text.drop_front(length).take_while(
        [](char c) { return llvm::isSpace(c); });
    tokens.push_back({kind, text.take_front(length).str(), space.str()});
    text = text.drop_front(length + space.size());
  }
  return tokens;
}

std::string fa::fuzz::joinTokens(llvm::ArrayRef<Token> tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += token.text + token.space;
  return text;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The `.mlir` files below `folder`, sorted.
static llvm::Expected<std::set<std::string>>
findFiles(const std::string &folder) {
  std::set<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error))
    if (StringRef(it->path()).ends_with(".mlir"))
      files.insert(it->path());
  if (error)
    return llvm::createStringError(error,
                                   "cannot read the folder '" + folder + "'");
  return files;
}

/// `text` without its comments.
static std::string dropComments(StringRef text) {
  std::string kept;
  for (StringRef line : llvm::split(text, '\n'))
    kept += line.split("//").first.rtrim().str() + "\n";
  return StringRef(kept).trim().str() + "\n";
}

void Corpus::add(StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return;
  for (StringRef module : llvm::split((*buffer)->getBuffer(), "// -----"))
    if (std::string text = dropComments(module); text != "\n")
      modules.push_back(std::move(text));
}

void Corpus::collectWords() {
  std::array<std::set<std::string>, kNumTokenKinds> words;
  for (const std::string &text : modules)
    for (Token &token : splitTokens(text))
      words[static_cast<size_t>(token.kind)].insert(std::move(token.text));
  for (auto [list, set] : llvm::zip_equal(vocabulary, words))
    list.assign(set.begin(), set.end());
}

llvm::Expected<Corpus> Corpus::read(llvm::ArrayRef<std::string> folders) {
  Corpus corpus;
  for (const std::string &folder : folders) {
    auto files = findFiles(folder);
    if (!files)
      return files.takeError();
    for (const std::string &file : *files)
      corpus.add(file);
  }
  corpus.collectWords();
  for (const std::vector<std::string> &words : corpus.vocabulary)
    if (words.empty())
      return llvm::createStringError(
          "the folders hold too few .mlir files to mutate");
  return corpus;
}

llvm::Error Corpus::classify(llvm::function_ref<bool(StringRef)> isValid) {
  validModules.clear();
  llvm::copy_if(modules, std::back_inserter(validModules), isValid);
  if (validModules.empty())
    return llvm::createStringError("the folders hold no valid module");
  return llvm::Error::success();
}
