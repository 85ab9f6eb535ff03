//===- PassChoice.cpp - Passes at random -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassChoice.h"

#include "fa/Pipelines/Register.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassRegistry.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"

#include <set>

using namespace fa::fuzz;
using namespace mlir;

namespace {
/// An option of some passes, and values that it may be given: the first is one
/// that is accepted, some make no sense.
struct OptionValues {
  llvm::StringLiteral name;
  std::vector<llvm::StringLiteral> values;
};
} // namespace

static const OptionValues kOptions[] = {
    {"br", {"64", "16", "32", "128", "48", "1", "7", "-1", "1000000"}},
    {"bc", {"64", "16", "32", "128", "48", "1", "7", "-1", "1000000"}},
    {"teams", {"4", "1", "2", "8", "3", "64", "-3"}},
    {"stages", {"2", "1", "3", "4", "-2", "100"}},
    {"target", {"sm_80", "sm_86", "sm_90a", "sm_120a", "sm_1"}},
    {"policy", {"target", "paper", "best"}},
    {"shared-bytes", {"102400", "1024", "-5", "9223372036854775807"}},
    {"rescale", {"always", "lazy", "never"}},
    {"tiles-only", {"true", "false"}},
    {"level", {"nvvm", "cta", "arithmetic", "blocks"}},
};

/// The pass or pipeline of this name, or null.
static const PassRegistryEntry *lookup(llvm::StringRef name) {
  if (const PassRegistryEntry *pipeline = PassPipelineInfo::lookup(name))
    return pipeline;
  return PassInfo::lookup(name);
}

LogicalResult fa::fuzz::addToPipeline(llvm::ArrayRef<PassCall> calls,
                                      OpPassManager &manager) {
  auto ignore = [](const llvm::Twine &) { return failure(); };
  for (const PassCall &call : calls)
    if (failed(lookup(call.name)->addToPipeline(manager, call.options, ignore)))
      return failure();
  return success();
}

/// What `print` writes.
template <typename Print> static std::string printed(Print print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  return text;
}

/// The passes of `name`, with their options, as text.
static std::string textOf(llvm::StringRef name) {
  OpPassManager manager(ModuleOp::getOperationName(),
                        OpPassManager::Nesting::Implicit);
  if (failed(addToPipeline(PassCall{name.str(), ""}, manager)))
    return "";
  return printed(
      [&](llvm::raw_ostream &os) { manager.printAsTextualPipeline(os); });
}

/// The indices of the options in the text of a pass.
std::vector<size_t> PassChooser::findOptions(llvm::StringRef name) {
  std::string text = textOf(name);
  if (PassPipelineInfo::lookup(name))
    text = printed([](llvm::raw_ostream &os) { PipelineOptions().print(os); });
  std::vector<size_t> found;
  for (auto [index, option] : llvm::enumerate(kOptions))
    for (const char *before : {"{", " "})
      if (llvm::StringRef(text).contains(
              (before + llvm::StringRef(option.name) + "=").str()))
        found.push_back(index);
  return found;
}

void PassChooser::orderPasses() {
  llvm::StringMap<const Entry *> byName;
  for (const Entry &pass : passes)
    byName[pass.name] = &pass;
  std::string text = textOf("fa2");
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(text, words, "(){}, ");
  for (llvm::StringRef word : words)
    if (const Entry *pass = byName.lookup(word))
      ordered.push_back(*pass);
}

PassChooser::PassChooser() {
  registerOwnPasses(Level::NVVM);
  // The registry does not list its names; its command line parser does.
  static PassPipelineCLParser parser("", "passes");
  std::set<std::string> names;
  for (auto &option : llvm::cl::getRegisteredOptions())
    if (lookup(option.first) && option.first != "emit-cubin")
      names.insert(option.first.str());
  for (const std::string &name : names)
    (PassPipelineInfo::lookup(name) ? pipelines : passes)
        .push_back({name, findOptions(name)});
  orderPasses();
}

PassCall PassChooser::call(const Entry &entry, Random &random) const {
  PassCall call{entry.name, ""};
  for (size_t index : entry.options) {
    if (random.below(10) >= 3)
      continue;
    const OptionValues &option = kOptions[index];
    if (!call.options.empty())
      call.options += " ";
    call.options +=
        (llvm::StringRef(option.name) + "=" + random.pick(option.values)).str();
  }
  return call;
}

std::vector<PassCall> PassChooser::choose(llvm::StringRef text,
                                          Random &random) const {
  std::vector<PassCall> calls;
  size_t kind = random.below(8);
  if (kind == 0) {
    for (size_t i = 0, count = 1 + random.below(4); i < count; ++i)
      calls.push_back(call(random.pick(passes), random));
  } else if (kind < 4 && text.contains("attn.forward")) {
    calls.push_back(call(random.pick(pipelines), random));
  } else {
    size_t first = random.below(ordered.size());
    if (text.contains("attn.forward"))
      first = 0;
    for (const Entry &pass : llvm::ArrayRef(ordered).drop_front(first))
      if (!random.oneIn(8))
        calls.push_back(call(pass, random));
  }
  return calls;
}
