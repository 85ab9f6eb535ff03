//===- JsonField.cpp - A JSON value that knows its path -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonField.h"

#include "Failure.h"

using namespace fa::rt;
using nlohmann::json;

/// Arrays and objects inside each other. A manifest has five; the recursion
/// over a document must not run out of stack.
static constexpr int kMaxDepth = 32;

/// The longest excerpt of a document in a message, in bytes.
static constexpr size_t kMaxExcerpt = 80;

/// The longest message of the parser, which quotes a whole string.
static constexpr size_t kMaxParserMessage = 300;

/// At most `limit` bytes of UTF-8 text, without half a character at the end.
static std::string cutText(const std::string &text, size_t limit) {
  if (text.size() <= limit)
    return text;
  while (limit && (text[limit] & 0xC0) == 0x80)
    --limit;
  return text.substr(0, limit);
}

/// Appends a value as JSON text, but not much more than fills `text` to
/// kMaxExcerpt bytes: the cost is bounded, whatever the value's size.
static void appendText(const json &value, std::string &text) {
  if (value.is_string()) {
    const auto &whole = value.get_ref<const std::string &>();
    text += json(cutText(whole, kMaxExcerpt)).dump();
    return;
  }
  if (!value.is_structured()) {
    text += value.dump();
    return;
  }
  text += value.is_object() ? "{" : "[";
  bool first = true;
  for (auto it = value.begin(), e = value.end(); it != e; ++it) {
    if (text.size() > kMaxExcerpt)
      return;
    text += first ? "" : ",";
    first = false;
    if (value.is_object())
      text += json(cutText(it.key(), kMaxExcerpt)).dump() + ":";
    appendText(*it, text);
  }
  text += value.is_object() ? "}" : "]";
}

/// A value as JSON text, cut to a length that suits a message.
static std::string shortText(const json &value) {
  std::string text;
  appendText(value, text);
  return text.size() <= kMaxExcerpt ? text : cutText(text, kMaxExcerpt) + "...";
}

void JsonField::refuse(const std::string &rule) const {
  const std::string &where = path.empty() ? "the document" : path;
  throw Failure(FA_INVALID_LIBRARY, file + ": " + where + " " + rule +
                                        " (found " + shortText(value) + ")");
}

bool JsonField::has(const char *key) const {
  return value.is_object() && value.contains(key);
}

bool JsonField::isInteger() const { return value.is_number_integer(); }

bool JsonField::isObject() const { return value.is_object(); }

JsonField JsonField::operator[](const char *key) const {
  if (!value.is_object())
    refuse("must be an object");
  std::string member = path.empty() ? key : path + "." + key;
  auto found = value.find(key);
  if (found == value.end())
    throw Failure(FA_INVALID_LIBRARY, file + ": " + member + " is missing");
  return JsonField(*found, file, member);
}

size_t JsonField::arraySize() const {
  if (!value.is_array())
    refuse("must be an array");
  return value.size();
}

JsonField JsonField::at(size_t index) const {
  return JsonField(value[index], file,
                   path + "[" + std::to_string(index) + "]");
}

std::string JsonField::string() const {
  if (!value.is_string())
    refuse("must be a string");
  std::string text = value.get<std::string>();
  // Names go to C strings, where a zero would cut them.
  if (text.find('\0') != std::string::npos)
    refuse("must not contain a zero character");
  return text;
}

std::string JsonField::name() const {
  std::string text = string();
  if (text.empty())
    refuse("must not be empty");
  return text;
}

size_t JsonField::choice(std::initializer_list<const char *> choices) const {
  std::string text = string(), list;
  size_t position = 0;
  for (const char *candidate : choices) {
    if (text == candidate)
      return position;
    list += (position++ ? ", " : "") + std::string(candidate);
  }
  refuse("must be one of " + list);
}

int64_t JsonField::integer(int64_t low, int64_t high) const {
  std::string rule = "must be ";
  if (low != high)
    rule += "an integer from " + std::to_string(low) + " to ";
  rule += std::to_string(high);
  if (!value.is_number_integer())
    refuse(rule);
  // Unsigned values over the signed range would wrap below.
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(high))
    refuse(rule);
  int64_t number = value.get<int64_t>();
  if (number < low || number > high)
    refuse(rule);
  return number;
}

bool JsonField::boolean() const {
  if (!value.is_boolean())
    refuse("must be true or false");
  return value.get<bool>();
}

json fa::rt::parseJson(const std::string &text, const std::string &file) {
  // Refuses depth as it is parsed, before anything recurs over it.
  auto limitDepth = [&](int depth, json::parse_event_t event, json &) {
    bool begins = event == json::parse_event_t::array_start ||
                  event == json::parse_event_t::object_start;
    if (begins && depth >= kMaxDepth)
      throw Failure(FA_INVALID_LIBRARY,
                    file +
                        ": arrays and objects must not be nested more than " +
                        std::to_string(kMaxDepth) + " deep");
    return true;
  };
  try {
    return json::parse(text, limitDepth);
  } catch (const json::exception &error) {
    throw Failure(
        FA_INVALID_LIBRARY,
        file + ": not valid JSON: " + cutText(error.what(), kMaxParserMessage));
  }
}
