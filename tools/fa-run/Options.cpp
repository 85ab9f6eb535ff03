//===- Options.cpp - The command line of fa-run -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "fa/Support/Help.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace fa::execute;
using namespace fa::run;
using llvm::StringRef;
namespace cl = llvm::cl;

const char *const fa::run::kOverview =
    "Runs an attention problem, or a program, on the CPU at the level that the "
    "passes reach,\nand checks it\n\n"
    "FILE holds one function with one attn.forward, or a program "
    "(docs/programs.md). The passes\nand pipelines on the command line run "
    "first, in their order; what they leave is lowered by\nitself. A pipeline "
    "that goes below level C is run down to level C; with --on=sim, down to\n"
    "level D.\n\n"
    "  fa-run attention.mlir --check\n"
    "  fa-run attention.mlir --tile --interchange --check "
    "--sizes=Sq=128,Skv=1000\n"
    "  fa-run attention.mlir --fa2 --check --dist=large:12 --seed=3\n"
    "  fa-run attention.mlir --fa2 --on=sim --sim-seed=1 --check\n\n"
    "--help-hidden lists all passes and pipelines, and the options of MLIR and "
    "LLVM.\n";

namespace {
enum class Optimize { Auto, Never, Always };
enum class Machine { CPU, Simulator };

/// The options themselves. They live as long as main, so that the library's
/// registry and ours agree.
struct CommandLine {
  cl::OptionCategory category{"fa-run options"};
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE"), cl::Required,
                            cl::cat(category)};
  cl::opt<Machine> on{
      "on", cl::desc("What runs it:"), cl::init(Machine::CPU),
      cl::values(clEnumValN(Machine::CPU, "cpu", "this CPU (the default)"),
                 clEnumValN(Machine::Simulator, "sim",
                            "the simulator of thread blocks, at level D")),
      cl::cat(category)};
  cl::opt<bool> check{
      "check",
      cl::desc("Compare o and lse with a float64 reference that uses none of "
               "the passes; exit 1 where they are off"),
      cl::cat(category)};
  cl::opt<std::string> reference{
      "reference",
      cl::desc("Take the problem from this file; FILE may then hold the "
               "function at level B or C"),
      cl::value_desc("file"), cl::cat(category)};
  cl::list<std::string> sizes{
      "sizes",
      cl::desc("Sizes of dynamic dimensions, default "
               "B=1,Hq=2,Hkv=2,Sq=113,Skv=271 (B=4 where lengths differ); Tq "
               "and Tkv for packed rows; repeat to run several sizes"),
      cl::value_desc("B=..,Hq=..,Hkv=..,Sq=..,Skv=.."), cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::desc("Seed of the inputs (default 1)"),
                         cl::init(1), cl::value_desc("number"),
                         cl::cat(category)};
  cl::opt<std::string> dist{
      "dist",
      cl::desc("Inputs: normal (default); large:12, q times 12; constant:256, "
               "all of q and k; numbers up to 8192"),
      cl::init("normal"), cl::value_desc("kind"), cl::cat(category)};
  cl::list<std::string> arg{
      "arg",
      cl::desc("The value of the scalar argument with this name or number "
               "(default: 1/sqrt(D) for the scale, 1 for other floats)"),
      cl::value_desc("name=value"), cl::cat(category)};
  cl::list<std::string> input{
      "input",
      cl::desc("A tensor argument from a .npy file: q, k, v, cu_seqlens_q, "
               "cu_seqlens_kv, kv_lens, or its name or number; sizes follow"),
      cl::value_desc("name=file"), cl::cat(category)};
  cl::list<std::string> shape{
      "shape",
      cl::desc("The shape of a program's tensor, by its name or number: a "
               "program is a function with a schedule and no attention"),
      cl::value_desc("name=333x256"), cl::cat(category)};
  cl::opt<std::string> output{
      "output",
      cl::desc("Write o.npy and lse.npy into this folder (bf16 as float32); of "
               "a program all tensors and what they should be"),
      cl::value_desc("folder"), cl::cat(category)};
  cl::opt<std::string> queryLengths{
      "q-lens",
      cl::desc("The rows of each packed sequence of q (default: drawn, up to "
               "Sq, or with the sum Tq where --sizes has one)"),
      cl::value_desc("76,34,146"), cl::cat(category)};
  cl::opt<std::string> keyLengths{
      "kv-lens",
      cl::desc("The rows of each packed sequence of k and v, or kv_lens "
               "(default: drawn, up to Skv, or with the sum Tkv)"),
      cl::value_desc("1,1,1"), cl::cat(category)};
  cl::opt<bool> emitIR{"emit-ir",
                       cl::desc("Print the module that the passes left"),
                       cl::cat(category)};
  cl::opt<bool> time{
      "time",
      cl::desc("Print the seconds of the compilation and of each run, and the "
               "peak of its buffer memory"),
      cl::cat(category)};
  cl::opt<bool> sequential{
      "sequential",
      cl::desc("Use one core. Optimised code and references use all otherwise; "
               "the bits of the results are the same"),
      cl::cat(category)};
  cl::opt<bool> progress{
      "progress",
      cl::desc(
          "Say on stderr what runs and for how long (on a terminal that is "
          "done for what takes more than 2 s)"),
      cl::cat(category)};
  cl::opt<bool> printTraffic{
      "print-traffic",
      cl::desc("Print the bytes that tiles load from and store to each tensor, "
               "counted before --online-softmax"),
      cl::cat(category)};
  cl::opt<std::string> trafficFile{"traffic-csv",
                                   cl::desc("Write these bytes into this file"),
                                   cl::value_desc("file"), cl::cat(category)};
  cl::opt<Optimize> optimize{
      "optimize", cl::desc("Whether machine code is optimised:"),
      cl::init(Optimize::Auto),
      cl::values(clEnumValN(Optimize::Auto, "auto",
                            "where the work is worth it (the default)"),
                 clEnumValN(Optimize::Never, "never", "never"),
                 clEnumValN(Optimize::Always, "always", "always")),
      cl::cat(category)};
};

/// The options of `--on=sim`.
struct SimulatorLine {
  explicit SimulatorLine(cl::OptionCategory &category)
      : seed{"sim-seed",
             cl::desc("Draw how long ops, copies and products take (default 0: "
                      "what the cost table says)"),
             cl::init(0), cl::value_desc("number"), cl::cat(category)},
        seeds{"sim-seeds",
              cl::desc("Run so many orders, with the seeds from --sim-seed on, "
                       "which must give the same bits (default 1)"),
              cl::init(1), cl::value_desc("number"), cl::cat(category)},
        blocks{"sim-blocks",
               cl::desc("Thread blocks that share the work items (default 0: "
                        "one for each)"),
               cl::init(0), cl::value_desc("number"), cl::cat(category)},
        target{"sim-target",
               cl::desc("The GPU whose limits and speeds are taken (default: "
                        "the schedule's, else sm_90a)"),
               cl::value_desc("name"), cl::cat(category)},
        kernel{"sim-kernel",
               cl::desc("The kernel to run, where the module has several"),
               cl::value_desc("name"), cl::cat(category)},
        trace{"sim-trace", cl::desc("Write a time line that Perfetto opens"),
              cl::value_desc("file.json"), cl::cat(category)} {}

  cl::opt<uint64_t> seed, seeds;
  cl::opt<int64_t> blocks;
  cl::opt<std::string> target, kernel, trace;
};
} // namespace

/// Parses "4=0.5", or "scale=0.5", into the scalars of `options`.
static llvm::Error parseScalar(StringRef text, Options &options) {
  auto [name, value] = text.split('=');
  unsigned number;
  double scalar;
  if (name.empty() || value.getAsDouble(scalar))
    return llvm::createStringError(
        "'" + text + "' is not an argument: NUMBER=VALUE or NAME=VALUE is");
  if (name.getAsInteger(10, number))
    options.namedScalars[name.str()] = scalar;
  else
    options.inputs.scalars[number] = scalar;
  return llvm::Error::success();
}

/// Parses "a=333x256" into `shapes`.
static llvm::Error
parseShape(StringRef text,
           std::map<std::string, std::vector<int64_t>> &shapes) {
  auto [name, dims] = text.split('=');
  std::vector<int64_t> shape;
  for (StringRef dim : llvm::split(dims, 'x')) {
    int64_t size;
    if (dim.getAsInteger(10, size) || size < 0)
      return llvm::createStringError("'" + text +
                                     "' is not a shape: NAME=333x256 is");
    shape.push_back(size);
  }
  shapes[name.str()] = shape;
  return llvm::Error::success();
}

/// Parses the lengths that an option has, if it is there.
static llvm::Error parseOption(const cl::opt<std::string> &option,
                               std::optional<std::vector<int64_t>> &lengths) {
  if (option.getNumOccurrences() == 0)
    return llvm::Error::success();
  auto parsed = parseLengths(option);
  if (!parsed)
    return parsed.takeError();
  lengths = std::move(*parsed);
  return llvm::Error::success();
}

/// Reads what LLVM's parser leaves as text.
static llvm::Error parseTexts(const CommandLine &line, Options &options) {
  for (const std::string &text : line.sizes) {
    auto sizes = Sizes::parse(text);
    if (!sizes)
      return sizes.takeError();
    options.sizes.push_back(*sizes);
  }
  if (options.sizes.empty())
    options.sizes.emplace_back();
  for (const std::string &text : line.arg)
    if (llvm::Error error = parseScalar(text, options))
      return error;
  for (const std::string &text : line.shape)
    if (llvm::Error error = parseShape(text, options.shapes))
      return error;
  for (const std::string &text : line.input) {
    auto [name, file] = StringRef(text).split('=');
    if (name.empty() || file.empty())
      return llvm::createStringError("'" + text +
                                     "' is not an input: NAME=FILE is");
    options.inputFiles.push_back({name.str(), file.str()});
  }
  if (!line.output.empty() && options.sizes.size() > 1)
    return llvm::createStringError("--output takes the outputs of one run, so "
                                   "--sizes must not be repeated");
  options.outputFolder = line.output;
  if (llvm::Error error =
          parseOption(line.queryLengths, options.inputs.queryLengths))
    return error;
  if (llvm::Error error =
          parseOption(line.keyLengths, options.inputs.keyLengths))
    return error;
  auto distribution = Distribution::parse(line.dist);
  if (!distribution)
    return distribution.takeError();
  options.inputs.distribution = *distribution;
  return llvm::Error::success();
}

/// Reads the options of `--on=sim`.
static llvm::Error parseSimulator(Machine on, const SimulatorLine &line,
                                  Options &options) {
  options.simulate = on == Machine::Simulator;
  options.simSeed = line.seed;
  options.simSeeds = line.seeds;
  options.simBlocks = line.blocks;
  options.simTarget = fa::Target::lookup(line.target);
  options.simKernel = line.kernel;
  options.simTrace = line.trace;
  if (!line.target.empty() && !options.simTarget)
    return llvm::createStringError("--sim-target names no GPU: " + line.target);
  if (options.simBlocks < 0)
    return llvm::createStringError("--sim-blocks is a number from 0 on");
  if (!options.simTrace.empty() && options.sizes.size() > 1)
    return llvm::createStringError("--sim-trace takes one list of sizes");
  return llvm::Error::success();
}

llvm::Expected<Options> Options::parse(int argc, char **argv) {
  static CommandLine line;
  static SimulatorLine sim(line.category);
  showOnly([](const cl::Option &option) {
    return llvm::is_contained(option.Categories, &line.category);
  });
  cl::ParseCommandLineOptions(argc, argv, kOverview);
  Options options;
  if (llvm::Error error = parseTexts(line, options))
    return error;
  options.file = line.file;
  options.referenceFile = line.reference;
  options.inputs.seed = line.seed;
  options.check = line.check;
  options.emitIR = line.emitIR;
  options.time = line.time;
  options.printTraffic = line.printTraffic;
  options.progress = line.progress;
  options.sequential = line.sequential;
  options.trafficFile = line.trafficFile;
  if (line.optimize != Optimize::Auto)
    options.optimize = line.optimize == Optimize::Always;
  if (llvm::Error error = parseSimulator(line.on, sim, options))
    return error;
  if (options.simulate && options.countsTraffic())
    return llvm::createStringError(
        "--print-traffic and --traffic-csv count on the CPU, not in the "
        "simulator");
  return options;
}
