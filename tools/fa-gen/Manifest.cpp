//===- Manifest.cpp - manifest.json -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static std::string manifestPath(StringRef folder) {
  SmallString<256> path(folder);
  sys::path::append(path, "manifest.json");
  return std::string(path);
}

StringMap<json::Object> fa::readManifest(StringRef folder) {
  StringMap<json::Object> entries;
  auto buffer = MemoryBuffer::getFile(manifestPath(folder));
  if (!buffer)
    return entries;
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value) {
    // A manifest that cannot be read is written anew.
    consumeError(value.takeError());
    return entries;
  }
  json::Object *root = value->getAsObject();
  for (StringRef list : {"kernels", "programs"})
    if (json::Array *listed = root ? root->getArray(list) : nullptr)
      for (json::Value &kernel : *listed)
        if (json::Object *entry = kernel.getAsObject())
          if (std::optional<StringRef> name = entry->getString("name"))
            entries.try_emplace(*name, *entry);
  return entries;
}

Error fa::writeFile(StringRef path, StringRef data) {
  return writeToOutput(path, [&](raw_ostream &os) {
    os << data;
    return Error::success();
  });
}

static json::Array makeArray(std::vector<json::Object> entries) {
  json::Array array;
  for (json::Object &entry : entries)
    array.push_back(std::move(entry));
  return array;
}

Error fa::writeManifest(StringRef folder, std::vector<json::Object> kernels,
                        std::vector<json::Object> programs) {
  json::Object root{{"flashloom", 1},
                    {"generator", "fa-gen " FLASHLOOM_VERSION},
                    {"kernels", makeArray(std::move(kernels))}};
  if (!programs.empty())
    root["programs"] = makeArray(std::move(programs));
  std::string text;
  raw_string_ostream(text) << formatv("{0:2}\n", json::Value(std::move(root)));
  return writeFile(manifestPath(folder), text);
}
