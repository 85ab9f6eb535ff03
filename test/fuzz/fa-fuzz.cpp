//===- fa-fuzz.cpp - Bad input must not crash us -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mutates test files by seeds, parses and verifies each mutant, runs passes on
// those that are valid and prints what is left. A crash, an assertion, an
// endless loop, a module that a pass leaves invalid, and a failure without a
// diagnostic are failures.
//
//===----------------------------------------------------------------------===//

#include "Isolation.h"
#include "ModuleMutator.h"
#include "Mutator.h"
#include "PassChoice.h"

#include "fa/Pipelines/Register.h"
#include "fa/Support/Help.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <memory>

using namespace fa;
using namespace fa::fuzz;
using namespace mlir;
namespace cl = llvm::cl;

/// Mutants of one process, which share an MLIR context.
static constexpr uint64_t kBatch = 500;

static constexpr llvm::StringLiteral kOverview =
    "Mutates the .mlir files below FOLDER, and runs our passes on them\n\n"
    "A mutant that ends its process is printed with its seed. To see it again: "
    "fa-fuzz --first=SEED\n--count=1 --print FOLDER...\n";

namespace {

//===----------------------------------------------------------------------===//
// One mutant
//===----------------------------------------------------------------------===//

/// A text, and what is done with it.
struct Mutant {
  std::string text;
  std::vector<PassCall> calls;
  /// Whether the text is one of the corpus's, whose module is changed instead.
  bool isModule;
  Random random; ///< what it draws from then
};

Mutant makeMutant(uint64_t seed, const Corpus &corpus,
                  const PassChooser &chooser) {
  Random random(seed);
  bool isModule = random.oneIn(2);
  std::string text =
      isModule ? random.pick(corpus.validTexts()) : mutate(corpus, random);
  std::vector<PassCall> calls = chooser.choose(text, random);
  return {std::move(text), std::move(calls), isModule, random};
}

/// Whether `text` crashes MLIR 22's own parser, which is not ours to mend:
/// - linalg.reduce and its like go on after `dimensions` that failed to parse:
///   anything but a list of numbers of 64 bits;
/// - array<index: ...>.
bool isExcluded(llvm::StringRef text) {
  bool isReduction = text.contains("linalg.reduce");
  bool hasLists = llvm::Regex("dimensions = \\[[0-9, ]{1,18}\\]").match(text);
  return (isReduction && !hasLists) || text.contains("array<index");
}

/// Ends the process where a pass leaves an invalid operation.
struct VerifyAfterPass : public PassInstrumentation {
  void runAfterPass(Pass *pass, Operation *op) override {
    if (failed(verify(op)))
      llvm::report_fatal_error("--" + pass->getArgument() +
                               " left an invalid module");
  }
};

/// Counts errors, and writes diagnostics to stderr, which is shown where the
/// process ends.
class ErrorCounter : public ScopedDiagnosticHandler {
public:
  explicit ErrorCounter(MLIRContext *context)
      : ScopedDiagnosticHandler(context, [this](Diagnostic &diagnostic) {
          errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
          llvm::errs() << diagnostic.getLocation() << ": " << diagnostic
                       << "\n";
        }) {}

  /// Ends the process where something failed without saying why.
  void expectErrors(const char *what) const {
    if (errors == 0)
      llvm::report_fatal_error(llvm::Twine(what) +
                               " failed without a diagnostic");
  }

private:
  unsigned errors = 0;
};

/// Finds the valid texts.
llvm::Error classify(Corpus &corpus, const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler ignore(&context,
                                 [](Diagnostic &) { return success(); });
  return corpus.classify([&](StringRef text) {
    return static_cast<bool>(parseSourceString<ModuleOp>(text, &context));
  });
}

/// The mutant's module; null where it is not valid.
OwningOpRef<ModuleOp> makeModule(Mutant &mutant, MLIRContext &context) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(mutant.text, &context);
  if (!module || !mutant.isModule)
    return module;
  for (size_t i = 0, count = 1 + mutant.random.below(3); i < count; ++i) {
    changeModule(*module, mutant.random);
    if (failed(verify(*module)))
      return nullptr;
  }
  return module;
}

Outcome check(Mutant mutant, MLIRContext &context) {
  if (isExcluded(mutant.text))
    return Outcome::Rejected;
  ErrorCounter counter(&context);
  OwningOpRef<ModuleOp> module = makeModule(mutant, context);
  if (!module) {
    counter.expectErrors("the parser or a verifier");
    return Outcome::Rejected;
  }
  PassManager manager(&context, ModuleOp::getOperationName(),
                      PassManager::Nesting::Implicit);
  if (failed(addToPipeline(mutant.calls, manager)))
    return Outcome::Refused;
  manager.enableVerifier(false);
  manager.addInstrumentation(std::make_unique<VerifyAfterPass>());
  if (failed(manager.run(*module))) {
    counter.expectErrors("a pass");
    return Outcome::Refused;
  }
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  module->print(stream);
  return Outcome::Lowered;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

struct CommandLine {
  cl::OptionCategory category{"fa-fuzz options"};
  cl::list<std::string> folders{cl::Positional, cl::OneOrMore,
                                cl::desc("FOLDER..."), cl::cat(category)};
  cl::opt<uint64_t> count{"count", cl::desc("Mutants to try (default 1000)"),
                          cl::init(1000), cl::cat(category)};
  cl::opt<uint64_t> first{"first",
                          cl::desc("The first mutant's seed (default 0)"),
                          cl::init(0), cl::cat(category)};
  cl::opt<bool> print{
      "print", cl::desc("Print the mutants instead, as files for fa-opt"),
      cl::cat(category)};
  cl::opt<bool> here{"here",
                     cl::desc("Try them in this process, for a debugger"),
                     cl::cat(category)};
};

/// The command line, while main runs.
CommandLine *line = nullptr;

/// Prints how fa-opt is called, then the module or the text. In a process of
/// its own: what crashes a verifier may crash the printer.
void printMutant(uint64_t seed, const Mutant &mutant, MLIRContext &context) {
  llvm::outs() << "// mutant " << seed << ": fa-opt";
  for (const PassCall &call : mutant.calls)
    llvm::outs() << " " << call.str();
  llvm::outs() << "\n";
  llvm::outs().flush();
  bool isPrinted = runApart([&] {
    ScopedDiagnosticHandler ignore(&context,
                                   [](Diagnostic &) { return success(); });
    Mutant copy = mutant;
    OwningOpRef<ModuleOp> module = makeModule(copy, context);
    if (mutant.isModule && module)
      llvm::outs() << *module << "\n";
    else
      llvm::outs() << mutant.text << "\n";
    llvm::outs().flush();
  });
  if (!isPrinted)
    llvm::outs() << mutant.text << "\n";
}

/// Runs all mutants; whether none failed.
bool tryAll(Range seeds,
            llvm::function_ref<std::function<Outcome(uint64_t)>()> makeRunner,
            llvm::function_ref<void(uint64_t)> print) {
  Summary summary =
      runIsolated(seeds, kBatch, Limits(), makeRunner, [&](const Crash &crash) {
        print(crash.item);
        llvm::outs() << "// mutant " << crash.item << ": " << crash.reason
                     << "\n"
                     << crash.output << "\n";
      });
  auto count = [&](Outcome outcome) {
    return summary.outcomes[static_cast<size_t>(outcome)];
  };
  llvm::outs() << seeds.last - seeds.first
               << " mutants: " << count(Outcome::Rejected) << " rejected, "
               << count(Outcome::Refused) << " refused by a pass, "
               << count(Outcome::Lowered) << " lowered, " << summary.crashes
               << " crashed\n";
  return summary.crashes == 0;
}

/// The folders' texts, those that are valid known.
llvm::Expected<Corpus> readCorpus(const DialectRegistry &registry) {
  auto corpus = Corpus::read(
      std::vector<std::string>(line->folders.begin(), line->folders.end()));
  if (corpus)
    if (llvm::Error error = classify(*corpus, registry))
      return std::move(error);
  return corpus;
}

} // namespace

int main(int argc, char **argv) {
  // 1. The command line. Our options come after those of the passes, so that
  //    they hide them.
  PassChooser chooser;
  CommandLine options;
  line = &options;
  showOnly([](const cl::Option &option) {
    return llvm::is_contained(option.Categories, &line->category);
  });
  cl::ParseCommandLineOptions(argc, argv, kOverview);

  // 2. What mutants are made of.
  DialectRegistry registry;
  registerDialects(registry);
  auto corpus = readCorpus(registry);
  if (!corpus) {
    llvm::errs() << "fa-fuzz: " << llvm::toString(corpus.takeError()) << "\n";
    return 1;
  }
  auto mutantOf = [&](uint64_t seed) {
    return makeMutant(seed, *corpus, chooser);
  };
  auto makeRunner = [&]() -> std::function<Outcome(uint64_t)> {
    auto context = std::make_shared<MLIRContext>(
        registry, MLIRContext::Threading::DISABLED);
    context->printOpOnDiagnostic(false);
    return [=](uint64_t seed) { return check(mutantOf(seed), *context); };
  };
  MLIRContext printer(registry, MLIRContext::Threading::DISABLED);
  auto print = [&](uint64_t seed) {
    printMutant(seed, mutantOf(seed), printer);
  };

  // 3. What is asked for.
  Range seeds{options.first, options.first + options.count};
  if (!options.print && !options.here)
    return tryAll(seeds, makeRunner, print) ? 0 : 1;
  auto run = makeRunner();
  for (uint64_t seed = seeds.first; seed < seeds.last; ++seed)
    options.print ? print(seed) : (void)run(seed);
  return 0;
}
