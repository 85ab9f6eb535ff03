//===- Mutator.cpp - One text into another -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mutator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace fa::fuzz;
using llvm::StringRef;

/// Where arithmetic on sizes goes wrong, if it does.
static constexpr StringRef kNumbers[] = {"0",
                                         "1",
                                         "2",
                                         "3",
                                         "4",
                                         "5",
                                         "7",
                                         "8",
                                         "15",
                                         "16",
                                         "17",
                                         "31",
                                         "32",
                                         "33",
                                         "48",
                                         "63",
                                         "64",
                                         "65",
                                         "96",
                                         "100",
                                         "127",
                                         "128",
                                         "192",
                                         "256",
                                         "1000",
                                         "65535",
                                         "65536",
                                         "2147483647",
                                         "-1",
                                         "-2",
                                         "-64",
                                         "?",
                                         "*",
                                         "4294967296",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551616"};

static constexpr StringRef kElementTypes[] = {
    "f16", "bf16", "f32", "f64", "f8E4M3FN", "i1", "i8", "i32", "i64", "index"};

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Deletes, repeats, swaps or exchanges one token.
static std::string changeToken(StringRef text, const Corpus &corpus,
                               Random &random) {
  std::vector<Token> tokens = splitTokens(text);
  size_t i = random.below(tokens.size());
  switch (random.below(6)) {
  case 0:
    tokens.erase(tokens.begin() + i);
    break;
  case 1:
    tokens.insert(tokens.begin() + i, Token(tokens[i]));
    break;
  case 2:
    std::swap(tokens[i].text, random.pick(tokens).text);
    break;
  default:
    tokens[i].text = random.pick(corpus.words(tokens[i].kind));
  }
  return joinTokens(tokens);
}

/// Exchanges a value for another of the same text, most often of one type.
static std::string changeOperand(StringRef text, Random &random) {
  std::vector<Token> tokens = splitTokens(text);
  std::vector<Token *> values;
  for (Token &token : tokens)
    if (token.kind == TokenKind::Value)
      values.push_back(&token);
  if (!values.empty())
    random.pick(values)->text = random.pick(values)->text;
  return joinTokens(tokens);
}

//===----------------------------------------------------------------------===//
// Numbers and types
//===----------------------------------------------------------------------===//

/// Replaces one of the parts of `text` that `find` gives, as [begin, end).
template <typename Find>
static std::string replaceOne(StringRef text, Find find, StringRef by,
                              Random &random) {
  std::vector<std::pair<size_t, size_t>> parts;
  for (size_t i = 0; i < text.size();) {
    size_t length = find(text, i);
    if (length)
      parts.emplace_back(i, i + length);
    i += std::max<size_t>(length, 1);
  }
  if (parts.empty())
    return text.str();
  auto [begin, end] = random.pick(parts);
  return (text.take_front(begin) + by + text.drop_front(end)).str();
}

/// A size, offset or constant: digits that are not part of a name. `x` joins
/// the dimensions of a type.
static size_t numberAt(StringRef text, size_t i) {
  char before = i ? text[i - 1] : ' ';
  if (llvm::isAlpha(before) && before != 'x')
    return 0;
  if (before == '_' || before == '%' || before == '#' || llvm::isDigit(before))
    return 0;
  if (text[i] == '?')
    return 1;
  return text.drop_front(i).take_while(llvm::isDigit).size();
}

static size_t elementTypeAt(StringRef text, size_t i) {
  char before = i ? text[i - 1] : ' ';
  if (before == '_' || (llvm::isAlnum(before) && before != 'x'))
    return 0;
  for (StringRef type : kElementTypes) {
    StringRef rest = text.drop_front(i);
    if (rest.consume_front(type) &&
        (rest.empty() || !(llvm::isAlnum(rest.front()) || rest.front() == '_')))
      return type.size();
  }
  return 0;
}

/// Adds a dimension to a type or takes one away.
static std::string changeRank(StringRef text, Random &random) {
  auto dimensionAt = [](StringRef text, size_t i) -> size_t {
    size_t length = numberAt(text, i);
    return length && text.drop_front(i + length).starts_with("x") ? length + 1
                                                                  : 0;
  };
  return replaceOne(text, dimensionAt, random.oneIn(2) ? "" : "2x4x", random);
}

/// Changes every occurrence of one number or type, so that types still agree.
static std::string changeEverywhere(StringRef text, Random &random) {
  std::vector<Token> tokens = splitTokens(text);
  const Token &token = random.pick(tokens);
  StringRef digits = StringRef(token.text).take_while([](char c) {
    return llvm::isDigit(c) || c == '?' || c == 'x';
  });
  std::string from = digits.empty() || random.oneIn(3)
                         ? random.pick(kElementTypes).str()
                         : digits.split('x').first.str();
  if (from.empty())
    return text.str();
  std::string to = llvm::isAlpha(from[0]) ? random.pick(kElementTypes).str()
                                          : random.pick(kNumbers).str();
  std::string result;
  auto [head, rest] = text.split(from);
  result = head.str();
  while (head.size() + rest.size() < text.size()) {
    result += to;
    text = rest;
    std::tie(head, rest) = text.split(from);
    result += head;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Operations, which are mostly lines
//===----------------------------------------------------------------------===//

static std::vector<std::string> splitLines(StringRef text) {
  std::vector<std::string> lines;
  for (StringRef line : llvm::split(text.rtrim(), '\n'))
    lines.push_back(line.str());
  return lines;
}

static std::string joinLines(llvm::ArrayRef<std::string> lines) {
  return llvm::join(lines, "\n") + "\n";
}

/// `line` with results of names of their own.
static std::string renameResults(StringRef line) {
  auto [results, rest] = line.split('=');
  if (!results.ltrim().starts_with("%") || rest.empty())
    return line.str();
  std::string renamed;
  for (char c : results)
    renamed += c == '%' ? "%again_" : std::string(1, c);
  return renamed + "=" + rest.str();
}

/// Repeats, deletes or moves one line.
static std::string changeLine(StringRef text, Random &random) {
  std::vector<std::string> lines = splitLines(text);
  size_t from = random.below(lines.size()), to = random.below(lines.size());
  switch (random.below(4)) {
  case 0:
    lines.erase(lines.begin() + from);
    break;
  case 1:
    std::swap(lines[from], lines[to]);
    break;
  case 2:
    lines.insert(lines.begin() + to, renameResults(lines[from]));
    break;
  default:
    lines.insert(lines.begin() + from, renameResults(lines[from]));
  }
  return joinLines(lines);
}

/// The beginning of `text` and the end of another.
static std::string splice(StringRef text, const Corpus &corpus,
                          Random &random) {
  StringRef other = random.pick(corpus.texts());
  // Two modules one after the other, or cut in their middles.
  if (random.oneIn(2))
    return (text + other).str();
  std::vector<std::string> head = splitLines(text), tail = splitLines(other);
  head.resize(random.below(head.size() + 1));
  head.insert(head.end(), tail.begin() + random.below(tail.size()), tail.end());
  return joinLines(head);
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

static std::string change(StringRef text, const Corpus &corpus,
                          Random &random) {
  switch (random.below(16)) {
  case 0:
  case 1:
    return changeToken(text, corpus, random);
  case 2:
  case 3:
    return changeOperand(text, random);
  case 4:
  case 5:
  case 6:
    return replaceOne(text, numberAt, random.pick(kNumbers), random);
  case 7:
    return replaceOne(text, elementTypeAt, random.pick(kElementTypes), random);
  case 8:
    return changeRank(text, random);
  case 9:
  case 10:
  case 11:
    return changeEverywhere(text, random);
  case 12:
  case 13:
    return changeLine(text, random);
  case 14:
    return text.take_front(random.below(text.size())).str();
  default:
    return splice(text, corpus, random);
  }
}

std::string fa::fuzz::mutate(const Corpus &corpus, Random &random) {
  // Texts that are wrong by themselves, for our verifiers' sake, teach little
  // more.
  std::string text =
      random.pick(random.oneIn(6) ? corpus.texts() : corpus.validTexts());
  // Most changes break a text, and what follows then tests the parser alone.
  static constexpr size_t kCounts[] = {0, 1, 1, 1, 1, 1, 2, 2, 3, 4};
  for (size_t i = 0, count = random.pick(kCounts); i < count; ++i)
    if (!StringRef(text).trim().empty())
      text = change(text, corpus, random);
  return text;
}
