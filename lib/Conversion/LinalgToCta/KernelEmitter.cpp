//===- KernelEmitter.cpp - A kernel's body --------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "FragmentVectorizer.h"

#include "fa/Dialect/Attn/IR/AttnDialect.h"
#include "fa/Dialect/Cta/IR/Cta.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fa;

/// The bytes of a row after which the swizzle of shared memory repeats.
static constexpr int64_t kSwizzleBytes = 128;
/// What products take of a row at a time, in 16-bit elements.
static constexpr int64_t kProductDepth = 16;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

VectorType KernelEmitter::fragmentType(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    sizes.push_back(teamSize(size, classes.isDivided(tile, dim)));
  return VectorType::get(sizes, type.getElementType());
}

/// The memref that `tensor` is, where it is a whole one; null otherwise.
Value KernelEmitter::globalOf(Value tensor) {
  Value known = mapping.lookupOrNull(tensor);
  return known && isa<MemRefType>(known.getType()) ? known : Value();
}

bool KernelEmitter::hasDividedDim(Value tile) {
  int64_t rank = cast<RankedTensorType>(tile.getType()).getRank();
  return llvm::any_of(llvm::seq(rank), [&](int64_t dim) {
    return classes.isDivided(tile, dim);
  });
}

/// The fragment of `tile`, which has `sizes`: what was computed, what is read
/// from shared memory, or one value everywhere.
FailureOr<Value> KernelEmitter::fragment(Value tile, ArrayRef<int64_t> sizes) {
  auto element = cast<RankedTensorType>(tile.getType()).getElementType();
  auto type = VectorType::get(sizes, element);
  if (Value known = mapping.lookupOrNull(tile))
    return known;
  if (Value shared = sharedTiles.lookupOrNull(tile))
    return cta::ReadOp::create(builder, tile.getLoc(), type, shared)
        .getResult();
  if (auto fill = tile.getDefiningOp<linalg::FillOp>()) {
    Value scalar = mapping.lookupOrDefault(fill.getInputs().front());
    return vector::BroadcastOp::create(builder, tile.getLoc(), type, scalar)
        .getResult();
  }
  return mlir::emitError(tile.getLoc(), "no fragment holds this tile of type ")
         << tile.getType();
}

/// team * size, as an index.
Value KernelEmitter::teamOffset(int64_t size, Location loc) {
  Value length = arith::ConstantIndexOp::create(builder, loc, size);
  return arith::MulIOp::create(builder, loc, team, length);
}

/// A position in a whole tensor, as an index.
Value KernelEmitter::buildSum(const PositionSum &sum, Location loc) {
  Value result;
  for (OpFoldResult part : sum) {
    Value value;
    if (auto known = dyn_cast<Value>(part))
      value = mapping.lookupOrDefault(known);
    else
      value = arith::ConstantIndexOp::create(builder, loc,
                                             *getConstantIntValue(part));
    result =
        result ? arith::AddIOp::create(builder, loc, result, value) : value;
  }
  return result ? result : arith::ConstantIndexOp::create(builder, loc, 0);
}

/// Where a team's part of `tile` begins in the whole tensor.
SmallVector<Value> KernelEmitter::accessIndices(const TileAccess &access,
                                                Value tile) {
  Location loc = tile.getLoc();
  SmallVector<Value> indices;
  for (const PositionSum &offset : access.offsets)
    indices.push_back(buildSum(offset, loc));
  auto type = cast<RankedTensorType>(tile.getType());
  unsigned leading = indices.size() - type.getRank();
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (!classes.isDivided(tile, dim))
      continue;
    Value &index = indices[leading + dim];
    index = arith::AddIOp::create(builder, loc, index,
                                  teamOffset(teamSize(size, true), loc));
  }
  return indices;
}

/// Whether `sum` is the size of dimension `dim` of `tensor`.
static bool isSizeOf(const PositionSum &sum, Value tensor, int64_t dim) {
  if (sum.size() != 1)
    return false;
  if (std::optional<int64_t> size = getConstantIntValue(sum.front()))
    return cast<RankedTensorType>(tensor.getType()).getDimSize(dim) == *size;
  auto op = cast<Value>(sum.front()).getDefiningOp<tensor::DimOp>();
  return op && op.getSource() == tensor && op.getConstantIndex() == dim;
}

/// The end of the rows of a tile where it is another than the tensor's own,
/// else null.
Value KernelEmitter::rowEnd(const TileAccess &access, int64_t tileRank) {
  int64_t rowDim = access.offsets.size() - tileRank;
  if (!access.rowEnd || isSizeOf(*access.rowEnd, access.whole, rowDim))
    return {};
  return buildSum(*access.rowEnd, access.whole.getLoc());
}

//===----------------------------------------------------------------------===//
// Scalars, loads, loops
//===----------------------------------------------------------------------===//

LogicalResult KernelEmitter::emitScalarOp(Operation &op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return emitDim(builder, dim, mapping);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return emitScalarExtract(builder, extract, mapping);
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (llvm::any_of(op.getOperandTypes(), isTensor) ||
      llvm::any_of(op.getResultTypes(), isTensor) || op.getNumRegions() != 0)
    return op.emitOpError(
        "has no form in a thread block's program: --map-warps "
        "knows products, elementwise arithmetic, row "
        "reductions, loads and stores of tiles");
  builder.clone(op, mapping);
  return success();
}

LogicalResult KernelEmitter::emitLoad(Value tile) {
  FailureOr<TileAccess> access = matchLoad(tile);
  if (failed(access))
    return failure();
  Value whole = mapping.lookupOrNull(access->whole);
  if (!whole)
    return mlir::emitError(tile.getLoc(),
                           "a tile is loaded from a tensor that is no argument "
                           "of the kernel");
  auto type = cast<RankedTensorType>(tile.getType());
  // What products read goes to shared memory, unless the kernel itself writes
  // it; all else to registers.
  bool isShared = type.getRank() == 2 && type.getElementTypeBitWidth() == 16 &&
                  !outputs.contains(whole);
  return isShared ? emitSharedLoad(tile, *access, whole)
                  : emitFetch(tile, *access, whole);
}

/// A matrix of 16-bit elements goes to shared memory, where products read it.
LogicalResult KernelEmitter::emitSharedLoad(Value tile,
                                            const TileAccess &access,
                                            Value whole) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (access.padding && !matchPattern(access.padding, m_AnyZeroFloat()))
    return mlir::emitError(tile.getLoc(), "a tile of ")
           << type << " is padded with something else than zeros: no load of "
           << "a tile does that";
  VectorType part = fragmentType(tile);
  bool isEach = part.getShape() != type.getShape();
  if (part.getDimSize(1) % kProductDepth != 0)
    return mlir::emitError(tile.getLoc(),
                           "tiles that are loaded have rows of a "
                           "multiple of 16 elements, found ")
           << type;
  auto tileType = cta::TileType::get(builder.getContext(), part.getDimSize(0),
                                     part.getDimSize(1), type.getElementType(),
                                     kSwizzleBytes);
  auto load = cta::LoadOp::create(
      builder, tile.getLoc(), tileType,
      isEach ? cta::LoadKind::Each : cta::LoadKind::Once, whole,
      accessIndices(access, tile), rowEnd(access, type.getRank()));
  sharedTiles.map(tile, load.getTile());
  if (!isEach)
    noteMeeting();
  return success();
}

LogicalResult KernelEmitter::emitLoop(scf::ForOp op) {
  SmallVector<Value> inits, carried, results;
  for (auto [init, arg, result] : llvm::zip_equal(
           op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    // What lies in global memory is not carried: it is there.
    if (isElementOutput(arg))
      continue;
    if (Value memref = globalOf(init)) {
      mapping.map(arg, memref);
      mapping.map(result, memref);
      continue;
    }
    carried.push_back(arg);
    results.push_back(result);
    if (!isa<RankedTensorType>(init.getType())) {
      inits.push_back(mapping.lookupOrDefault(init));
      continue;
    }
    FailureOr<Value> value = fragment(init, fragmentType(arg).getShape());
    if (failed(value))
      return failure();
    inits.push_back(*value);
  }
  meetIfPending(op.getLoc());
  auto copy = scf::ForOp::create(builder, op.getLoc(),
                                 mapping.lookupOrDefault(op.getLowerBound()),
                                 mapping.lookupOrDefault(op.getUpperBound()),
                                 mapping.lookupOrDefault(op.getStep()), inits);
  if (op->hasAttr(attn::kPartialAttrName))
    copy->setAttr(cta::kPartialAttr, builder.getUnitAttr());
  mapping.map(op.getInductionVar(), copy.getInductionVar());
  mapping.map(carried, copy.getRegionIterArgs());
  mapping.map(results, copy.getResults());

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  if (failed(emitBlock(*op.getBody())))
    return failure();
  meetIfPending(op.getLoc());
  SmallVector<Value> yielded;
  for (auto [value, arg] :
       llvm::zip_equal(op.getYieldedValues(), op.getRegionIterArgs())) {
    if (isElementOutput(arg))
      continue;
    if (Value memref = globalOf(arg)) {
      if (globalOf(value) != memref)
        return op.emitOpError("carries a whole tensor on that is not the one "
                              "that it was given");
      continue;
    }
    if (!isa<RankedTensorType>(value.getType())) {
      yielded.push_back(mapping.lookupOrDefault(value));
      continue;
    }
    FailureOr<Value> part = fragment(value, fragmentType(arg).getShape());
    if (failed(part))
      return failure();
    yielded.push_back(*part);
  }
  if (!carried.empty())
    scf::YieldOp::create(builder, op.getLoc(), yielded);
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Whether `value` is a tile of zeros.
static bool isZeroTile(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
}

LogicalResult KernelEmitter::emitContraction(linalg::LinalgOp op) {
  // 1. The loops: C[m, n] += A[m, k] * B, with B [k, n] or [n, k].
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || op.getNumLoops() != 3 || dims->m.size() != 1 ||
      dims->n.size() != 1 || dims->k.size() != 1)
    return op.emitOpError("is no product of two matrices");
  AffineExpr m = builder.getAffineDimExpr(dims->m[0]);
  AffineExpr n = builder.getAffineDimExpr(dims->n[0]);
  AffineExpr k = builder.getAffineDimExpr(dims->k[0]);
  auto is = [&](AffineMap map, ArrayRef<AffineExpr> exprs) {
    return map.getResults() == exprs;
  };
  bool isTransposed = is(maps[1], {n, k});
  if (!is(maps[0], {m, k}) || (!isTransposed && !is(maps[1], {k, n})) ||
      !is(maps[2], {m, n}))
    return op.emitOpError("has an operand order that no product on a team's "
                          "fragments has");
  SmallVector<int64_t> loops = op.getStaticLoopRanges();
  auto teamLoop = [&](unsigned loop) {
    return teamSize(loops[loop], classes.isDivided(op, loop));
  };
  Product product{teamLoop(dims->m[0]), teamLoop(dims->n[0]),
                  teamLoop(dims->k[0]), isTransposed,
                  classes.isDivided(op, dims->k[0])};

  // 2. The product on the team's fragments.
  FailureOr<Value> result = emitProduct(op, product);
  if (failed(result))
    return failure();
  mapping.map(op->getResult(0), *result);
  return success();
}

/// Emits a product and returns its result. Where teams divide the depth, their
/// products are added, and then the accumulator.
FailureOr<Value> KernelEmitter::emitProduct(linalg::LinalgOp op,
                                            const Product &product) {
  auto [rows, columns, depth, isTransposed, isPartial] = product;
  // 1. The operands.
  Value a = sharedTiles.lookupOrNull(op->getOperand(0));
  if (!a) {
    FailureOr<Value> part = fragment(op->getOperand(0), {rows, depth});
    if (failed(part))
      return failure();
    a = *part;
  }
  Value b = sharedTiles.lookupOrNull(op->getOperand(1));
  if (!b)
    return op.emitOpError("the right operand of a product must be a tile of "
                          "16-bit elements that was loaded, found ")
           << op->getOperand(1).getType();
  Value acc;
  if (!isZeroTile(op->getOperand(2))) {
    FailureOr<Value> part = fragment(op->getOperand(2), {rows, columns});
    if (failed(part))
      return failure();
    acc = *part;
  }

  // 2. The product.
  Location loc = op.getLoc();
  auto flight = cta::FlightType::get(builder.getContext(), rows, columns,
                                     builder.getF32Type());
  auto type = VectorType::get({rows, columns}, builder.getF32Type());
  Value started =
      cta::MmaOp::create(builder, loc, flight, a, b, isPartial ? Value() : acc,
                         isTransposed ? builder.getUnitAttr() : UnitAttr());
  Value result =
      cta::WaitOp::create(builder, loc, type, started, 0).getFragment();
  if (!isPartial)
    return result;

  // 3. The sum over the teams, which meet for it.
  noteMeeting();
  result = cta::CombineOp::create(builder, loc, type,
                                  vector::CombiningKind::ADD, result);
  return acc ? arith::AddFOp::create(builder, loc, acc, result).getResult()
             : result;
}

//===----------------------------------------------------------------------===//
// Elementwise arithmetic and row reductions
//===----------------------------------------------------------------------===//

static std::optional<vector::CombiningKind> combiningKind(Operation *op) {
  return TypeSwitch<Operation *, std::optional<vector::CombiningKind>>(op)
      .Case<arith::AddFOp>([](auto) { return vector::CombiningKind::ADD; })
      .Case<arith::MulFOp>([](auto) { return vector::CombiningKind::MUL; })
      .Case<arith::MaxNumFOp>(
          [](auto) { return vector::CombiningKind::MAXNUMF; })
      .Case<arith::MinNumFOp>(
          [](auto) { return vector::CombiningKind::MINNUMF; })
      .Case<arith::MaximumFOp>(
          [](auto) { return vector::CombiningKind::MAXIMUMF; })
      .Case<arith::MinimumFOp>(
          [](auto) { return vector::CombiningKind::MINIMUMF; })
      .Default([](Operation *) { return std::nullopt; });
}

namespace {
/// An output that is reduced over the columns.
struct Reduction {
  Operation *combiner;
  vector::CombiningKind kind;
  Value input; ///< of the body: what is reduced
};
} // namespace

/// The reduction of output `number`, whose block argument meets one value in
/// one combining op that is yielded.
static FailureOr<Reduction> matchRowReduction(linalg::GenericOp op,
                                              unsigned number) {
  SmallVector<Operation *> combiners;
  Value input = matchReduction(op.getRegionOutputArgs(), number, combiners);
  if (!input || combiners.size() != 1 || !combiningKind(combiners.front()))
    return op.emitOpError("reduces by something else than one addition, "
                          "multiplication, maximum or minimum");
  return Reduction{combiners.front(), *combiningKind(combiners.front()), input};
}

/// The rows of `input` reduced onto `start`. Teams that divide the columns each
/// reduce their own, and combine what they have.
static Value reduceRows(OpBuilder &builder, Location loc,
                        const Reduction &reduction, Value input, Value start,
                        bool isDivided) {
  auto reduce = [&](Value onto) -> Value {
    return vector::MultiDimReductionOp::create(
        builder, loc, input, onto, ArrayRef<bool>{false, true}, reduction.kind);
  };
  if (!isDivided)
    return reduce(start);
  TypedAttr neutral = *arith::getNeutralElement(reduction.combiner);
  auto type = cast<ShapedType>(start.getType());
  Value none = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<Attribute>(neutral)));
  Value all =
      cta::CombineOp::create(builder, loc, type, reduction.kind, reduce(none));
  return vector::makeArithReduction(builder, loc, reduction.kind, start, all);
}

LogicalResult KernelEmitter::emitGeneric(linalg::GenericOp op) {
  // 1. The domain: rows, or rows and columns.
  Location loc = op.getLoc();
  SmallVector<int64_t> loops = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  bool hasReduction = iterators.back() == utils::IteratorType::reduction;
  if (loops.size() > 2 || llvm::any_of(loops, ShapedType::isDynamic) ||
      iterators.front() != utils::IteratorType::parallel)
    return op.emitOpError("is neither over the rows nor over the rows and "
                          "columns of a static tile");
  FragmentDomain domain;
  bool rowsDivided = classes.isDivided(op, 0);
  domain.rows = teamSize(loops[0], rowsDivided);
  bool columnsDivided = loops.size() == 2 && classes.isDivided(op, 1);
  domain.columns = loops.size() == 2 ? teamSize(loops[1], columnsDivided) : 0;
  auto baseOf = [&](int64_t size) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      teamOffset(size, loc));
  };
  if (rowsDivided)
    domain.rowBase = baseOf(domain.rows);
  if (columnsDivided)
    domain.columnBase = baseOf(domain.columns);

  // 2. The operands at the shape of their maps.
  FragmentVectorizer vectorizer(builder, domain, mapping);
  SmallVector<int64_t> sizes{domain.rows};
  if (loops.size() == 2)
    sizes.push_back(domain.columns);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isMinorIdentity() &&
        map !=
            AffineMap::getMultiDimIdentityMap(map.getNumDims(), op.getContext())
                .getMajorSubMap(map.getNumResults()))
      return op.emitOpError("reads or writes a tile in another order than rows "
                            "and columns");
    BlockArgument arg = op.getMatchingBlockArgument(&operand);
    if (arg.use_empty())
      continue;
    FailureOr<Value> value = fragment(
        operand.get(), ArrayRef(sizes).take_front(map.getNumResults()));
    if (failed(value))
      return failure();
    vectorizer.bind(arg, *value);
  }

  // 3. Which outputs are reduced, and by which op.
  llvm::SmallDenseMap<unsigned, Reduction> reductions;
  llvm::SmallPtrSet<Operation *, 4> combiners;
  for (unsigned number = 0; hasReduction && number < op.getNumDpsInits();
       ++number) {
    if (op.getMatchingIndexingMap(op.getDpsInitOperand(number))
            .getNumResults() == loops.size())
      continue;
    FailureOr<Reduction> reduction = matchRowReduction(op, number);
    if (failed(reduction))
      return failure();
    combiners.insert(reduction->combiner);
    reductions.try_emplace(number, *reduction);
  }

  // 4. The body, and its results.
  for (Operation &nested : op.getBody()->without_terminator())
    if (!combiners.contains(&nested) && failed(vectorizer.emit(nested)))
      return failure();
  for (auto [number, yielded] :
       llvm::enumerate(op.getBody()->getTerminator()->getOperands())) {
    OpResult result = op->getResult(number);
    auto reduction = reductions.find(number);
    if (reduction == reductions.end()) {
      bool isFragment = cast<RankedTensorType>(result.getType()).getRank() == 2;
      mapping.map(result, vectorizer.get(yielded, isFragment));
      continue;
    }
    if (columnsDivided)
      noteMeeting();
    mapping.map(result,
                reduceRows(builder, loc, reduction->second,
                           vectorizer.get(reduction->second.input, true),
                           vectorizer.get(op.getRegionOutputArgs()[number]),
                           columnsDivided));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// Whether nothing but slices read `op`'s tile: those are what is loaded.
static bool isOnlySliced(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<tensor::ExtractSliceOp, tensor::PadOp>(user);
  });
}

/// Whether a slice is a tile that is loaded. One that is padded or cut again is
/// loaded as what becomes of it; one of an output is a destination; one of a
/// tile that was computed is stored.
bool KernelEmitter::isLoaded(tensor::ExtractSliceOp slice) {
  Value source = slice.getSource();
  if (!slice.getType().hasStaticShape() || isOnlySliced(slice) ||
      llvm::all_of(slice->getUsers(),
                   llvm::IsaPred<tensor::ParallelInsertSliceOp>))
    return false;
  if (source.getDefiningOp<tensor::PadOp>())
    return true;
  tensor::ExtractSliceOp around = sliceAround(slice);
  Value whole = mapping.lookupOrNull(around ? around.getSource() : source);
  return whole && isa<MemRefType>(whole.getType()) &&
         !llvm::is_contained(loop.getRegionIterArgs(), source);
}

LogicalResult KernelEmitter::emitOp(Operation &op) {
  // What is used through the ops that read it.
  if (isa<tensor::EmptyOp, linalg::FillOp>(op))
    return success();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return emitInsert(insert);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return isLoaded(slice) ? emitLoad(slice.getResult()) : success();
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return isOnlySliced(pad) ? success() : emitLoad(pad.getResult());
  if (auto inner = dyn_cast<scf::ForOp>(op))
    return emitLoop(inner);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitBranch(branch);
  if (auto element = dyn_cast<tensor::InsertOp>(op))
    return emitElement(element);
  // The one flag of all rows is read as the flags of rows.
  if (auto extract = dyn_cast<tensor::ExtractOp>(op);
      extract && extract.getIndices().empty())
    if (Value flags = mapping.lookupOrNull(extract.getTensor());
        flags && !isa<MemRefType>(flags.getType())) {
      mapping.map(extract.getResult(), flags);
      return success();
    }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (linalg::isaContractionOpInterface(linalgOp))
      return emitContraction(linalgOp);
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return reducesFlags(generic) ? emitFlagsOfRows(generic)
                                   : emitGeneric(generic);
  }
  return emitScalarOp(op);
}

LogicalResult KernelEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(op)))
      return failure();
  return success();
}

LogicalResult KernelEmitter::emitStores() {
  for (Operation &op : loop.getTerminator().getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(op);
    if (isElementOutput(insert.getSource()))
      continue;
    Value memref = globalOf(insert.getDest());
    Operation *part = insert.getSource().getDefiningOp();
    if (isWrittenPart(insert) && globalOf(part->getOperand(0)) == memref)
      continue;
    if (failed(emitStore(insert, memref)))
      return failure();
  }
  return success();
}
