//===- Run.cpp - fa-bench run ---------------------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a program, a kernel that is no attention, on tensors from files, and
// compares what comes out with other files. fa-run writes them.
//
//===----------------------------------------------------------------------===//

#include "CurrentDevice.h"
#include "Failure.h"
#include "Float16.h"
#include "Npy.h"
#include "Program.h"
#include "Stopwatch.h"
#include "Tolerance.h"
#include "Verbs.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

using namespace fa;
using namespace fa::bench;

namespace {

/// Bytes behind each tensor, NaN in each type: not to be used nor written.
constexpr size_t kGuardBytes = 4096;
constexpr uint8_t kPoison = 0xff;

/// A tensor of the program on both sides.
struct CaseTensor {
  const rt::Param &param;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes; ///< with the guard
  std::unique_ptr<DeviceBuffer> buffer;

  int64_t count() const {
    int64_t product = 1;
    for (int64_t size : shape)
      product *= size;
    return product;
  }
};

/// A program with the tensors of a folder.
class Case {
public:
  Case(const Options &options, rt::Library &library, const Device &device,
       size_t index);

  void launch();
  /// Whether all outputs are as the folder says; prints a line for each.
  bool compareOutputs();
  void writeOutputs();

private:
  std::string pathOf(const std::string &name) const {
    return options.data + "/" + name + ".npy";
  }
  void addScalar(const rt::Param &param);
  void addInput(const rt::Param &param);
  void addOutput(const rt::Param &param);
  void addTensor(CaseTensor tensor);
  bool compareOutput(CaseTensor &tensor);
  std::vector<double> valuesOf(const CaseTensor &tensor) const;

  const Options &options;
  rt::Library &library;
  const Device &device;
  size_t index;
  std::vector<CaseTensor> tensors;
  std::vector<fa_extra> arguments;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

void Case::addScalar(const rt::Param &param) {
  NpyArray array = readNpy(pathOf(param.name));
  if (array.values.size() != 1)
    throw rt::Failure(FA_INVALID_ARGUMENT,
                      pathOf(param.name) +
                          ": must hold one number, for the "
                          "scalar " +
                          param.name);
  fa_extra extra = {};
  extra.name = param.name.c_str();
  extra.kind = FA_EXTRA_SCALAR;
  extra.dtype = param.dtype;
  extra.f32 = float(array.values[0]);
  extra.i32 = int32_t(array.values[0]);
  arguments.push_back(extra);
}

/// Copies the tensor to the device, and makes it an argument.
void Case::addTensor(CaseTensor tensor) {
  tensor.buffer = std::make_unique<DeviceBuffer>(device, tensor.bytes.size());
  tensor.buffer->upload(tensor.bytes.data(), tensor.bytes.size());
  fa_extra extra = {};
  extra.name = tensor.param.name.c_str();
  extra.kind = FA_EXTRA_TENSOR;
  extra.tensor.data = tensor.buffer->data();
  extra.tensor.dtype = tensor.param.dtype;
  extra.tensor.rank = int32_t(tensor.shape.size());
  int64_t stride = 1;
  for (size_t dim = tensor.shape.size(); dim-- > 0;) {
    extra.tensor.sizes[dim] = tensor.shape[dim];
    extra.tensor.strides[dim] = stride;
    stride *= tensor.shape[dim];
  }
  arguments.push_back(extra);
  tensors.push_back(std::move(tensor));
}

void Case::addInput(const rt::Param &param) {
  NpyArray array = readNpy(pathOf(param.name));
  if (array.shape.size() != size_t(param.rank))
    throw rt::Failure(FA_INVALID_ARGUMENT,
                      pathOf(param.name) + ": must have " +
                          std::to_string(param.rank) + " dimensions (found " +
                          std::to_string(array.shape.size()) + ")");
  const size_t bytes = array.values.size() * rt::dtypeBytes(param.dtype);
  CaseTensor tensor{param, array.shape, {}, nullptr};
  tensor.bytes.assign(bytes + kGuardBytes, kPoison);
  if (param.dtype == FA_I32) {
    std::vector<int32_t> integers(array.values.begin(), array.values.end());
    std::memcpy(tensor.bytes.data(), integers.data(), bytes);
  } else {
    std::vector<float> floats(array.values.begin(), array.values.end());
    narrow(param.dtype, floats.data(), tensor.bytes.data(),
           int64_t(floats.size()));
  }
  addTensor(std::move(tensor));
}

/// An output has the sizes that its parameter says, all poison before a run.
void Case::addOutput(const rt::Param &param) {
  CaseTensor tensor{param, {}, {}, nullptr};
  for (const std::vector<rt::SizeRule> &rules : param.sizes) {
    int64_t size = -1;
    for (const rt::SizeRule &rule : rules) {
      if (rule.argument == rt::Argument::Extra)
        size = rule.constant;
      for (const fa_extra &argument : arguments)
        if (rule.argument == rt::Argument::ExtraSize &&
            rule.tensor == argument.name)
          size = argument.tensor.sizes[rule.dim];
    }
    if (size < 0)
      throw rt::Failure(FA_INVALID_LIBRARY,
                        "nothing says how large the output " + param.name +
                            " is");
    tensor.shape.push_back(size);
  }
  tensor.bytes.assign(
      tensor.count() * rt::dtypeBytes(param.dtype) + kGuardBytes, kPoison);
  addTensor(std::move(tensor));
}

Case::Case(const Options &options, rt::Library &library, const Device &device,
           size_t index)
    : options(options), library(library), device(device), index(index) {
  // Inputs first: outputs take their sizes from them.
  const std::vector<rt::Param> &params = library.programs()[index].params;
  for (const rt::Param &param : params)
    if (param.kind == rt::ParamKind::Scalar)
      addScalar(param);
    else if (!param.isOutput)
      addInput(param);
  for (const rt::Param &param : params)
    if (param.isOutput)
      addOutput(param);
}

void Case::launch() {
  rt::launchProgram(library, index, arguments.data(), arguments.size(),
                    device.stream());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::vector<double> Case::valuesOf(const CaseTensor &tensor) const {
  const auto count = size_t(tensor.count());
  if (tensor.param.dtype == FA_I32) {
    std::vector<int32_t> integers(count);
    std::memcpy(integers.data(), tensor.bytes.data(), count * sizeof(int32_t));
    return {integers.begin(), integers.end()};
  }
  std::vector<float> floats(count);
  widen(tensor.param.dtype, tensor.bytes.data(), floats.data(), int64_t(count));
  return {floats.begin(), floats.end()};
}

/// An array of the shape of an output.
static NpyArray readShaped(const std::string &path, const CaseTensor &tensor) {
  NpyArray array = readNpy(path);
  if (array.shape != tensor.shape)
    throw rt::Failure(FA_INVALID_ARGUMENT,
                      path + ": must have the shape of the output " +
                          tensor.param.name);
  return array;
}

bool Case::compareOutput(CaseTensor &tensor) {
  const std::string &name = tensor.param.name;
  tensor.buffer->download(tensor.bytes.data(), tensor.bytes.size());
  bool isInside =
      std::all_of(tensor.bytes.end() - kGuardBytes, tensor.bytes.end(),
                  [](uint8_t byte) { return byte == kPoison; });
  if (!isInside) {
    std::printf("FAIL %s: was written behind its end\n", name.c_str());
    return false;
  }
  const std::string reference = pathOf(name + ".reference");
  if (!std::filesystem::exists(reference)) {
    std::printf("-    %s: not compared, there is no %s\n", name.c_str(),
                reference.c_str());
    return true;
  }
  NpyArray wanted = readShaped(reference, tensor);
  const std::string naive = pathOf(name + ".naive");
  std::vector<double> naiveValues;
  if (std::filesystem::exists(naive))
    naiveValues = readShaped(naive, tensor).values;
  ElementComparison result =
      compareElements(tensor.param.dtype, tensor.bytes, valuesOf(tensor),
                      wanted.values, naiveValues);
  std::printf("%s %s: error %.3e, limit %.3e, elements %zu%s%s\n",
              result.passed() ? "ok  " : "FAIL", name.c_str(), result.error,
              result.limit, wanted.values.size(),
              result.fault.empty() ? "" : "; ", result.fault.c_str());
  return result.passed();
}

bool Case::compareOutputs() {
  bool passed = true;
  for (CaseTensor &tensor : tensors)
    if (tensor.param.isOutput)
      passed &= compareOutput(tensor);
  return passed;
}

void Case::writeOutputs() {
  std::filesystem::create_directories(options.output);
  for (const CaseTensor &tensor : tensors)
    if (tensor.param.isOutput)
      writeNpy(options.output + "/" + tensor.param.name + ".npy",
               {tensor.shape, valuesOf(tensor)});
}

//===----------------------------------------------------------------------===//
// The verb
//===----------------------------------------------------------------------===//

/// The program of --program, or the only one that runs here. Throws.
static size_t chooseProgram(const Options &options,
                            const rt::Library &library) {
  if (!options.program.empty())
    return rt::findProgram(library, options.program);
  std::vector<size_t> fitting;
  for (size_t i = 0; i != library.programs().size(); ++i)
    if (library.programs()[i].runsOn(rt::currentCapability()))
      fitting.push_back(i);
  if (fitting.size() == 1)
    return fitting[0];
  throw rt::Failure(FA_NO_KERNEL,
                    "of the " + std::to_string(library.programs().size()) +
                        " programs of the library " +
                        std::to_string(fitting.size()) +
                        " run on this device: --program=NAME chooses one");
}

int fa::bench::runProgram(const Options &options, rt::Library &library,
                          const Device &device) {
  const size_t index = chooseProgram(options, library);
  const std::string &name = library.programs()[index].name;
  Case tensors(options, library, device, index);
  tensors.launch();
  device.wait(options.timeoutS, name);
  bool passed = tensors.compareOutputs();
  if (!options.output.empty())
    tensors.writeOutputs();
  Stopwatch stopwatch(device,
                      {options.runs, options.warmup, 0.1, options.timeoutS});
  double ms = stopwatch.medianMs([&] { tensors.launch(); }, name, [] {});
  std::printf("%s on %s: median %.4f ms of %d launches\n", name.c_str(),
              device.describe().c_str(), ms, options.runs);
  return passed ? kOk : kFailed;
}
