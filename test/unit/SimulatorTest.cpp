//===- SimulatorTest.cpp - The simulator's parts -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simulator/Ring.h"

#include "fa/Pipelines/Register.h"
#include "fa/Simulator/CostTable.h"
#include "fa/Simulator/Fragment.h"
#include "fa/Simulator/Simulator.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace fa;
using namespace fa::sim;

namespace {

//===----------------------------------------------------------------------===//
// Narrowing
//===----------------------------------------------------------------------===//

/// What LLVM's arithmetic rounds `value` to.
float expected(const llvm::fltSemantics &semantics, float value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

/// Bits that meet every exponent, both signs, and ties.
template <typename F> void forManyFloats(F f) {
  for (uint32_t high = 0; high < 0x10000; high += 3)
    for (uint32_t low : {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u,
                         0x8001u, 0xf000u, 0xffffu}) {
      uint32_t bits = high << 16 | low;
      float value;
      std::memcpy(&value, &bits, 4);
      if (!std::isnan(value))
        f(value);
    }
}

TEST(Rounding, IsThatOfTheHardware) {
  forManyFloats([](float value) {
    ASSERT_EQ(roundTo(FloatFormat::F16, value),
              expected(llvm::APFloat::IEEEhalf(), value))
        << value;
    ASSERT_EQ(roundTo(FloatFormat::BF16, value),
              expected(llvm::APFloat::BFloat(), value))
        << value;
    ASSERT_EQ(roundTo(FloatFormat::F32, value), value);
  });
  for (FloatFormat format : {FloatFormat::F16, FloatFormat::BF16})
    EXPECT_TRUE(std::isnan(roundTo(format, NAN)));
}

TEST(Memory, HoldsEveryNarrowFloat) {
  for (FloatFormat format : {FloatFormat::F16, FloatFormat::BF16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      uint16_t before = bits, after = 0;
      float value;
      decode(format, reinterpret_cast<char *>(&before), 1, &value);
      encode(format, &value, 1, reinterpret_cast<char *>(&after));
      if (std::isnan(value))
        continue;
      ASSERT_EQ(before, after);
      ASSERT_EQ(roundTo(format, value), value);
    }
}

TEST(Product, IsTheOneOfEitherOperandOrder) {
  const float a[] = {1, 2, 3, 4, 5, 6};       // [2, 3]
  const float b[] = {1, 0, 2, 0, 1, 3};       // [3, 2]
  const float swapped[] = {1, 2, 1, 0, 0, 3}; // [2, 3]
  float c[] = {10, 20, 30, 40}, d[] = {10, 20, 30, 40};
  multiplyAdd(a, b, /*transposed=*/false, c, 2, 2, 3);
  multiplyAdd(a, swapped, /*transposed=*/true, d, 2, 2, 3);
  const float sums[] = {18, 29, 50, 58};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(c[i], sums[i]);
    EXPECT_EQ(d[i], sums[i]);
  }
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// Acquires and fills the next stage.
int64_t fillNext(Ring &ring, unsigned producer = 0) {
  bool isFirst;
  int64_t use = ring.acquire(producer, isFirst);
  EXPECT_EQ(ring.startCopy(use, producer), "");
  ring.finishCopy(use, producer);
  return use;
}

TEST(Ring, HandsStagesRoundInOrder) {
  Ring ring(2, 1, 1);
  for (int64_t use = 0; use < 5; ++use) {
    ASSERT_TRUE(ring.canAcquire(0));
    EXPECT_EQ(fillNext(ring), use);
    EXPECT_EQ(ring.getStage(use), use % 2);
    ASSERT_TRUE(ring.canConsume(0));
    EXPECT_EQ(ring.consume(0), use);
    EXPECT_EQ(ring.checkRead(use, 0), "");
    bool isLast = false;
    EXPECT_EQ(ring.release(use, 0, isLast), "");
    EXPECT_TRUE(isLast);
  }
  EXPECT_TRUE(ring.getOpenUses().empty());
}

TEST(Ring, IsFullWhenAllStagesAre) {
  Ring ring(2, 1, 1);
  fillNext(ring);
  fillNext(ring);
  EXPECT_FALSE(ring.canAcquire(0));
  EXPECT_EQ(ring.getOpenUses().size(), 2u);
  EXPECT_EQ(ring.getState(0), Ring::Open::NotConsumed);
}

TEST(Ring, WaitsForAllProducersAndConsumers) {
  Ring ring(1, 2, 2);
  fillNext(ring, 0);
  EXPECT_FALSE(ring.canConsume(0));
  EXPECT_EQ(ring.getMissingCopies(0), llvm::SmallVector<unsigned>{1});
  EXPECT_TRUE(ring.canAcquire(1));
  fillNext(ring, 1);
  EXPECT_TRUE(ring.canConsume(0) && ring.canConsume(1));
  ring.consume(0);
  ring.consume(1);
  bool isLast = false;
  EXPECT_EQ(ring.release(0, 0, isLast), "");
  EXPECT_FALSE(isLast || ring.canAcquire(0));
  EXPECT_EQ(ring.getHolders(0), llvm::SmallVector<unsigned>{1});
  EXPECT_EQ(ring.getState(0), Ring::Open::NotReleased);
  EXPECT_EQ(ring.release(0, 1, isLast), "");
  EXPECT_TRUE(isLast && ring.canAcquire(0));
}

TEST(Ring, NamesTheRuleThatIsBroken) {
  Ring ring(1, 1, 1);
  int64_t use = fillNext(ring);
  bool ignored;
  EXPECT_NE(ring.checkRead(use, 0), "");
  EXPECT_NE(ring.startCopy(use, 0), "");
  ring.consume(0);
  EXPECT_EQ(ring.release(use, 0, ignored), "");
  EXPECT_NE(ring.release(use, 0, ignored), "");
  EXPECT_NE(ring.checkRead(use, 0), "");
  fillNext(ring);
  EXPECT_NE(ring.startCopy(use, 0), "");
  EXPECT_NE(ring.release(use, 0, ignored), "");
}

//===----------------------------------------------------------------------===//
// Costs and time lines
//===----------------------------------------------------------------------===//

TEST(CostTable, KnowsThatHopperMultipliesTwiceAsFast) {
  EXPECT_EQ(CostTable::get(*Target::lookup("sm_90a")).productsPerCycle,
            2 * CostTable::get(*Target::lookup("sm_80")).productsPerCycle);
}

TEST(Trace, IsJSONWithNamedTracks) {
  Trace trace;
  trace.nameTrack(3, 0, "team \"0\"");
  trace.add(3, 0, "compute", 100, 350, "why");
  std::string text;
  llvm::raw_string_ostream stream(text);
  trace.write(stream);
  auto json = llvm::json::parse(text);
  ASSERT_TRUE(bool(json));
  const llvm::json::Array &events =
      *json->getAsObject()->getArray("traceEvents");
  ASSERT_EQ(events.size(), 3u);
  const llvm::json::Object &slice = *events[2].getAsObject();
  EXPECT_EQ(slice.getString("name"), llvm::StringRef("compute"));
  EXPECT_EQ(slice.getInteger("pid"), 3);
  EXPECT_DOUBLE_EQ(*slice.getNumber("dur"), 0.25);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// An op on scalars, and what it gives as an f32.
struct ScalarCase {
  const char *op, *type;
  float expected;
};

/// The operands that cases may use.
const char *const kOperands = R"(
    %m7 = arith.constant -7 : i32
    %p2 = arith.constant 2 : i32
    %p40 = arith.constant 40 : i32
    %m1 = arith.constant -1 : i8
    %yes = arith.constant true
    %i5 = arith.constant 5 : index
    %i2 = index.constant 2
    %im5 = arith.constant -5 : index
    %x = arith.constant 2.5 : f32
    %y = arith.constant -4.0 : f32
    %nan = arith.constant 0x7FC00000 : f32
    %third = arith.constant 0.333333343 : f32
    %big = arith.constant 1.0e10 : f32
    %h = arith.constant 1.5 : f16
)";

const ScalarCase kScalarCases[] = {
    {"arith.addi %m7, %p2 : i32", "i32", -5},
    {"arith.subi %p2, %m7 : i32", "i32", 9},
    {"arith.muli %m7, %p2 : i32", "i32", -14},
    {"arith.divsi %m7, %p2 : i32", "i32", -3},
    {"arith.remsi %m7, %p2 : i32", "i32", -1},
    {"arith.floordivsi %m7, %p2 : i32", "i32", -4},
    {"arith.ceildivsi %m7, %p2 : i32", "i32", -3},
    {"arith.divui %m7, %p2 : i32", "i32", 0x1p31f},
    {"arith.remui %m7, %p2 : i32", "i32", 1},
    {"arith.ceildivui %i5, %i2 : index", "index", 3},
    {"arith.maxsi %m7, %p2 : i32", "i32", 2},
    {"arith.maxui %m7, %p2 : i32", "i32", -7},
    {"arith.minsi %m7, %p2 : i32", "i32", -7},
    {"arith.minui %m7, %p2 : i32", "i32", 2},
    {"arith.andi %m7, %p2 : i32", "i32", 0},
    {"arith.ori %m7, %p2 : i32", "i32", -5},
    {"arith.xori %m7, %p2 : i32", "i32", -5},
    {"arith.shli %m7, %p2 : i32", "i32", -28},
    {"arith.shli %m7, %p40 : i32", "i32", 0},
    {"arith.shrsi %m7, %p2 : i32", "i32", -2},
    {"arith.shrui %m7, %p2 : i32", "i32", 0x1p30f},
    {"arith.extsi %m1 : i8 to i32", "i32", -1},
    {"arith.extui %m1 : i8 to i32", "i32", 255},
    {"arith.extsi %yes : i1 to i32", "i32", -1},
    {"arith.extui %yes : i1 to i32", "i32", 1},
    {"arith.trunci %m7 : i32 to i8", "i8", -7},
    {"arith.index_cast %im5 : index to i32", "i32", -5},
    {"arith.cmpi slt, %m7, %p2 : i32", "i1", 1},
    {"arith.cmpi ult, %m7, %p2 : i32", "i1", 0},
    {"arith.cmpf ogt, %x, %y : f32", "i1", 1},
    {"arith.cmpf oeq, %nan, %nan : f32", "i1", 0},
    {"arith.cmpf une, %nan, %nan : f32", "i1", 1},
    {"arith.cmpf ult, %nan, %x : f32", "i1", 1},
    {"arith.select %yes, %x, %y : f32", "f32", 2.5},
    {"arith.fptosi %y : f32 to i32", "i32", -4},
    {"arith.fptosi %big : f32 to i32", "i32", 0x1p31f},
    {"arith.fptosi %nan : f32 to i32", "i32", 0},
    {"arith.fptoui %y : f32 to i32", "i32", 0},
    {"arith.bitcast %x : f32 to i32", "i32", 1075838976},
    {"math.absi %m7 : i32", "i32", 7},
    {"math.ctlz %p40 : i32", "i32", 26},
    {"math.cttz %p40 : i32", "i32", 3},
    {"math.ctpop %m1 : i8", "i8", 8},
    {"math.powf %x, %y : f32", "f32", 0.0256f},
    {"arith.addf %x, %y : f32", "f32", -1.5},
    {"arith.divf %x, %y : f32", "f32", -0.625},
    {"arith.negf %x : f32", "f32", -2.5},
    {"arith.maxnumf %nan, %x : f32", "f32", 2.5},
    {"arith.maxnumf %x, %nan : f32", "f32", 2.5},
    {"arith.minnumf %y, %nan : f32", "f32", -4},
    {"arith.maximumf %x, %y : f32", "f32", 2.5},
    {"arith.maximumf %x, %nan : f32", "f32", NAN},
    {"arith.minimumf %nan, %x : f32", "f32", NAN},
    {"arith.truncf %third : f32 to f16", "f16", 0x1.554p-2f},
    {"arith.addf %h, %h : f16", "f16", 3},
    {"math.fma %x, %y, %y : f32", "f32", -14},
    {"math.exp2 %y fastmath<afn> : f32", "f32", 0.0625},
    {"math.absf %y : f32", "f32", 4},
    {"math.floor %x : f32", "f32", 2},
    {"math.ceil %x : f32", "f32", 3},
    {"index.divs %im5, %i2", "index", -2},
    {"index.floordivs %im5, %i2", "index", -3},
    {"index.remu %i5, %i2", "index", 1},
    {"index.castu %m1 : i8 to index", "index", 255},
};

/// Lines that turn `%r` of `type` into the f32 `%f`.
std::string toFloat(llvm::StringRef type) {
  if (type == "f32")
    return "%f = arith.addf %r, %zero : f32\n";
  if (type == "f16")
    return "%f = arith.extf %r : f16 to f32\n";
  if (type == "i1")
    return "%f = arith.uitofp %r : i1 to f32\n";
  if (type == "index")
    return "%s = arith.index_cast %r : index to i32\n"
           "%f = arith.sitofp %s : i32 to f32\n";
  return ("%f = arith.sitofp %r : " + type + " to f32\n").str();
}

class Arithmetic : public ::testing::TestWithParam<ScalarCase> {};

TEST_P(Arithmetic, IsThatOfTheDialects) {
  std::string text = "gpu.module @m { gpu.func @k(%O: memref<1xf32>) kernel {" +
                     std::string(kOperands) +
                     "%zero = arith.constant -0.0 : f32\n"
                     "%c0 = arith.constant 0 : index\n"
                     "cta.role \"all\" teams(%w in 1) warps(1) {\n%r = " +
                     GetParam().op + "\n" + toFloat(GetParam().type) +
                     "%v = vector.broadcast %f : f32 to vector<1xf32>\n"
                     "cta.store %v, %O[%c0] : vector<1xf32>, memref<1xf32>\n"
                     "} gpu.return } }";
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  mlir::gpu::GPUFuncOp kernel;
  module->walk([&](mlir::gpu::GPUFuncOp func) { kernel = func; });
  float result = -12345;
  MemRefArgument out{reinterpret_cast<char *>(&result), {1}, {1}};
  ASSERT_TRUE(mlir::succeeded(simulate(kernel, {out}, Options())));
  if (std::isnan(GetParam().expected))
    EXPECT_TRUE(std::isnan(result)) << GetParam().op;
  else
    EXPECT_EQ(result, GetParam().expected) << GetParam().op;
}

TEST(IntegerTensor, IsReadAndNotStored) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diag) { message = diag.str(); });
  auto run = [&](const char *body, float &out) {
    std::string text = "gpu.module @m { gpu.func @k(%N: memref<2xi32>, %O: "
                       "memref<1xf32>, %i: index) kernel { cta.role \"all\" "
                       "teams(%w in 1) warps(1) {\n" +
                       std::string(body) + "} gpu.return } }";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    mlir::gpu::GPUFuncOp kernel;
    module->walk([&](mlir::gpu::GPUFuncOp func) { kernel = func; });
    int32_t numbers[] = {5, -9};
    MemRefArgument in{reinterpret_cast<char *>(numbers), {2}, {1}};
    MemRefArgument result{reinterpret_cast<char *>(&out), {1}, {1}};
    return simulate(kernel, {in, result, int64_t(1)}, Options());
  };
  float out = 0;
  EXPECT_TRUE(mlir::succeeded(
      run("%c0 = arith.constant 0 : index\n"
          "%n = memref.load %N[%i] : memref<2xi32>\n"
          "%f = arith.sitofp %n : i32 to f32\n"
          "%v = vector.broadcast %f : f32 to vector<1xf32>\n"
          "cta.store %v, %O[%c0] : vector<1xf32>, memref<1xf32>\n",
          out)));
  EXPECT_EQ(out, -9);
  EXPECT_TRUE(
      mlir::failed(run("%v = arith.constant dense<1> : vector<2xi32>\n"
                       "cta.store %v, %N[%i] : vector<2xi32>, memref<2xi32>\n",
                       out)));
  EXPECT_EQ(message, "the simulator does not know stores of integers");
}

INSTANTIATE_TEST_SUITE_P(Ops, Arithmetic, ::testing::ValuesIn(kScalarCases));

//===----------------------------------------------------------------------===//
// A kernel that is no attention
//===----------------------------------------------------------------------===//

/// The file's GEMM with an epilogue, relu(A B + bias), lowered by `passes`.
class Gemm {
public:
  explicit Gemm(llvm::StringRef passes) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    static const bool registered = [] {
      registerPasses();
      return true;
    }();
    (void)registered;
    module = mlir::parseSourceFile<mlir::ModuleOp>(GEMM_FILE, &context);
    mlir::PassManager manager(&context);
    EXPECT_TRUE(mlir::succeeded(mlir::parsePassPipeline(passes, manager)));
    EXPECT_TRUE(mlir::succeeded(manager.run(*module)));
    module->walk([&](mlir::gpu::GPUFuncOp func) { kernel = func; });
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::gpu::GPUFuncOp kernel;
};

/// A matrix of f16 in memory.
struct Matrix {
  int64_t rows, cols;
  std::vector<uint16_t> bits;

  Matrix(int64_t rows, int64_t cols, float step)
      : rows(rows), cols(cols), bits(rows * cols) {
    for (int64_t i = 0; i < rows * cols; ++i) {
      float value = roundTo(FloatFormat::F16, std::sin(i * step));
      encode(FloatFormat::F16, &value, 1, data() + 2 * i);
    }
  }
  char *data() { return reinterpret_cast<char *>(bits.data()); }
  float at(int64_t row, int64_t col) {
    float value;
    decode(FloatFormat::F16, data() + 2 * (row * cols + col), 1, &value);
    return value;
  }
  Argument argument() {
    return MemRefArgument{data(), {rows, cols}, {cols, 1}};
  }
};

/// The largest error of the kernel's results on `rows` rows, in order `seed`.
/// `cycles` is how long the longest block took.
double gemmError(Gemm &gemm, int64_t rows, uint64_t seed, double &cycles) {
  Matrix a(rows, 256, 1.7f), b(256, 512, 0.9f), d(rows, 512, NAN);
  const float bias = 0.5f;
  Options options;
  options.seed = seed;
  auto statistics = simulate(
      gemm.kernel, {a.argument(), b.argument(), bias, d.argument()}, options);
  EXPECT_TRUE(mlir::succeeded(statistics));
  EXPECT_EQ(statistics->blocks, (rows + 63) / 64 * 8);
  cycles = statistics->longestBlock;
  double worst = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < 512; ++j) {
      double sum = bias;
      for (int64_t k = 0; k < 256; ++k)
        sum += double(a.at(i, k)) * b.at(k, j);
      double error = std::fabs(d.at(i, j) - std::max(sum, 0.0));
      // A NaN that was not overwritten is the worst of all.
      worst = error <= worst ? worst : error;
    }
  return worst;
}

TEST(Simulator, RunsAProductWithAnEpilogue) {
  for (llvm::StringRef passes :
       {"map-warps", "map-warps,gpu.module(stage-tiles,prefetch)"}) {
    Gemm gemm(passes);
    ASSERT_TRUE(gemm.kernel);
    // Sums of 256 products are up to about 40, where f16 has steps of 2^-5.
    double cycles = 0;
    for (uint64_t seed : {0, 1, 2})
      EXPECT_LT(gemmError(gemm, 100, seed, cycles), 0x1p-5) << passes.str();
  }
}

TEST(Simulator, DrawsTheSameTimesFromTheSameSeed) {
  Gemm gemm("map-warps,gpu.module(stage-tiles,prefetch)");
  double first, again, other;
  gemmError(gemm, 64, 1, first);
  gemmError(gemm, 64, 1, again);
  gemmError(gemm, 64, 2, other);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

TEST(Simulator, RefusesArgumentsOfOtherTypes) {
  Gemm gemm("map-warps");
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      &gemm.context, [&](mlir::Diagnostic &diag) { message = diag.str(); });
  Matrix a(64, 128, 1), b(256, 512, 1), d(64, 512, 1);
  EXPECT_TRUE(mlir::failed(simulate(gemm.kernel, {a.argument()}, Options())));
  EXPECT_EQ(message, "the kernel has 4 arguments, but got 1");
  EXPECT_TRUE(mlir::failed(
      simulate(gemm.kernel, {a.argument(), b.argument(), 0.5f, d.argument()},
               Options())));
  EXPECT_NE(message.find("the value of argument 0 does not have the type"),
            std::string::npos);
}

} // namespace
