//===- JsonField.h - A JSON value that knows its path -----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a JSON document so that each refusal names the file, the field, the
// rule and the value found.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_JSONFIELD_H
#define FLASHLOOM_RUNTIME_JSONFIELD_H

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

namespace fa::rt {

/// A value inside a document that outlives it. Every member that reads throws
/// Failure(FA_INVALID_LIBRARY) on a value of another kind.
class JsonField {
public:
  JsonField(const nlohmann::json &value, const std::string &file,
            const std::string &path = "")
      : value(value), file(file), path(path) {}

  /// A member of an object.
  JsonField operator[](const char *key) const;
  bool has(const char *key) const;
  bool isInteger() const;
  bool isObject() const;

  size_t arraySize() const;
  JsonField at(size_t index) const;

  std::string string() const;
  /// A string that is not empty.
  std::string name() const;
  /// The position of a string in a list of choices.
  size_t choice(std::initializer_list<const char *> choices) const;
  int64_t integer(int64_t low, int64_t high) const;
  bool boolean() const;

  /// Throws: the field `rule`, and the value found.
  [[noreturn]] void refuse(const std::string &rule) const;

private:
  const nlohmann::json &value;
  std::string file, path;
};

/// Parses a document; throws Failure(FA_INVALID_LIBRARY) with the position of
/// the first error, and on one nested more than 32 deep.
nlohmann::json parseJson(const std::string &text, const std::string &file);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_JSONFIELD_H
