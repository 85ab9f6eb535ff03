//===- CommandLine.cpp - The options of fa-bench --------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "Variants.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace fa::bench;

namespace {

/// Sets an option from a flag's value; false where the value is not of the
/// form.
using Setter = bool (*)(Options &, const std::string &);

struct Flag {
  const char *name;
  /// The form of the value; "" for a flag without one.
  const char *form;
  /// The verbs that have the flag; empty: every verb.
  std::vector<Verb> verbs;
  Setter set;
  const char *help;
};

constexpr int64_t kMaxSize = int64_t(1) << 31;
constexpr int64_t kMaxRuns = 100000, kMaxLaunches = 10000000;

} // namespace

static bool parseInteger(const std::string &text, int64_t low, int64_t high,
                         int64_t &value) {
  errno = 0;
  char *end = nullptr;
  long long parsed = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || parsed < low || parsed > high)
    return false;
  value = parsed;
  return true;
}

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// "H", or "H/Hkv" where H is a multiple of Hkv; without one it is 0.
static bool parseHeads(const std::string &text, int64_t &heads,
                       int64_t &kvHeads) {
  std::vector<std::string> parts = split(text, '/');
  kvHeads = 0;
  if (parts.size() > 2 || !parseInteger(parts[0], 0, kMaxSize, heads))
    return false;
  return parts.size() == 1 ||
         (parseInteger(parts[1], 1, kMaxSize, kvHeads) && heads % kvHeads == 0);
}

static bool setSizes(Options &options, const std::string &text) {
  options.sizes.clear();
  for (const std::string &entry : split(text, ';')) {
    std::vector<std::string> numbers = split(entry, ',');
    std::array<int64_t, 5> sizes;
    if (numbers.size() != sizes.size() - 1 ||
        !parseInteger(numbers[0], 0, kMaxSize, sizes[0]) ||
        !parseHeads(numbers[1], sizes[1], sizes[2]))
      return false;
    for (size_t i = 2; i < numbers.size(); ++i)
      if (!parseInteger(numbers[i], 0, kMaxSize, sizes[i + 1]))
        return false;
    options.sizes.push_back(sizes);
  }
  return true;
}

/// "1,2,3", each at least 1.
static bool parseLengths(const std::string &text,
                         std::vector<int64_t> &lengths) {
  lengths.clear();
  for (const std::string &entry : split(text, ',')) {
    int64_t length;
    if (!parseInteger(entry, 1, kMaxSize, length))
      return false;
    lengths.push_back(length);
  }
  return true;
}

static bool setSeqs(Options &options, const std::string &text) {
  return parseLengths(text, options.seqs);
}

static bool setLens(Options &options, const std::string &text) {
  return parseLengths(text, options.lens);
}

static bool setDistribution(Options &options, const std::string &text) {
  std::optional<Distribution> parsed = Distribution::parse(text);
  if (parsed)
    options.distribution = *parsed;
  return parsed.has_value();
}

static bool setLayout(Options &options, const std::string &text) {
  if (text != "bshd" && text != "bhsd")
    return false;
  options.layout = text == "bshd" ? Layout::Bshd : Layout::Bhsd;
  return true;
}

static bool parsePositive(const std::string &text, double &value) {
  char *end = nullptr;
  double parsed = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(parsed) || parsed <= 0)
    return false;
  value = parsed;
  return true;
}

static bool setTimeout(Options &options, const std::string &text) {
  return parsePositive(text, options.timeoutS);
}

static bool setLogits(Options &options, const std::string &text) {
  return parsePositive(text, options.logits);
}

static bool setSeed(Options &options, const std::string &text) {
  int64_t value;
  if (!parseInteger(text, 0, std::numeric_limits<int64_t>::max(), value))
    return false;
  options.seed = uint64_t(value);
  return true;
}

static bool setSplits(Options &options, const std::string &text) {
  return parseInteger(text, 0, kMaxSize, options.splits);
}

static bool setSq(Options &options, const std::string &text) {
  return parseInteger(text, 1, kMaxSize, options.sq);
}

static bool setBatch(Options &options, const std::string &text) {
  return parseInteger(text, 1, kMaxSize, options.batch);
}

static bool setHeads(Options &options, const std::string &text) {
  bool isValid = parseHeads(text, options.heads, options.kvHeads);
  if (options.kvHeads == 0)
    options.kvHeads = options.heads;
  return isValid && options.heads > 0;
}

static bool setRuns(Options &options, const std::string &text) {
  int64_t value;
  if (!parseInteger(text, 1, kMaxRuns, value))
    return false;
  options.runs = int(value);
  return true;
}

static bool setWarmup(Options &options, const std::string &text) {
  int64_t value;
  if (!parseInteger(text, 0, kMaxRuns, value))
    return false;
  options.warmup = int(value);
  return true;
}

static bool setName(Options &options, const std::string &text) {
  options.name = text;
  return !text.empty() && text.find_first_of(",\n\"") == std::string::npos;
}

static bool setKernel(Options &options, const std::string &text) {
  options.kernel = text;
  return true;
}

static bool setProgram(Options &options, const std::string &text) {
  options.program = text;
  return !text.empty();
}

static bool setData(Options &options, const std::string &text) {
  options.data = text;
  return !text.empty();
}

static bool setOutput(Options &options, const std::string &text) {
  options.output = text;
  return !text.empty();
}

static bool setVerbose(Options &options, const std::string &) {
  return options.verbose = true;
}

static bool setKeepLists(Options &options, const std::string &) {
  return options.keepLists = true;
}

static bool setVerboseClock(Options &options, const std::string &) {
  return options.verboseClock = true;
}

static bool setCsv(Options &options, const std::string &) {
  return options.csv = true;
}

static bool setTable(Options &options, const std::string &text) {
  options.table = text;
  return !text.empty();
}

static bool setMerge(Options &options, const std::string &) {
  return options.merge = true;
}

static bool setLaunches(Options &options, const std::string &text) {
  int64_t value;
  if (!parseInteger(text, 1, kMaxLaunches, value))
    return false;
  options.launches = int(value);
  return true;
}

namespace {
/// A verb and what it is for.
struct VerbName {
  Verb verb;
  const char *name;
};
} // namespace

static constexpr VerbName kVerbs[] = {
    {Verb::Check, "check"},   {Verb::Time, "time"},
    {Verb::Ablate, "ablate"}, {Verb::Selftest, "selftest"},
    {Verb::Launch, "launch"}, {Verb::Run, "run"},
    {Verb::Tune, "tune"},     {Verb::Soak, "soak"}};

/// The verbs that print CSV, those whose launches may share lists, those that
/// time kernels of attention, those that take a number of launches, and of
/// runs.
static const std::vector<Verb> kCsv = {Verb::Time, Verb::Ablate};
static const std::vector<Verb> kKeepLists = {Verb::Check, Verb::Time};
static const std::vector<Verb> kTiming = {Verb::Time, Verb::Ablate, Verb::Tune};
static const std::vector<Verb> kLaunches = {Verb::Launch, Verb::Soak};
static const std::vector<Verb> kRuns = {Verb::Time, Verb::Ablate, Verb::Run,
                                        Verb::Tune};

static const Flag kFlags[] = {
    {"--kernel",
     "SUBSTRING",
     {},
     setKernel,
     "only kernels whose name contains it"},
    {"--layout",
     "bshd|bhsd",
     {},
     setLayout,
     "order of the tensors in memory (check: bshd; time: bhsd, as "
     "bench_torch.py)"},
    {"--timeout-s",
     "SECONDS",
     {},
     setTimeout,
     "a kernel that runs longer hangs (60)"},
    {"--seed", "N", {}, setSeed, "of the random inputs (0)"},
    {"--splits",
     "N",
     {},
     setSplits,
     "parts of the keys, of kernels that split them (0: the runtime's choice; "
     "check: 3 too)"},
    {"--sizes",
     "B,H[/Hkv],Sq,Skv;...",
     {Verb::Check},
     setSizes,
     "the problems (a list of odd ones, and the benchmark's)"},
    {"--dist",
     "normal|large:X|constant:X",
     {Verb::Check},
     setDistribution,
     "elements of q and k: normal draws, X times those, or all X (normal)"},
    {"--verbose", "", {Verb::Check}, setVerbose, "a line for each problem"},
    {"--keep-lists", "", kKeepLists, setKeepLists,
     "a mask's lists of blocks are made by one launch, and used by the next "
     "ones"},
    {"--name", "NAME", kCsv, setName,
     "the first column of the CSV (flashloom)"},
    {"--seqs", "S,...", kTiming, setSeqs,
     "sequence lengths (512,1024,2048,4096,8192,16384; ablate: 1024,4096)"},
    {"--lens",
     "L,...",
     {Verb::Time},
     setLens,
     "packed sequences of these lengths alone; FLOPs are summed over them"},
    {"--sq",
     "N",
     {Verb::Time},
     setSq,
     "decoding: N queries, --seqs keys, --batch, --heads; rate is GB/s"},
    {"--logits",
     "X",
     {Verb::Time},
     setLogits,
     "scores X times as large, as of q times X (1)"},
    {"--batch", "B", {Verb::Time}, setBatch, "of decoding (16)"},
    {"--heads", "H[/Hkv]", {Verb::Time}, setHeads, "of decoding (32/8)"},
    {"--runs", "N", kRuns, setRuns, "timed launches a cell (30)"},
    {"--warmup", "N", kRuns, setWarmup,
     "launches before those (10; tune: 3, before each of 3 rounds)"},
    {"--verbose-clock", "", kCsv, setVerboseClock,
     "the clock in MHz after each cell, on stderr (needs NVML)"},
    {"--csv", "", {Verb::Ablate}, setCsv, "CSV as of time, not a table"},
    {"-o", "FILE", {Verb::Tune}, setTable, "the table to write (none)"},
    {"--merge",
     "",
     {Verb::Tune},
     setMerge,
     "keep what FILE has of other problems"},
    {"--launches", "N", kLaunches, setLaunches,
     "calls to time, launches of a kernel (10000)"},
    {"--program",
     "NAME",
     {Verb::Run},
     setProgram,
     "the program or its entry (the only one)"},
    {"--data",
     "DIR",
     {Verb::Run},
     setData,
     "NAME.npy of each argument; NAME.reference.npy and NAME.naive.npy of "
     "outputs"},
    {"--output", "DIR", {Verb::Run}, setOutput, "where NAME.npy of outputs go"},
};

/// "check, time, ..." of `verbs`.
static std::string joinVerbs(const std::vector<Verb> &verbs) {
  std::string text;
  for (const VerbName &entry : kVerbs)
    if (verbs.empty() ||
        std::find(verbs.begin(), verbs.end(), entry.verb) != verbs.end())
      text += (text.empty() ? "" : ", ") + std::string(entry.name);
  return text;
}

static std::string flagLines(const std::vector<Verb> &verbs) {
  const size_t column = 38;
  std::string text;
  for (const Flag &flag : kFlags) {
    if (flag.verbs != verbs)
      continue;
    std::string line = std::string("  ") + flag.name +
                       (!*flag.form           ? ""
                        : flag.name[1] == '-' ? "="
                                              : " ") +
                       flag.form;
    line.resize(std::max(column, line.size() + 1), ' ');
    text += line + flag.help + "\n";
  }
  return text;
}

std::string fa::bench::helpText() {
  return "fa-bench: checks and times a kernel library on this machine's first "
         "GPU\n\n"
         "  fa-bench check DIR [options]      numbers, thoroughly\n"
         "  fa-bench selftest DIR [options]   numbers, in seconds\n"
         "  fa-bench time DIR [options]       speed\n"
         "  fa-bench ablate DIR [options]     speed of each step from "
         "FlashAttention 1 to 3\n"
         "  fa-bench launch DIR [options]     what a call costs the host\n"
         "  fa-bench run DIR --data=DIR       a kernel that is no attention\n"
         "  fa-bench soak DIR [options]       thousands of launches on random "
         "shapes\n"
         "  fa-bench tune DIR -o FILE         the fastest of the candidates\n"
         "  fa-bench --help\n\n"
         "DIR is a folder that fa-gen wrote: manifest.json and the kernels. "
         "Kernels for\nother architectures are left out. Variants that can be "
         "checked and timed: " +
         variantNames() +
         ".\n\n"
         "check runs every kernel on each problem, with outputs poisoned with "
         "NaN and NaN\nin the rows behind each sequence, and holds o and lse "
         "against a float64\nreference: |o - ref| <= 2 max|naive - ref| + 2 "
         "max|((ref + 0.3) - 0.3) - ref|,\n|lse - ref| <= 1e-5 max(1, |ref|). "
         "Of large problems a sample of rows is\ncompared; that every element "
         "is written and finite is checked on all rows.\nKernels with gqa get "
         "2 or 3 heads per kv head where the heads allow it.\n\n"
         "time prints CSV: peer,pass,dtype,head_dim,head_dim_v,variant,batch,"
         "heads,\nkv_heads,seq_q,seq_kv,median_ms,rate (TFLOP/s), at "
         "batch*seq = 16384 and\nheads*head_dim = 2048. Where several kernels "
         "fit a cell, the one that the\nruntime prefers is timed. With --sq "
         "the "
         "cells are those of decoding, pass is\ndecode, and rate GB/s of k and "
         "v, each read once.\n\n"
         "selftest runs every kernel on a few small problems of odd sizes, "
         "with the limits of\ncheck, and prints a line for each kernel.\n\n"
         "ablate takes a library of fa-gen --ablation. It checks and times "
         "each "
         "kernel of one\nproblem beside the others, in the order of the steps, "
         "and prints the rates and what\neach step gained over the one "
         "before.\n\n"
         "launch prints the microseconds that fa_forward takes of the host for "
         "each kernel\non a small problem: median and least; what the driver's "
         "launch alone takes with the\nsame parameters, one by one and as one "
         "buffer, as the library passes them; and what the\nlatter leaves of "
         "the median, the library's own.\n\n"
         "run launches a program of the library, a matrix product say, on the "
         "tensors of a folder\nthat fa-run --output wrote, compares what comes "
         "out with the folder's reference by the\nlimits of check, and prints "
         "the median milliseconds.\n\n"
         "soak launches each kernel on random shapes, four times on each, and "
         "compares the results\nbit by bit. A result that changes is printed "
         "with its shape, and so is a launch that\nhangs, which ends the "
         "program.\n\n"
         "tune takes a library of fa-gen --candidates. It checks the "
         "candidates of each problem\nas selftest does, leaves the wrong ones "
         "out, times the others in turns at each length,\nand prints the "
         "rates and the fastest for up to 1024 rows, up to 4096, and more. "
         "The\nfirst one, the resource model's choice, is replaced by one "
         "that is more than 1%\nfaster. FILE is a table that fa-gen --tuned "
         "reads; its format: docs/tuning.md.\n\n"
         "Options of all (and what holds without them):\n" +
         flagLines({}) + "\nOptions of check:\n" + flagLines({Verb::Check}) +
         "\nOptions of check and time:\n" + flagLines(kKeepLists) +
         "\nOptions of time, ablate and tune:\n" + flagLines(kTiming) +
         "\nOptions of time and ablate:\n" + flagLines(kCsv) +
         "\nOptions of time, ablate, run and tune:\n" + flagLines(kRuns) +
         "\nOptions of time:\n" + flagLines({Verb::Time}) +
         "\nOptions of ablate:\n" + flagLines({Verb::Ablate}) +
         "\nOptions of launch and soak:\n" + flagLines(kLaunches) +
         "\nOptions of run:\n" + flagLines({Verb::Run}) +
         "\nOptions of tune:\n" + flagLines({Verb::Tune}) +
         "\nExit status: 0 fine, 1 a check or the library failed, 2 wrong "
         "usage, 3 a kernel\nhangs, 77 no GPU.\n";
}

static const Flag *findFlag(const std::string &name) {
  for (const Flag &flag : kFlags)
    if (name == flag.name)
      return &flag;
  return nullptr;
}

/// Applies the flag at words[at]; moves `at` to the last word that it takes.
static std::string applyFlag(const std::vector<std::string> &words, size_t &at,
                             Options &options) {
  const std::string &word = words[at];
  size_t equals = word.find('=');
  std::string name = word.substr(0, equals);
  const Flag *flag = findFlag(name);
  if (!flag)
    return "unknown option " + name;
  if (!flag->verbs.empty() && std::find(flag->verbs.begin(), flag->verbs.end(),
                                        options.verb) == flag->verbs.end())
    return name + " is an option of " + joinVerbs(flag->verbs) + " only";
  std::string value;
  if (!*flag->form && equals != std::string::npos)
    return name + " takes no value";
  if (*flag->form) {
    if (equals == std::string::npos && at + 1 == words.size())
      return name + " needs a value: " + flag->form;
    value = equals == std::string::npos ? words[++at] : word.substr(equals + 1);
  }
  if (!flag->set(options, value))
    return name + " must be " + flag->form + " (found " + value + ")";
  return "";
}

static bool isHelp(const std::string &word) {
  return word == "--help" || word == "-h";
}

static bool parseVerb(const std::string &word, Options &options,
                      std::string &error) {
  for (const VerbName &entry : kVerbs)
    if (word == entry.name)
      options.verb = entry.verb;
  if (options.verb == Verb::Help)
    error = "unknown verb " + word + " (known: " + joinVerbs({}) + ")";
  if (options.verb == Verb::Ablate)
    options.seqs = {1024, 4096};
  if (options.verb == Verb::Tune)
    options.warmup = 3;
  return error.empty();
}

static bool parseWords(const std::vector<std::string> &words, Options &options,
                       std::string &error) {
  for (size_t at = 1; at < words.size(); ++at) {
    if (words[at].compare(0, 2, "--") == 0 || words[at] == "-o")
      error = applyFlag(words, at, options);
    else if (options.directory.empty())
      options.directory = words[at];
    else
      error = "one folder, not also " + words[at];
    if (!error.empty())
      return false;
  }
  if (options.directory.empty())
    error = "the library's folder is missing";
  else if (options.merge && options.table.empty())
    error = "--merge needs -o FILE";
  else if (options.verb == Verb::Run && options.data.empty())
    error = "--data, the folder of the program's tensors, is missing";
  return error.empty();
}

std::optional<Options>
fa::bench::parseCommandLine(const std::vector<std::string> &words,
                            std::string &error) {
  Options options;
  error.clear();
  for (const std::string &word : words)
    if (isHelp(word))
      return options;
  if (words.empty())
    error = "a verb is missing (known: " + joinVerbs({}) + ")";
  else if (parseVerb(words[0], options, error))
    parseWords(words, options, error);
  if (!error.empty())
    return std::nullopt;
  return options;
}
