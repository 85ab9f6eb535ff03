//===- Handout.cpp - Work items that go to whichever block is free --------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block's first items are its own by their number, as in a static order, and
// the last ones of all, about kMeanHandedOut for each block, are handed out: a
// counter in global memory, which is 0 when the launch begins, says which is
// next. One thread of the loading role's group, which has threads to spare,
// asks it when the role that loads has started all copies of an item, and tells
// all roles the next one's coordinates by shared memory and mbarriers. The
// counter's answer takes less than the blocks whose copies are on their way;
// asked earlier, a block would hold items back that others are free for.
//
// The thread of the last block to end sets the counter to 0 again, so that a
// launch with the same memory finds it so.
//
// It remembers what the block was handed, in shared memory, to tell them once
// more where marked items are done again. The places for that bound what one
// block may be handed; the others take the rest.
//
//===----------------------------------------------------------------------===//

#include "Builders.h"
#include "Hopper.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fa;

/// What a block is handed in the mean, where there are so many items; enough to
/// make up for what its own ones differ from others'.
static constexpr int64_t kMeanHandedOut = 16;
/// And at most: no block has so many more than the mean that the rest could not
/// take what is left.
static constexpr int64_t kMaxHandedOut = 64;

/// The bytes of an mbarrier object, of a number, and of the coordinates that a
/// slot has room for.
static constexpr int64_t kBarrierBytes = 8, kWordBytes = 4;
static constexpr int64_t kSlotBytes = kMaxHandedCoordinates * kWordBytes;

int64_t fa::placeHandout(Handout &handout, int64_t offset) {
  handout.wanted = llvm::alignTo(offset, kBarrierBytes);
  handout.full = handout.wanted + kBarrierBytes;
  handout.empty = handout.full + kHandoutSlots * kBarrierBytes;
  handout.told = handout.empty + kHandoutSlots * kBarrierBytes;
  handout.handed = handout.told + kHandoutSlots * kSlotBytes;
  return handout.handed + kMaxHandedOut * kWordBytes;
}

void fa::addCounter(HopperKernel &kernel) {
  if (!kernel.handout)
    return;
  gpu::GPUFuncOp func = kernel.func;
  MLIRContext *context = func.getContext();
  unsigned number = func.getNumArguments();
  (void)func.insertArgument(number, LLVM::LLVMPointerType::get(context, 1),
                            DictionaryAttr(), func.getLoc());
  kernel.handout->counter = func.getArgument(number);
  func->setAttr(cta::kCounterAttr, UnitAttr::get(context));
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// The address, i32, of what each slot has `bytes` bytes of from `first` on.
static Value slotAddress(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                         Value place, int64_t first, int64_t bytes) {
  I32Builder i{b};
  Value slot = i.bitAnd(place, kHandoutSlots - 1);
  return i.add(i.add(kernel.shared, i.mul(slot, bytes)), first);
}

/// The parity of the phase of a slot's barriers in which number `place` is
/// told.
static Value buildParity(ImplicitLocOpBuilder &b, Value place) {
  I32Builder i{b};
  static_assert(kHandoutSlots == 2);
  return i.bitAnd(i.shr(place, 1), 1);
}

/// Where coordinate `n` of what is told as number `place` lies.
static Value toldPointer(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                         Value place, size_t n) {
  int64_t offset = kernel.handout->told + n * kWordBytes;
  return sharedPointer(b, slotAddress(b, kernel, place, offset, kSlotBytes), 0);
}

/// Waits until what is told as number `place` is wanted and has a slot.
static void waitForSlot(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                        Value place) {
  const Handout &handout = *kernel.handout;
  I32Builder i{b};
  waitForPhase(b, i.add(kernel.shared, handout.wanted), i.bitAnd(place, 1));
  // The phase before the first one counts as done.
  waitForPhase(b, slotAddress(b, kernel, place, handout.empty, kBarrierBytes),
               i.bitXor(buildParity(b, place), 1));
}

static void fillSlot(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                     Value place, ValueRange coordinates) {
  for (auto [n, coordinate] : llvm::enumerate(coordinates))
    LLVM::StoreOp::create(b, coordinate, toldPointer(b, kernel, place, n));
  arrive(b, slotAddress(b, kernel, place, kernel.handout->full, kBarrierBytes));
}

/// The `count` coordinates, i32, that the role is told as number `place`. The
/// first one is negative where there are no more items.
static SmallVector<Value> beTold(ImplicitLocOpBuilder &b,
                                 const HopperKernel &kernel,
                                 const HopperRole &role, Value place,
                                 size_t count) {
  const Handout &handout = *kernel.handout;
  if (role.isLoader)
    arrive(b, I32Builder{b}.add(kernel.shared, handout.wanted));
  waitForPhase(b, slotAddress(b, kernel, place, handout.full, kBarrierBytes),
               buildParity(b, place));
  auto read = [&](ImplicitLocOpBuilder &at) {
    SmallVector<Value> coordinates;
    for (size_t n = 0; n < count; ++n)
      coordinates.push_back(LLVM::LoadOp::create(
          at, at.getI32Type(), toldPointer(at, kernel, place, n)));
    arrive(at, slotAddress(at, kernel, place, handout.empty, kBarrierBytes));
    return coordinates;
  };
  if (role.isLoader)
    return read(b);
  // One lane reads for its warp. The largest of what it has read and of what is
  // less than any coordinate is the same for all, and ptxas knows.
  Value none = I32Builder{b}.constant(-1);
  SmallVector<Type> types(count, b.getI32Type());
  auto branch = scf::IfOp::create(b, types, isEqual(b, kernel.lane, 0),
                                  /*withElseRegion=*/true);
  auto then =
      ImplicitLocOpBuilder::atBlockBegin(b.getLoc(), branch.thenBlock());
  scf::YieldOp::create(then, read(then));
  auto otherwise =
      ImplicitLocOpBuilder::atBlockBegin(b.getLoc(), branch.elseBlock());
  scf::YieldOp::create(otherwise, SmallVector<Value>(count, none));
  SmallVector<Value> coordinates;
  for (Value coordinate : branch.getResults())
    coordinates.push_back(NVVM::ReduxOp::create(
        b, b.getI32Type(), coordinate, NVVM::ReduxKind::MAX,
        I32Builder{b}.constant(0xffffffff)));
  return coordinates;
}

//===----------------------------------------------------------------------===//
// Those who are told
//===----------------------------------------------------------------------===//

/// Puts a loop where `b` is, whose rounds are numbered from 0. `build` says
/// which item each round is for, by `count` coordinates; the loop ends where
/// the first one is negative. It carries `inits`. A round gets its number, the
/// coordinates, and what is carried. Leaves `b` in it, at its end.
static scf::WhileOp
buildLoop(ImplicitLocOpBuilder &b, size_t count, ValueRange inits,
          llvm::function_ref<SmallVector<Value>(Value number)> build) {
  I32Builder i{b};
  SmallVector<Value> operands{i.constant(0)};
  llvm::append_range(operands, inits);
  SmallVector<Type> types(1 + count, b.getI32Type());
  llvm::append_range(types, inits.getTypes());
  auto loop = scf::WhileOp::create(b, types, operands);
  auto addBlock = [&](Region &region, TypeRange arguments) {
    SmallVector<Location> locs(arguments.size(), b.getLoc());
    return b.createBlock(&region, {}, arguments, locs);
  };
  Block *before = addBlock(loop.getBefore(), ValueRange(operands).getTypes());
  SmallVector<Value> passed{before->getArgument(0)};
  llvm::append_range(passed, build(passed.front()));
  Value isItem = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, passed[1],
                                       i.constant(0));
  llvm::append_range(passed, before->getArguments().drop_front());
  scf::ConditionOp::create(b, isItem, passed);
  Block *round = addBlock(loop.getAfter(), types);
  b.setInsertionPoint(
      scf::YieldOp::create(b, ValueRange{i.add(round->getArgument(0), 1)}));
  return loop;
}

BlockItem fa::buildHandedItems(ImplicitLocOpBuilder &b,
                               const HopperKernel &kernel, HopperRole &role,
                               cta::WorkOp work, ValueRange inits) {
  // Places go on where those of the work before ended.
  size_t count = work.getExtents().size();
  scf::WhileOp loop = buildLoop(b, count, inits, [&](Value number) {
    Value place = role.told ? I32Builder{b}.add(number, role.told) : number;
    return beTold(b, kernel, role, place, count);
  });
  BlockItem result;
  Block::BlockArgListType arguments = loop.getAfterArguments();
  result.number = arguments.front();
  result.yield = loop.getYieldOp();
  for (Value coordinate : arguments.slice(1, count))
    result.coordinates.push_back(
        arith::IndexCastUIOp::create(b, b.getIndexType(), coordinate));
  llvm::append_range(result.carried, arguments.drop_front(1 + count));
  llvm::append_range(result.results, loop.getResults().drop_front(1 + count));
  // With the end, one number more was told than there are items.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(loop);
  role.told = I32Builder{b}.add(loop.getResult(0), 1);
  return result;
}

//===----------------------------------------------------------------------===//
// The one who tells
//===----------------------------------------------------------------------===//

namespace {
/// Builds the program of the thread that asks the counter.
class Teller {
public:
  Teller(ImplicitLocOpBuilder &b, const HopperKernel &kernel);

  /// The block asks no more.
  void end();
  /// Tells all of the block's items; returns how many numbers that were.
  Value tellAll();
  /// And once more, behind so many numbers.
  void repeatAll(Value told);

private:
  Value handedPointer(Value number);
  Value ask(Value number);
  Value findItem(Value number, llvm::function_ref<Value(Value)> findHanded);
  SmallVector<Value> tellItem(Value place, Value item);

  ImplicitLocOpBuilder &b;
  const HopperKernel &kernel;
  const Handout &handout;
  // i32: this block and how many there are, and the items that each has without
  // asking.
  Value block, blocks, own;
};
} // namespace

Teller::Teller(ImplicitLocOpBuilder &b, const HopperKernel &kernel)
    : b(b), kernel(kernel), handout(*kernel.handout) {
  I32Builder i{b};
  block = NVVM::BlockIdXOp::create(b, b.getI32Type());
  blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
  Value rounds = arith::DivUIOp::create(b, handout.items, blocks);
  own =
      arith::MaxSIOp::create(b, i.add(rounds, -kMeanHandedOut), i.constant(1));
}

/// Where it is remembered what the block's item `number` was.
Value Teller::handedPointer(Value number) {
  I32Builder i{b};
  Value place = arith::SubIOp::create(b, number, own);
  return sharedPointer(b, i.add(kernel.shared, i.mul(place, kWordBytes)),
                       handout.handed);
}

/// Takes the next item from the counter, for the block's item `number`.
Value Teller::ask(Value number) {
  I32Builder i{b};
  Value answer = LLVM::AtomicRMWOp::create(
      b, LLVM::AtomicBinOp::add, handout.counter, i.constant(1),
      LLVM::AtomicOrdering::monotonic, "device");
  Value item = i.add(arith::MulIOp::create(b, own, blocks), answer);
  LLVM::StoreOp::create(b, item, handedPointer(number));
  return item;
}

/// The block's item `number`, which `findHanded` knows where it is or was
/// handed out; negative where there are no more.
Value Teller::findItem(Value number,
                       llvm::function_ref<Value(Value)> findHanded) {
  I32Builder i{b};
  auto branch = [&](Value limit) {
    Value isBelow =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, limit);
    return scf::IfOp::create(b, TypeRange{b.getI32Type()}, isBelow,
                             /*withElseRegion=*/true);
  };
  // 1. Whether it has a place.
  scf::IfOp hasPlace = branch(i.add(own, kMaxHandedOut));
  b.setInsertionPointToStart(hasPlace.elseBlock());
  scf::YieldOp::create(b, handout.items);
  b.setInsertionPointToStart(hasPlace.thenBlock());
  // 2. One of the block's own, or one that was handed out.
  scf::IfOp isOwn = branch(own);
  scf::YieldOp::create(b, isOwn.getResults());
  b.setInsertionPointToStart(isOwn.thenBlock());
  Value before = arith::MulIOp::create(b, number, blocks);
  scf::YieldOp::create(b, ValueRange{i.add(before, block)});
  b.setInsertionPointToStart(isOwn.elseBlock());
  scf::YieldOp::create(b, findHanded(number));
  b.setInsertionPointAfter(hasPlace);
  return hasPlace.getResult(0);
}

/// Tells the coordinates of item number `item`.
SmallVector<Value> Teller::tellItem(Value place, Value item) {
  I32Builder i{b};
  SmallVector<Value> coordinates;
  for (Value coordinate :
       buildCoordinates(b, handout.extents, handout.kind, item, handout.group))
    coordinates.push_back(i.fromIndex(coordinate));
  Value isItem =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, item, handout.items);
  coordinates.front() =
      arith::SelectOp::create(b, isItem, coordinates.front(), i.constant(-1));
  fillSlot(b, kernel, place, coordinates);
  return coordinates;
}

Value Teller::tellAll() {
  size_t count = handout.extents.size();
  scf::WhileOp loop = buildLoop(b, count, {}, [&](Value number) {
    waitForSlot(b, kernel, number);
    Value item = findItem(number, [&](Value handed) { return ask(handed); });
    return tellItem(number, item);
  });
  b.setInsertionPointAfter(loop);
  return I32Builder{b}.add(loop.getResult(0), 1);
}

void Teller::end() {
  // The word behind the counter says how many blocks have ended.
  Value ended =
      LLVM::GEPOp::create(b, handout.counter.getType(), b.getI32Type(),
                          handout.counter, ArrayRef<LLVM::GEPArg>{1});
  Value before = LLVM::AtomicRMWOp::create(
      b, LLVM::AtomicBinOp::add, ended, I32Builder{b}.constant(1),
      LLVM::AtomicOrdering::acq_rel, "device");
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       I32Builder{b}.add(before, 1), blocks);
  buildGuarded(b, isLast, [&](ImplicitLocOpBuilder &inner) {
    for (Value word : {handout.counter, ended})
      LLVM::StoreOp::create(inner, I32Builder{inner}.constant(0), word);
  });
}

void Teller::repeatAll(Value told) {
  size_t count = handout.extents.size();
  scf::WhileOp loop = buildLoop(b, count, {}, [&](Value number) {
    Value place = I32Builder{b}.add(number, told);
    waitForSlot(b, kernel, place);
    Value item = findItem(number, [&](Value handed) -> Value {
      return LLVM::LoadOp::create(b, b.getI32Type(), handedPointer(handed));
    });
    return tellItem(place, item);
  });
  b.setInsertionPointAfter(loop);
}

void fa::buildTeller(ImplicitLocOpBuilder &b, const HopperKernel &kernel,
                     const HopperRole &loader) {
  // The group's first warp loads.
  int64_t thread = (loader.firstTeam * kernel.warps + 1) * kWarpThreads;
  buildGuarded(
      b, isEqual(b, kernel.thread, thread), [&](ImplicitLocOpBuilder &inner) {
        Teller teller(inner, kernel);
        Value told = teller.tellAll();
        teller.end();
        if (!kernel.marks)
          return;
        waitForMarks(inner, kernel);
        auto again =
            scf::IfOp::create(inner, buildHasMarks(inner, kernel, loader),
                              /*withElseRegion=*/false);
        inner.setInsertionPointToStart(again.thenBlock());
        teller.repeatAll(told);
      });
}
