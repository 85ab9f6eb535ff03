//===- ChooseSchedule.cpp - Block sizes, teams and stages -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/Attn/Transforms/PassOrder.h"
#include "fa/Dialect/Attn/Transforms/Passes.h"
#include "fa/Dialect/Attn/Transforms/Transforms.h"
#include "fa/Support/Remarks.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fa;
using namespace fa::attn;

namespace fa::attn {
#define GEN_PASS_DEF_CHOOSESCHEDULE
#include "fa/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace fa::attn

//===----------------------------------------------------------------------===//
// The attribute and the struct
//===----------------------------------------------------------------------===//

// The struct's enum and the attribute's count alike.
static_assert(int(fa::Rescale::Always) == int(attn::Rescale::Always) &&
              int(fa::Rescale::Lazy) == int(attn::Rescale::Lazy) &&
              int(fa::Rescale::FirstMax) == int(attn::Rescale::FirstMax));

std::optional<Schedule> fa::attn::getSchedule(FunctionOpInterface function) {
  auto attr = function->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
  if (!attr)
    return std::nullopt;
  return toSchedule(attr);
}

Schedule fa::attn::toSchedule(ScheduleAttr attr) {
  Schedule schedule;
  schedule.target = attr.getTarget().str();
  schedule.br = attr.getBr();
  schedule.bc = attr.getBc();
  schedule.teams = attr.getTeams();
  schedule.warps = attr.getWarps();
  schedule.stages = attr.getStages();
  schedule.partition = attr.getPartition() == attn::Partition::SplitQ
                           ? fa::Partition::SplitQ
                           : fa::Partition::SplitK;
  schedule.rescale = static_cast<fa::Rescale>(attr.getRescale());
  return schedule;
}

ScheduleAttr fa::attn::makeScheduleAttr(MLIRContext *context,
                                        const Schedule &schedule) {
  auto partition = schedule.partition == fa::Partition::SplitQ
                       ? attn::Partition::SplitQ
                       : attn::Partition::SplitK;
  return ScheduleAttr::get(context, schedule.target, schedule.br, schedule.bc,
                           schedule.teams, schedule.warps, schedule.stages,
                           partition,
                           static_cast<attn::Rescale>(schedule.rescale));
}

void fa::attn::setSchedule(FunctionOpInterface function,
                           const Schedule &schedule) {
  function->setAttr(kScheduleAttrName,
                    makeScheduleAttr(function->getContext(), schedule));
}

/// The option that leaves the rescaling policy to the problem.
static constexpr llvm::StringLiteral kAutoRescale = "auto";

/// What a score function takes: constants and temporaries. A mask of more than
/// one bound on the key takes a limit more for each row. Measured with ptxas
/// 13.0 at D 128, 32 rows and Bc 64, where causal attention takes all there
/// are: softcap spills 8 bytes, a window 56.
static constexpr int64_t kScoreRegisters = 16;
static constexpr int64_t kMaskRegisters = 8;
/// What reading a tensor takes more: addresses, and what is read before it is
/// used. A bias spills 45 registers there.
static constexpr int64_t kLookupRegisters = 45;
/// The same for tensors that are read by query or by key alone.
static constexpr int64_t kLineLookupRegisters = 32;
/// What rows' own factors take, where scores may be huge since they read
/// tensors: document ids and a lookup by key together spill one at D 64 on
/// sm_80.
static constexpr int64_t kRowFactorRegisters = 8;
/// What a list of blocks takes, as masks that read tensors have: the place of
/// the block that is copied next. A mask that is a matrix spills 4 registers at
/// D 64 and 32 rows.
static constexpr int64_t kListRegisters = 8;
/// What a maximum that is kept, and the mark of a row that outgrew it, take
/// where blocks come from the last one on: ALiBi with 96 keys spills at D 64
/// with three teams.
static constexpr int64_t kFirstMaxPlaceRegisters = 16;
/// What a sequence's own first row and length take: packed sequences spill 26
/// registers, a cache 13.
static constexpr int64_t kSequenceRegisters = 32;

/// What reading tensors for scores and for masks takes of a warpgroup's thread,
/// which has room for one of the two: documents with a bias spill at D 256 with
/// 64 keys.
static constexpr int64_t kBothReadRegisters = 20;

/// Whether `value` is made from `argument` in the argument's region.
static bool dependsOn(Value value, BlockArgument argument) {
  if (value == argument)
    return true;
  Operation *op = value.getDefiningOp();
  return op && argument.getParentRegion()->isAncestor(op->getParentRegion()) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, argument);
         });
}

bool fa::attn::dependsOnPlace(Region &score) {
  return !score.empty() &&
         llvm::any_of(score.getArguments().take_back(2), [&](Value place) {
           return dependsOn(score.front().getTerminator()->getOperand(0),
                            cast<BlockArgument>(place));
         });
}

/// The positions of the query and the key in the region that `extract` stands
/// in: the last arguments of both regions.
static ArrayRef<BlockArgument> getPlaces(ForwardOp op,
                                         tensor::ExtractOp extract) {
  bool isOfMask = op.getMaskRegion().isAncestor(extract->getParentRegion());
  Region &region = isOfMask ? op.getMaskRegion() : op.getScoreRegion();
  return region.getArguments().take_back(2);
}

/// Whether `extract` reads floats of a matrix at the query and the key, so that
/// a block of scores needs a tile of it.
static bool readsMatrix(ForwardOp op, tensor::ExtractOp extract) {
  ArrayRef<BlockArgument> places = getPlaces(op, extract);
  SmallVector<Value> indices(extract.getIndices());
  return isa<FloatType>(extract.getType()) && indices.size() >= 2 &&
         llvm::equal(ArrayRef(indices).take_back(2), places) &&
         llvm::none_of(ArrayRef(indices).drop_back(2), [&](Value index) {
           return dependsOn(index, places[0]) || dependsOn(index, places[1]);
         });
}

/// The bytes of an element of each matrix that the score or the mask reads.
static std::vector<int64_t> findMatrixBytes(ForwardOp op) {
  llvm::SmallSetVector<Value, 2> matrices;
  op->walk([&](tensor::ExtractOp extract) {
    if (readsMatrix(op, extract))
      matrices.insert(extract.getTensor());
  });
  std::vector<int64_t> bytes;
  for (Value matrix : matrices)
    bytes.push_back(
        cast<ShapedType>(matrix.getType()).getElementTypeBitWidth() / 8);
  return bytes;
}

/// What the tensors take that the score or the mask reads.
static int64_t countLookupRegisters(ForwardOp op) {
  int64_t ofScore = 0, ofMask = 0;
  op->walk([&](tensor::ExtractOp extract) {
    bool isOfMask = op.getMaskRegion().isAncestor(extract->getParentRegion());
    bool isLine =
        llvm::any_of(getPlaces(op, extract), [&](BlockArgument place) {
          return llvm::none_of(extract.getIndices(), [&](Value index) {
            return dependsOn(index, place);
          });
        });
    int64_t reading = isLine ? kLineLookupRegisters : kLookupRegisters;
    if (isOfMask)
      ofMask = std::max(ofMask, reading + kListRegisters);
    else
      ofScore = std::max(ofScore, reading + kRowFactorRegisters);
  });
  return ofScore + ofMask;
}

static bool readsTensors(Region &region) {
  return region.walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether the mask reads tensors by query or by key, so that its blocks are
/// known at run time only.
static bool listsBlocks(ForwardOp op) {
  return op.getMaskRegion()
      .walk([&](tensor::ExtractOp extract) {
        for (BlockArgument place :
             op.getMaskRegion().getArguments().take_back(2))
          for (Value index : extract.getIndices())
            if (dependsOn(index, place))
              return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// How many of the variants that `op` names are of a kind.
template <typename Variant> static int64_t countVariants(ForwardOp op) {
  ArrayAttr variants = op.getVariantsAttr();
  return variants ? llvm::count_if(variants, llvm::IsaPred<Variant>) : 0;
}

fa::Rescale fa::attn::chooseRescale(ForwardOp op) {
  // Under a causal mask ALiBi's scores are largest in a row's last blocks, with
  // which --skip-masked-blocks then begins.
  if (countVariants<AlibiAttr>(op))
    return countVariants<CausalAttr>(op) ? fa::Rescale::FirstMax
                                         : fa::Rescale::Always;
  return dependsOnPlace(op.getScoreRegion()) ? fa::Rescale::Always
                                             : fa::Rescale::FirstMax;
}

/// The registers that the arithmetic of scores and masks takes beside what
/// causal attention takes.
static int64_t countArithmeticRegisters(ForwardOp op) {
  bool hasScore = !op.getScoreRegion().empty();
  bool hasOtherMask = !op.getMaskRegion().empty();
  if (ArrayAttr variants = op.getVariantsAttr())
    for (auto variant : variants.getAsRange<VariantAttrInterface>()) {
      hasScore |= variant.hasScore();
      hasOtherMask |= variant.hasMask() && !isa<CausalAttr>(variant);
    }
  return (hasScore ? kScoreRegisters : 0) + (hasOtherMask ? kMaskRegisters : 0);
}

/// The keys up to which a window has a row of Q meet few blocks.
static constexpr int64_t kShortWindow = 2048;

/// Whether the rows of an item see few blocks of keys, however many there are.
static bool hasShortItems(ForwardOp op) {
  const bool isCausal = countVariants<CausalAttr>(op) > 0;
  auto isShortWindow = [&](Attribute variant) {
    auto window = dyn_cast<WindowAttr>(variant);
    if (!window)
      return false;
    int64_t left = window.getLeft().value_or(kShortWindow);
    int64_t right = isCausal ? 0 : window.getRight().value_or(kShortWindow);
    return left < kShortWindow && right < kShortWindow - left;
  };
  if (ArrayAttr variants = op.getVariantsAttr())
    if (llvm::any_of(variants, isShortWindow))
      return true;
  return op.isRagged() || listsBlocks(op);
}

/// The functions of the score that the special-function unit computes for each
/// element.
static int64_t countScoreFunctions(ForwardOp op) {
  int64_t count = countVariants<SoftcapAttr>(op);
  op.getScoreRegion().walk([&](Operation *nested) {
    if (isa<math::TanhOp, math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op,
            math::SqrtOp, math::RsqrtOp, arith::DivFOp>(nested))
      count +=
          dependsOn(nested->getResult(0), op.getScoreRegion().getArgument(0));
  });
  return count;
}

/// What first maxima take beside that.
static int64_t countFirstMaxRegisters(ForwardOp op) {
  bool isOfPlace =
      countVariants<AlibiAttr>(op) || dependsOnPlace(op.getScoreRegion());
  return isOfPlace ? kFirstMaxPlaceRegisters : 0;
}

ScheduleProblem fa::attn::getProblem(ForwardOp op) {
  ScheduleProblem problem;
  problem.headDim = op.getHeadDim();
  problem.headDimV = op.getHeadDimV();
  problem.elementBytes = op.getQ().getType().getElementTypeBitWidth() / 8;
  problem.variantRegisters = countArithmeticRegisters(op) +
                             countLookupRegisters(op) +
                             (op.isRagged() ? kSequenceRegisters : 0);
  // A warpgroup's threads have registers for what tensors or sequences take,
  // also beside D 256 with 64 keys.
  problem.groupRegisters = countArithmeticRegisters(op);
  if (readsTensors(op.getScoreRegion()) && readsTensors(op.getMaskRegion()))
    problem.groupRegisters += kBothReadRegisters;
  problem.scoreFunctions = countScoreFunctions(op);
  problem.matrixBytes = findMatrixBytes(op);
  problem.hasShortItems = hasShortItems(op);
  return problem;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ChooseSchedulePass
    : public fa::attn::impl::ChooseScheduleBase<ChooseSchedulePass> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    SmallVector<ForwardOp> ops;
    function->walk([&](ForwardOp op) { ops.push_back(op); });
    if (ops.empty()) {
      if (failed(reportNothingFound(function, "choose-schedule",
                                    PassLevel::Whole, "attn.forward")))
        signalPassFailure();
      return;
    }
    ScheduleProblem problem = getProblem(ops.front());
    problem.stagesMatrices = stagesMatrices;
    if (std::optional<Schedule> schedule = getSchedule(function))
      return keep(*schedule, problem);
    for (ForwardOp op : ops) {
      ScheduleProblem other = getProblem(op);
      if (other.headDim != problem.headDim ||
          other.headDimV != problem.headDimV ||
          other.elementBytes != problem.elementBytes) {
        op.emitOpError("differs in head dimension or element type from another "
                       "attention of this function: one schedule cannot serve "
                       "both, put them in functions of their own");
        return signalPassFailure();
      }
    }
    if (heldStates < 1 || heldStates > 2) {
      ops.front().emitOpError("expects held-states of 1 or 2, found ")
          << heldStates.getValue();
      return signalPassFailure();
    }
    if (moreRegisters < 0) {
      ops.front().emitOpError("expects more-registers of 0 or more, found ")
          << moreRegisters.getValue();
      return signalPassFailure();
    }
    problem.heldStates = heldStates;
    const int64_t more =
        moreRegisters +
        (keepsFirstMax(ops.front()) ? countFirstMaxRegisters(ops.front()) : 0);
    problem.variantRegisters += more;
    problem.groupRegisters += more;
    std::optional<Schedule> schedule = choose(problem, ops.front());
    if (!schedule)
      return signalPassFailure();
    setSchedule(function, *schedule);
    ++numScheduled;
    explain(problem, *schedule);
  }

private:
  bool keepsFirstMax(ForwardOp op) const {
    return rescale == nameRescale(fa::Rescale::FirstMax) ||
           (rescale == kAutoRescale &&
            chooseRescale(op) == fa::Rescale::FirstMax);
  }

  bool isGiven() const {
    return br != 0 || bc != 0 || teams != 0 || warps != 0 || stages != 0;
  }

  /// A remark on what was chosen, by what, and what it takes of the GPU.
  void explain(const ScheduleProblem &problem, const Schedule &schedule) {
    Resources resources = computeResources(problem, schedule);
    const Target &gpu = *Target::lookup(schedule.target);
    remarkDecision(getOperation(), "choose-schedule", "schedule")
        << remark::metric("br", schedule.br)
        << remark::metric("bc", schedule.bc)
        << remark::metric("teams", schedule.teams)
        << remark::metric("warps", schedule.warps)
        << remark::metric("stages", schedule.stages)
        << remark::metric("sharedBytes", resources.sharedBytes)
        << remark::metric("registersPerThread", resources.registersPerThread)
        << remark::metric("blocksPerSM", blocksPerSM(problem, schedule, gpu))
        << remark::reason("policy {0}{1} for {2}", policy.getValue(),
                          isGiven() ? " and the options given" : "",
                          schedule.target);
  }

  /// Leaves a schedule that is there already, if it fits its target.
  void keep(const Schedule &schedule, const ScheduleProblem &problem) {
    FunctionOpInterface function = getOperation();
    const Target *gpu = Target::lookup(schedule.target);
    if (!gpu) {
      function->emitError("unknown target '")
          << schedule.target << "', expected one of " << Target::listNames();
      return signalPassFailure();
    }
    if (std::optional<std::string> why =
            findViolation(problem, schedule, *gpu)) {
      function->emitError("its schedule does not fit ")
          << schedule.target << ": " << *why;
      return signalPassFailure();
    }
    function->emitWarning(
        "--choose-schedule keeps the schedule that is there already");
    ++numKept;
  }

  /// A schedule without a GPU in mind.
  static Schedule cpuSchedule(StringRef target) {
    Schedule schedule;
    schedule.target = target.str();
    schedule.br = 64;
    schedule.bc = 64;
    schedule.stages = 1;
    return schedule;
  }

  /// Rows of Q as `schedule` has them, in whole teams, of which each has 16
  /// rows a warp or more. Where that is beyond all reason, what there was.
  static int64_t roundToTeams(const Schedule &schedule) {
    constexpr int64_t rowsOfWarp = 16;
    if (findRangeViolation(schedule))
      return schedule.br;
    int64_t rows = rowsOfWarp * schedule.warps * schedule.teams;
    return std::max<int64_t>(schedule.br / rows, 1) * rows;
  }

  /// The policy's schedule with the given options over it, checked; or nothing
  /// after a diagnostic on `op`.
  std::optional<Schedule> choose(const ScheduleProblem &problem, ForwardOp op) {
    const Target *gpu = Target::lookup(target);
    if (!gpu) {
      op.emitOpError("unknown target '")
          << target << "', expected one of " << Target::listNames();
      return std::nullopt;
    }
    if (policy == "warpgroups" && !gpu->has(Instruction::Wgmma)) {
      op.emitOpError("teams of warpgroups (--fa3, policy=warpgroups) need "
                     "wgmma, which ")
          << target << " has not: give target=sm_90a";
      return std::nullopt;
    }
    if (policy == "warpgroups" && partition == "split_k") {
      op.emitOpError("teams of warpgroups (--fa3, policy=warpgroups) divide "
                     "rows of Q, found partition=split_k: use --fa2");
      return std::nullopt;
    }
    // 1. The policy's choice. What no kernel is made for still runs at levels A
    //    to C, where any blocks do.
    std::optional<Schedule> chosen;
    if (policy == "paper") {
      chosen = chooseByPaper(problem, *gpu,
                             sharedBytes > 0 ? sharedBytes
                                             : gpu->sharedBytesPerBlock);
    } else if (policy == "target") {
      chosen = partition == "split_k" ? chooseSplitK(problem, *gpu)
                                      : chooseForTarget(problem, *gpu);
    } else if (policy == "warpgroups") {
      chosen = chooseForWarpgroups(problem, *gpu);
    } else {
      op.emitOpError("unknown schedule policy '")
          << policy << "', expected target, warpgroups or paper";
      return std::nullopt;
    }
    if (!chosen) {
      ++numForCpu;
      remarkMissed(op, "choose-schedule", "kernel")
          << remark::reason("no schedule fits {0} for D {1}, Dv {2}: blocks "
                            "for levels A to C",
                            gpu->name, problem.headDim, problem.headDimV);
    }
    Schedule schedule = chosen.value_or(cpuSchedule(gpu->name));

    // 2. The options over it.
    auto overrule = [](int64_t &field, int64_t option) {
      if (option != 0)
        field = option;
    };
    overrule(schedule.br, br);
    overrule(schedule.bc, bc);
    overrule(schedule.teams, teams);
    overrule(schedule.warps, warps);
    overrule(schedule.stages, stages);
    if (!partition.empty()) {
      std::optional<attn::Partition> given =
          attn::symbolizePartition(partition);
      if (!given) {
        op.emitOpError("unknown partition '")
            << partition << "', expected split_q or split_k";
        return std::nullopt;
      }
      schedule.partition = *given == attn::Partition::SplitQ
                               ? fa::Partition::SplitQ
                               : fa::Partition::SplitK;
    }
    // Rows that nobody asked for follow the teams that somebody did.
    if (br == 0 && (teams > 0 || warps > 0) &&
        schedule.partition == fa::Partition::SplitQ)
      schedule.br = roundToTeams(schedule);
    if (!rescale.empty()) {
      std::optional<fa::Rescale> given = parseRescale(rescale);
      if (rescale == kAutoRescale)
        given = chooseRescale(op);
      if (!given) {
        op.emitOpError("unknown rescale policy '")
            << rescale << "', expected always, lazy, first-max or auto";
        return std::nullopt;
      }
      schedule.rescale = *given;
    }
    if (heldStates > 1 && schedule.rescale != fa::Rescale::Always) {
      op.emitOpError("a state that is normalised in every block (--fa1, "
                     "held-states=2) has no maximum to keep, found rescale=")
          << rescale << ": use --fa2";
      return std::nullopt;
    }

    // 3. What is for the GPU, by the model or by hand, is held against its
    //    resources; the paper's blocks and the CPU's need only be sensible.
    bool isForGpu = policy != "paper" && (chosen || isGiven());
    std::optional<std::string> why =
        isForGpu ? findViolation(problem, schedule, *gpu)
                 : findRangeViolation(schedule);
    if (why) {
      op.emitOpError("schedule does not fit ") << target << ": " << *why;
      return std::nullopt;
    }
    return schedule;
  }
};
} // namespace
