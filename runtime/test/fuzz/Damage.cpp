//===- Damage.cpp - One kernel library into a worse one -------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Damage.h"

#include <elf.h>
#include <iterator>
#include <vector>

using namespace fa::test;
using nlohmann::json;

/// The most changes of one manifest.
static constexpr size_t kMaxChanges = 3;

/// The longest part of a text that is deleted or repeated, in bytes.
static constexpr size_t kMaxPart = 40;

/// Bytes that mean something in JSON, and some that are no UTF-8.
static constexpr char kBytes[] = "{}[]\",:-0198eEnt\\/ \n\x7f\x80\xff";

void fa::test::damageText(std::string &text, Random &random) {
  for (size_t i = 0, e = 1 + random.below(kMaxChanges); i != e; ++i) {
    if (text.empty())
      return;
    size_t place = random.below(text.size());
    size_t length = 1 + random.below(kMaxPart);
    switch (random.below(5)) {
    case 0:
      text[place] = kBytes[random.below(sizeof(kBytes))];
      break;
    case 1:
      text[place] = char(text[place] ^ (1 << random.below(8)));
      break;
    case 2:
      text.erase(place, length);
      break;
    case 3:
      text.insert(place, text.substr(random.below(text.size()), length));
      break;
    case 4:
      text.resize(place);
      break;
    }
  }
}

/// Values that are out of place in most places.
static const std::vector<json> &strangers() {
  static const std::vector<json> values = {nullptr,
                                           true,
                                           false,
                                           0,
                                           -1,
                                           1,
                                           3,
                                           33,
                                           1024,
                                           1 << 20,
                                           INT32_MAX,
                                           int64_t(INT32_MAX) + 1,
                                           INT64_MAX,
                                           INT64_MIN,
                                           UINT64_MAX,
                                           0.5,
                                           -0.0,
                                           1e308,
                                           "",
                                           "q",
                                           "lse",
                                           "scale",
                                           "batch",
                                           "seq_kv",
                                           "splits",
                                           "sm_80",
                                           "../manifest.json",
                                           std::string("a\0b", 3),
                                           std::string(500, 'x'),
                                           json::array(),
                                           json::object(),
                                           json{{1}}};
  return values;
}

/// Pointers at all values inside a value.
static void collect(json &value, std::vector<json *> &all) {
  for (json &inner : value) {
    all.push_back(&inner);
    if (inner.is_structured())
      collect(inner, all);
  }
}

void fa::test::damageValues(json &manifest, Random &random) {
  for (size_t i = 0, e = 1 + random.below(kMaxChanges); i != e; ++i) {
    std::vector<json *> all;
    collect(manifest, all);
    if (all.empty())
      return;
    json &value = *all[random.below(all.size())];
    switch (random.below(4)) {
    case 0:
      value = strangers()[random.below(strangers().size())];
      break;
    case 1: {
      // A copy, since one may hold the other.
      json other = *all[random.below(all.size())];
      value = std::move(other);
      break;
    }
    case 2:
      if (value.is_structured() && !value.empty())
        value.erase(std::next(value.begin(), long(random.below(value.size()))));
      break;
    case 3:
      if (value.is_array() && !value.empty())
        value.push_back(json(value[random.below(value.size())]));
      else if (value.is_number_integer())
        value = value.get<int64_t>() ^ int64_t(1) << random.below(40);
      break;
    }
  }
}

/// Cuts a kernel's file off, changes some of its bytes or, for ELF files, those
/// of its header.
static void damageFile(std::string &bytes, Random &random) {
  switch (random.below(3)) {
  case 0:
    bytes.resize(1 + random.below(bytes.size() - 1));
    break;
  case 1:
    for (size_t i = 0, e = 1 + random.below(8); i != e; ++i)
      bytes[random.below(bytes.size())] ^= char(1 << random.below(8));
    break;
  case 2: {
    size_t place = random.below(std::min(bytes.size(), sizeof(Elf64_Ehdr)));
    bytes[place] = char(bytes[place] + 1 + random.below(255));
    break;
  }
  }
}

static void removeChecksums(json &manifest) {
  for (const char *list : {"kernels", "programs"})
    if (manifest.contains(list))
      for (json &kernel : manifest[list])
        kernel.erase("crc32");
}

Damage fa::test::damage(Content &content, Random &random) {
  json manifest = json::parse(content.manifest);
  switch (random.below(3)) {
  case 0:
    damageText(content.manifest, random);
    return {"the manifest's text", ""};
  case 1:
    damageValues(manifest, random);
    // What is no text of UTF-8 is written as another character.
    content.manifest =
        manifest.dump(-1, ' ', false, json::error_handler_t::replace);
    return {"the manifest's values", ""};
  default:
    auto file = std::next(content.files.begin(),
                          long(random.below(content.files.size())));
    std::string whole = file->second;
    damageFile(file->second, random);
    Damage done = {"the file " + file->first,
                   whole == file->second ? "" : file->first};
    if (random.oneIn(2)) {
      done.hasChecksums = false;
      removeChecksums(manifest);
      content.manifest = manifest.dump();
    }
    return done;
  }
}
