//===- fa-sim-mutants.cpp - What the simulator catches -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes small mistakes in a kernel, one at a time, and runs each mutant in the
// simulator. A mutant is caught where the verifier refuses it, the simulator
// finds a fault, or the result differs in any bit. Survivors must stand in a
// table that says why, and what stands there must survive.
//
//===----------------------------------------------------------------------===//

#include "Mutation.h"

#include "fa/Pipelines/Register.h"
#include "fa/Simulator/Fragment.h"
#include "fa/Simulator/Simulator.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/WithColor.h"

#include <cmath>

using namespace mlir;
using namespace fa;
using namespace fa::mutants;
namespace cl = llvm::cl;

static cl::list<std::string>
    kernelTexts(cl::Positional,
                cl::desc("FILE,KERNEL,SQ,SKV ... (rows of q, and of k and v)"),
                cl::OneOrMore);
static cl::opt<std::string>
    tableName("table", cl::desc("The table of survivors"), cl::Required);
static cl::opt<unsigned> seeds("seeds", cl::desc("Orders that are tried"),
                               cl::init(4));
static cl::opt<bool> verbose("verbose", cl::desc("A line for each mutant"));

/// The share of the mutants with another meaning that must be caught, per cent.
static constexpr double kRequired = 95;

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "fa-sim-mutants") << message << '\n';
  return 1;
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

namespace {
/// A kernel that mistakes are made in, and its sizes.
struct Subject {
  std::string file, kernel;
  int64_t seqQ, seqKV;
};

/// The arguments of an attention kernel of one batch and one head: q, k and v
/// come first of its tensors, then the results.
class Problem {
public:
  Problem(gpu::GPUFuncOp kernel, const Subject &subject);
  SmallVector<sim::Argument> getArguments();
  /// Forgets the results.
  void reset();
  /// The bytes of all results.
  std::vector<char> getResults() const;

private:
  static constexpr unsigned kInputs = 3;
  struct Tensor {
    SmallVector<int64_t> sizes, strides;
    std::vector<char> bytes;
  };
  std::vector<Tensor> tensors;
  SmallVector<bool> isTensor; ///< for each argument
};
} // namespace

/// Sets `tensor` to values between -1 and 1 that repeat late.
static void fill(sim::FloatFormat format, uint64_t seed,
                 std::vector<char> &bytes) {
  int64_t width = sim::getByteSize(format);
  for (size_t i = 0; i < bytes.size() / width; ++i) {
    float value = std::sin(float(i * 12.9898 + seed * 78.233));
    value = sim::roundTo(format, value);
    sim::encode(format, &value, 1, bytes.data() + i * width);
  }
}

Problem::Problem(gpu::GPUFuncOp kernel, const Subject &subject) {
  for (Type type : kernel.getArgumentTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    isTensor.push_back(memref != nullptr);
    if (!memref)
      continue;
    Tensor &tensor = tensors.emplace_back();
    bool isKeys = tensors.size() == 2 || tensors.size() == 3;
    tensor.sizes = {1, 1, isKeys ? subject.seqKV : subject.seqQ};
    if (memref.getRank() == 4)
      tensor.sizes.push_back(memref.getDimSize(3));
    int64_t count = 1;
    tensor.strides.resize(tensor.sizes.size());
    for (size_t dim = tensor.sizes.size(); dim-- > 0;
         count *= tensor.sizes[dim])
      tensor.strides[dim] = count;
    auto format = *sim::getFloatFormat(memref.getElementType());
    tensor.bytes.resize(count * sim::getByteSize(format));
    if (tensors.size() <= kInputs)
      fill(format, tensors.size(), tensor.bytes);
  }
}

SmallVector<sim::Argument> Problem::getArguments() {
  SmallVector<sim::Argument> arguments;
  auto next = tensors.begin();
  for (bool tensor : isTensor) {
    if (!tensor) {
      arguments.push_back(0.125f);
      continue;
    }
    arguments.push_back(
        sim::MemRefArgument{next->bytes.data(), next->sizes, next->strides});
    ++next;
  }
  return arguments;
}

void Problem::reset() {
  for (Tensor &tensor : llvm::drop_begin(tensors, kInputs))
    llvm::fill(tensor.bytes, char(0xff));
}

std::vector<char> Problem::getResults() const {
  std::vector<char> all;
  for (const Tensor &tensor : llvm::drop_begin(tensors, kInputs))
    all.insert(all.end(), tensor.bytes.begin(), tensor.bytes.end());
  return all;
}

//===----------------------------------------------------------------------===//
// Mutants
//===----------------------------------------------------------------------===//

enum class Outcome { Refused, Fault, Wrong, Survived };

static gpu::GPUFuncOp findKernel(ModuleOp module, const Subject &subject) {
  gpu::GPUFuncOp found;
  module.walk([&](gpu::GPUFuncOp kernel) {
    if (kernel.getName() == subject.kernel)
      found = kernel;
  });
  return found;
}

/// Runs `kernel` with one block for all items, which shows what goes from one
/// to the next.
static LogicalResult run(gpu::GPUFuncOp kernel, Problem &problem,
                         uint64_t seed) {
  sim::Options options;
  options.seed = seed;
  options.blocks = 1;
  problem.reset();
  return failure(
      failed(sim::simulate(kernel, problem.getArguments(), options)));
}

/// Tries `mutation`. `message` is the first diagnostic.
static Outcome tryMutant(ModuleOp module, const Subject &subject,
                         const Mutation &mutation,
                         const std::vector<char> &expected,
                         std::string &message) {
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diag) {
    if (message.empty())
      message = diag.str();
  });
  OwningOpRef<ModuleOp> copy = module.clone();
  gpu::GPUFuncOp kernel = findKernel(*copy, subject);
  if (!apply(mutation, kernel) || failed(verify(*copy)))
    return Outcome::Refused;
  Problem problem(kernel, subject);
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    if (failed(run(kernel, problem, seed)))
      return Outcome::Fault;
    if (problem.getResults() != expected)
      return Outcome::Wrong;
  }
  return Outcome::Survived;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
/// A line of the table: which mistakes survive, whether because their meaning
/// is the same or because they are missed, and why.
struct Reason {
  llvm::Regex names;
  std::string text;
  bool isSame;
  bool isUsed = false;
};
} // namespace

/// Reads lines "same | NAMES | why" and "missed | NAMES | why"; NAMES is a
/// regular expression. Lines without bars are comments.
static llvm::Expected<std::vector<Reason>> readTable() {
  auto buffer = llvm::MemoryBuffer::getFile(tableName);
  if (!buffer)
    return llvm::createStringError("cannot read " + tableName);
  std::vector<Reason> table;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    auto [kind, rest] = line.split('|');
    size_t last = rest.rfind('|');
    if (rest.empty() || last == StringRef::npos)
      continue;
    StringRef names = rest.take_front(last).trim();
    bool isSame = kind.trim() == "same";
    if (!isSame && kind.trim() != "missed")
      return llvm::createStringError("no kind of survivor: " + line);
    table.push_back({llvm::Regex(("^(" + names + ")$").str()),
                     rest.drop_front(last + 1).trim().str(), isSame});
  }
  return table;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static const char *const kOutcomes[] = {"refused", "fault", "wrong",
                                        "survived"};

/// Counts the survivors of one meaning. Returns whether all are explained.
static bool explain(ArrayRef<std::string> survivors, std::vector<Reason> &table,
                    unsigned &same) {
  bool complete = true;
  for (const std::string &name : survivors) {
    auto found =
        llvm::find_if(table, [&](Reason &r) { return r.names.match(name); });
    if (found == table.end()) {
      fail("a survivor that the table does not explain: " + name);
      complete = false;
      continue;
    }
    found->isUsed = true;
    same += found->isSame;
  }
  return complete;
}

/// Tries all mutants of a kernel in `module`.
static int tryAll(ModuleOp module, const Subject &subject,
                  std::vector<Reason> &table) {
  gpu::GPUFuncOp kernel = findKernel(module, subject);
  if (!kernel)
    return fail("there is no kernel " + subject.kernel);
  Problem problem(kernel, subject);
  if (failed(run(kernel, problem, /*seed=*/0)))
    return fail("the kernel itself does not run");
  std::vector<char> expected = problem.getResults();

  std::vector<Mutation> mutations = enumerate(kernel);
  unsigned counts[4] = {};
  SmallVector<std::string> survivors;
  for (const Mutation &mutation : mutations) {
    std::string message;
    Outcome outcome = tryMutant(module, subject, mutation, expected, message);
    ++counts[unsigned(outcome)];
    if (verbose)
      llvm::outs() << kOutcomes[unsigned(outcome)] << ": " << mutation.name
                   << ", op " << mutation.op << ": " << message << '\n';
    if (outcome == Outcome::Survived)
      survivors.push_back(mutation.name);
  }

  unsigned same = 0;
  bool complete = explain(survivors, table, same);
  unsigned caught = mutations.size() - survivors.size();
  double share = 100.0 * caught / std::max<size_t>(mutations.size() - same, 1);
  llvm::outs() << subject.kernel << ": " << mutations.size() << " mutants, "
               << counts[0] << " refused, " << counts[1] << " faults, "
               << counts[2] << " wrong, " << counts[3] << " survived, " << same
               << " of them with the same meaning; caught "
               << llvm::format("%.1f", share) << "% of the others\n";
  if (!complete)
    return 1;
  return share < kRequired ? fail("too few are caught") : 0;
}

/// Parses "FILE,KERNEL,SQ,SKV".
static llvm::Expected<Subject> parseSubject(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  Subject subject;
  if (parts.size() != 4 || parts[2].getAsInteger(10, subject.seqQ) ||
      parts[3].getAsInteger(10, subject.seqKV))
    return llvm::createStringError("not FILE,KERNEL,SQ,SKV: " + text);
  subject.file = parts[0].str();
  subject.kernel = parts[1].str();
  return subject;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Makes small mistakes in kernels and counts what is caught\n");
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto table = readTable();
  if (!table)
    return fail(llvm::toString(table.takeError()));
  int result = 0;
  for (const std::string &text : kernelTexts) {
    auto subject = parseSubject(text);
    if (!subject)
      return fail(llvm::toString(subject.takeError()));
    OwningOpRef<ModuleOp> module =
        parseSourceFile<ModuleOp>(subject->file, &context);
    if (!module)
      return 1;
    result |= tryAll(*module, *subject, *table);
  }
  for (const Reason &reason : *table)
    if (!reason.isUsed)
      result =
          fail("the table explains what no longer survives: " + reason.text);
  return result;
}
