//===- Report.cpp - A page on a library's kernels -------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "Html.h"
#include "Roofline.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace fa;

//===----------------------------------------------------------------------===//
// Facts of a kernel
//===----------------------------------------------------------------------===//

namespace {
/// What the page says of a kernel that was made.
struct Facts {
  const KernelRequest *request;
  const llvm::json::Object *entry;
  const Target *target;
  std::optional<Schedule> schedule;
  std::optional<Roofline> roofline;
  uint64_t bytes = 0;
  double seconds = 0;
};
} // namespace

/// The schedule of a manifest's entry.
static std::optional<Schedule> parseSchedule(MLIRContext &context,
                                             const llvm::json::Object &entry) {
  context.loadDialect<attn::AttnDialect>();
  auto attr = dyn_cast_or_null<attn::ScheduleAttr>(
      parseAttribute(entry.getString("schedule").value_or(""), &context));
  if (!attr)
    return std::nullopt;
  return attn::toSchedule(attr);
}

static Facts collectFacts(MLIRContext &context, const Library::Job &job,
                          StringRef folder) {
  Facts facts{&job.request, &*job.entry, Target::lookup(job.request.arch),
              {},           {},          0,
              job.seconds};
  facts.schedule = parseSchedule(context, *facts.entry);
  // Decoding waits for K and V from memory, which is the card's business.
  const KernelSpec &spec = job.request.spec;
  if (facts.schedule && !spec.isProgram && spec.lengths != Lengths::Decode)
    facts.roofline =
        computeRoofline(spec.problem, *facts.schedule, *facts.target);
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, facts.entry->getString("file").value_or(""));
  llvm::sys::fs::file_size(path, facts.bytes);
  return facts;
}

/// The launches of a kernel, of which most have one.
static std::vector<const llvm::json::Object *>
launchesOf(const llvm::json::Object &entry) {
  const llvm::json::Array *launches = entry.getArray("launches");
  if (!launches)
    return {&entry};
  std::vector<const llvm::json::Object *> list;
  for (const llvm::json::Value &launch : *launches)
    list.push_back(launch.getAsObject());
  return list;
}

static int64_t integer(const llvm::json::Object &object, StringRef name) {
  return object.getInteger(name).value_or(0);
}

/// "bf16, D 192/128, causal".
static std::string describeProblem(const KernelSpec &spec) {
  if (spec.isProgram)
    return "a program";
  std::string text = spec.dtype + ", D " + std::to_string(spec.headDim);
  if (spec.headDimV != spec.headDim)
    text += "/" + std::to_string(spec.headDimV);
  return text + ", " + spec.variant;
}

static std::string describeRows(const llvm::json::Object &entry) {
  std::optional<int64_t> rows = entry.getInteger("max_rows");
  return rows ? "up to " + std::to_string(*rows) : "any";
}

static std::string describeStages(int64_t stages) {
  return std::to_string(stages) + (stages == 1 ? " stage" : " stages");
}

/// "128 x 96, 2 x 4 warps, 2 stages, first-max".
static std::string describeSchedule(const Facts &facts) {
  if (!facts.schedule)
    return "";
  const Schedule &schedule = *facts.schedule;
  return llvm::formatv("{0} x {1}, {2} x {3} warps, {4}, {5}", schedule.br,
                       schedule.bc, schedule.teams, schedule.warps,
                       describeStages(schedule.stages),
                       nameRescale(schedule.rescale));
}

static std::string describeSeconds(double seconds) {
  return seconds > 0 ? llvm::formatv("{0:f2} s", seconds).str() : "kept";
}

static std::string describeBytes(uint64_t bytes) {
  return llvm::formatv("{0:f1} KiB", double(bytes) / 1024);
}

/// The highest rate that was measured; "" without one.
static std::string describeBest(const Measurement &measured) {
  if (measured.tflops.empty())
    return "";
  return llvm::formatv("{0:f0}", *llvm::max_element(measured.tflops));
}

//===----------------------------------------------------------------------===//
// The table of all
//===----------------------------------------------------------------------===//

/// Of a kernel's launches the one that makes the products: those that list
/// blocks or merge parts have no tiles in shared memory.
static const llvm::json::Object &mainLaunchOf(const llvm::json::Object &entry) {
  std::vector<const llvm::json::Object *> launches = launchesOf(entry);
  auto shared = [](const llvm::json::Object *launch) {
    return integer(*launch, "shared_bytes");
  };
  return **llvm::max_element(launches, [&](const auto *a, const auto *b) {
    return shared(a) < shared(b);
  });
}

static void printRow(llvm::raw_ostream &os, const Facts &facts) {
  const llvm::json::Object &launch = mainLaunchOf(*facts.entry);
  std::string name = escaped(kernelName(*facts.request));
  int64_t registers = integer(launch, "registers");
  int64_t shared = integer(launch, "shared_bytes");
  os << "<tr><td><a href=\"#" << name << "\">" << name << "</a></td><td>"
     << describeRows(*facts.entry) << "</td><td>" << describeSchedule(facts)
     << "</td><td class=\"n\">" << registers << "</td><td class=\"n\">"
     << llvm::formatv("{0:f0} KiB", double(shared) / 1024)
     << "</td><td class=\"n\">" << describeSeconds(facts.seconds)
     << "</td><td class=\"n\">" << describeBytes(facts.bytes)
     << "</td><td class=\"n\">" << describeBest(facts.request->measured)
     << "</td><td class=\"n\">";
  if (facts.roofline)
    os << llvm::formatv("{0:f0}", facts.roofline->bound);
  os << "</td></tr>\n";
}

static void printTable(llvm::raw_ostream &os, ArrayRef<Facts> all) {
  os << "<div class=\"wide\"><table>\n<tr><th>kernel</th><th>rows</th>"
        "<th>block, teams, stages</th><th class=\"n\">registers</th>"
        "<th class=\"n\">shared</th><th class=\"n\">compiled</th>"
        "<th class=\"n\">size</th><th class=\"n\">TFLOP/s</th>"
        "<th class=\"n\">bound</th></tr>\n";
  for (const Facts &facts : all)
    printRow(os, facts);
  os << "</table></div>\n";
}

//===----------------------------------------------------------------------===//
// A kernel's section
//===----------------------------------------------------------------------===//

static void printBar(llvm::raw_ostream &os, StringRef what, double value,
                     double limit, const std::string &words, double mark = 0) {
  os << "<tr><td>" << what << "</td><td>" << drawBar(value, limit, words, mark)
     << "</td><td>" << escaped(words) << "</td></tr>\n";
}

/// What a launch takes of a multiprocessor, against what there is.
static void printResources(llvm::raw_ostream &os,
                           const llvm::json::Object &launch,
                           const Target &target) {
  auto of = [](int64_t value, int64_t limit) {
    return std::to_string(value) + " of " + std::to_string(limit);
  };
  int64_t shared = integer(launch, "shared_bytes");
  int64_t block = integer(launch, "block");
  printBar(os, "shared memory of a block", double(shared),
           double(target.sharedBytesPerBlock),
           of(shared, target.sharedBytesPerBlock) + " bytes");
  if (!launch.getInteger("registers"))
    return;
  int64_t registers = integer(launch, "registers");
  printBar(os, "registers of a thread at the launch", double(registers),
           double(target.maxRegistersPerThread),
           of(registers, target.maxRegistersPerThread));
  printBar(os, "registers of a block", double(registers * block),
           double(target.registersPerSM),
           of(registers * block, target.registersPerSM));
  os << "<tr><td>spilled by ptxas</td><td></td><td>"
     << integer(launch, "spill_bytes") << " bytes a thread</td></tr>\n";
}

/// The measured rate at each length, against the tensor cores' peak, with the
/// roofline's bound as a mark.
static void printSpeed(llvm::raw_ostream &os, const Facts &facts) {
  const Measurement &measured = facts.request->measured;
  if (facts.roofline)
    os << llvm::formatv("<p>By the roofline at most {0:f0} TFLOP/s of {1:f0}, "
                        "limited by the {2}.</p>\n",
                        facts.roofline->bound, facts.roofline->peak,
                        facts.roofline->unit);
  if (measured.tflops.empty()) {
    os << "<p class=\"soft\">Not in a table of measured schedules.</p>\n";
    return;
  }
  double limit = facts.roofline ? facts.roofline->peak
                                : *llvm::max_element(measured.tflops);
  os << "<table>\n";
  for (auto [seq, rate] : llvm::zip_equal(measured.seqs, measured.tflops))
    printBar(os, "S " + std::to_string(seq), rate, limit,
             llvm::formatv("{0:f1} TFLOP/s, {1:f0}% of the peak", rate,
                           100 * rate / limit),
             facts.roofline ? facts.roofline->bound : 0);
  os << "</table>\n<p class=\"soft\">Measured on " << escaped(measured.source)
     << ".</p>\n";
}

/// Links to the levels' files, or the levels themselves, which of E would be
/// most of the page.
static void printLevels(llvm::raw_ostream &os, const ReportedKernel &kernel,
                        const ReportPlaces &places) {
  if (kernel.levels.empty())
    return;
  os << "<h3>IR</h3>\n";
  if (!places.levels.empty()) {
    os << "<p>";
    for (const LevelText &level : kernel.levels)
      os << "<a href=\""
         << escaped(places.levels + "/" + kernelName(kernel.job->request) +
                    "/" + level.file)
         << "\">" << escaped(level.title) << "</a> &nbsp; ";
    os << "</p>\n";
    return;
  }
  for (const LevelText &level : ArrayRef(kernel.levels).drop_back())
    os << "<details><summary>" << escaped(level.title) << "</summary>\n<pre>"
       << escaped(level.text) << "</pre></details>\n";
}

static void printKernel(llvm::raw_ostream &os, const Facts &facts,
                        const ReportedKernel &kernel,
                        const ReportPlaces &places) {
  std::string name = escaped(kernelName(*facts.request));
  os << "<section id=\"" << name << "\">\n<h2>" << name << "</h2>\n<p>"
     << escaped(describeProblem(facts.request->spec)) << ", "
     << facts.request->arch << ", by " << facts.request->step->name
     << "; rows: " << describeRows(*facts.entry) << "; "
     << describeBytes(facts.bytes) << ", " << describeSeconds(facts.seconds)
     << "</p>\n<p><code>"
     << escaped(facts.entry->getString("schedule").value_or(""))
     << "</code></p>\n";
  if (int64_t more = integer(*facts.entry, "more_registers"))
    os << "<p>ptxas spilled with the model's first choice. Of this one it did "
          "not: with "
       << more << " registers of a thread added to the model's count.</p>\n";
  for (const llvm::json::Object *launch : launchesOf(*facts.entry)) {
    os << "<h3>" << escaped(launch->getString("entry").value_or("")) << ", "
       << integer(*launch, "block") << " threads</h3>\n<table>\n";
    printResources(os, *launch, *facts.target);
    os << "</table>\n";
  }
  os << "<h3>Speed</h3>\n";
  printSpeed(os, facts);
  printLevels(os, kernel, places);
  os << "</section>\n";
}

/// A kernel that could not be made, and why.
static void printFailure(llvm::raw_ostream &os, const Library::Job &job) {
  os << "<section class=\"bad\">\n<h2>" << escaped(kernelName(job.request))
     << " was " << (job.request.isTrial ? "left out" : "not made")
     << "</h2>\n<pre>" << escaped(job.diagnostics) << "</pre>\n</section>\n";
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

/// The library in one sentence.
static void printSummary(llvm::raw_ostream &os, ArrayRef<Facts> all,
                         size_t failures) {
  uint64_t bytes = 0;
  double seconds = 0;
  std::string ptxas;
  for (const Facts &facts : all) {
    bytes += facts.bytes;
    seconds += facts.seconds;
    if (std::optional<StringRef> version = facts.entry->getString("ptxas"))
      ptxas = ", ptxas " + version->str();
  }
  os << "<p class=\"soft\">fa-gen " << FLASHLOOM_VERSION << escaped(ptxas)
     << ": " << all.size() << (all.size() == 1 ? " kernel, " : " kernels, ")
     << describeBytes(bytes)
     << llvm::formatv(", {0:f1} s of compile time", seconds);
  if (failures)
    os << "; " << failures << " not made";
  os << "</p>\n<p class=\"soft\">A bar of the other colour has no room for "
        "more. TFLOP/s: the highest in the table of measured schedules. Bound: "
        "the roofline's.</p>\n";
}

void fa::printReport(llvm::raw_ostream &os, MLIRContext &context,
                     const std::vector<ReportedKernel> &kernels,
                     const ReportPlaces &places) {
  std::vector<Facts> all;
  std::vector<const ReportedKernel *> made;
  std::vector<const Library::Job *> failures;
  for (const ReportedKernel &kernel : kernels) {
    if (!kernel.job->entry) {
      failures.push_back(kernel.job);
      continue;
    }
    all.push_back(collectFacts(context, *kernel.job, places.folder));
    made.push_back(&kernel);
  }
  beginPage(os, "Kernel library " + places.folder);
  os << "<h1>Kernel library <code>" << escaped(places.folder)
     << "</code></h1>\n";
  printSummary(os, all, failures.size());
  printTable(os, all);
  for (const Library::Job *job : failures)
    printFailure(os, *job);
  for (auto [facts, kernel] : llvm::zip_equal(all, made))
    printKernel(os, facts, *kernel, places);
  endPage(os);
}
