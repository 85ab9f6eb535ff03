//===- TileOps.cpp - Loads, products and stores in the simulator ----------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadBlock.h"

using namespace mlir;
using namespace fa;
using namespace fa::sim;

/// How much the time of what is under way varies with a seed: by 2^4 each way.
static constexpr double kFlightSpread = 4;

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

Window ThreadBlock::getWindow(const Team &team, Value tensor,
                              ValueRange indices, int64_t rows, int64_t cols,
                              Value rowEnd, bool isRowVector) {
  Window window;
  for (Value index : indices)
    window.indices.push_back(get<int64_t>(team, index));
  window.rows = rows;
  window.cols = cols;
  window.isRowVector = isRowVector;
  window.rowEnd = rowEnd
                      ? get<int64_t>(team, rowEnd)
                      : get<GlobalTensor *>(team, tensor)->getRows(isRowVector);
  return window;
}

/// Who a team is to the tensors that it reads and writes.
Agent ThreadBlock::getAgent(const Team &team) const {
  uint32_t firstOfBlock = number * (teams.size() + 1) + 1;
  bool isInRole = team.info != nullptr;
  uint32_t first =
      isInRole ? kernel.firstTeam.lookup(team.info->role) : team.number;
  return {firstOfBlock + team.number, firstOfBlock + first, team.meetings};
}

/// Starts a transfer to shared memory and returns when it is done.
double ThreadBlock::startTransfer(Operation *op, int64_t bytes, double time) {
  double begin = std::max(time, memoryFree);
  memoryFree = begin + bytes / costs.copyBytesPerCycle;
  double end = memoryFree + costs.copyLatency * draw(kFlightSpread);
  traceUnit(Unit::Copies, op, begin, end);
  return end;
}

ThreadBlock::Step ThreadBlock::store(Team &team, cta::StoreOp op) {
  const Fragment &value = *get<FragmentPtr>(team, op.getValue());
  bool isRowVector = value.shape.size() == 1;
  Window window =
      getWindow(team, op.getDestination(), op.getIndices(),
                isRowVector ? value.size() : value.rows(),
                isRowVector ? 1 : value.cols(), op.getRowEnd(), isRowVector);
  auto *tensor = get<GlobalTensor *>(team, op.getDestination());
  std::string error =
      tensor->write(window, getAgent(team), value.floats.data());
  if (!error.empty()) {
    fault(team, op) << error;
    return Step::Failed;
  }
  auto type = cast<VectorType>(op.getValue().getType());
  spend(team, costs.getStore(value.size() * type.getElementTypeBitWidth() / 8));
  return Step::Next;
}

ThreadBlock::Step ThreadBlock::fetch(Team &team, cta::FetchOp op) {
  auto type = cast<VectorType>(op.getValue().getType());
  auto value = std::make_shared<Fragment>(type);
  bool isRowVector = type.getRank() == 1;
  Window window = getWindow(
      team, op.getSource(), op.getIndices(), type.getDimSize(0),
      isRowVector ? 1 : type.getDimSize(1), op.getRowEnd(), isRowVector);
  window.pad = op.getPad().convertToFloat();
  std::string error =
      get<GlobalTensor *>(team, op.getSource())
          ->read(
              window, getAgent(team), [](int64_t) { return true; },
              value->floats.data());
  if (!error.empty()) {
    fault(team, op) << error;
    return Step::Failed;
  }
  set(team, op.getValue(), FragmentPtr(std::move(value)));
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  spend(team, costs.getStore(bytes) + costs.copyLatency);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

std::pair<FlightPtr, Team *> ThreadBlock::findReader(const SharedTile &tile) {
  for (Team &team : teams)
    for (const FlightPtr &flight : team.inFlight)
      if (flight->aTile.tile == &tile || flight->bTile.tile == &tile)
        return {flight, &team};
  return {};
}

SharedTile &ThreadBlock::getLoadTile(const Team &team, cta::LoadOp op) {
  unsigned owner = team.number;
  if (op.getKind() == cta::LoadKind::Once)
    owner = kernel.firstTeam.lookup(team.info->role);
  return loadTiles.try_emplace({op, owner}, op.getTile().getType())
      .first->second;
}

/// Starts to fill `tile` for a load. `done` is called when it is there.
LogicalResult ThreadBlock::startLoad(Team &team, cta::LoadOp op,
                                     const Window &window, SharedTile &tile,
                                     std::function<void()> done) {
  if (auto [flight, reader] = findReader(tile); flight) {
    InFlightDiagnostic diag = fault(team, op);
    diag << "overwrites a tile that a product in flight of " << getName(*reader)
         << " reads";
    diag.attachNote(flight->op.getLoc()) << "the product was started here";
    return diag;
  }
  tile.poison();
  auto *tensor = get<GlobalTensor *>(team, op.getSource());
  double end = startTransfer(op, tile.type.getByteSize(), team.time);
  at(end, [=, &team, &tile]() -> LogicalResult {
    std::string error = tensor->read(
        window, getAgent(team), [](int64_t) { return true; }, tile.data.data());
    if (!error.empty())
      return fault(team, op) << error;
    done();
    return success();
  });
  return success();
}

ThreadBlock::Step ThreadBlock::load(Team &team, cta::LoadOp op) {
  cta::TileType type = op.getTile().getType();
  Window window = getWindow(team, op.getSource(), op.getIndices(),
                            type.getRows(), type.getCols(), op.getRowEnd());
  window.padsColumns = cta::padsColumns(op.getSource().getType());
  if (op.getKind() == cta::LoadKind::Once)
    return loadOnce(team, op, window);
  SharedTile &tile = getLoadTile(team, op);
  if (!team.begun) {
    team.begun = true;
    if (failed(startLoad(team, op, window, tile,
                         [&team] { team.finished = true; })))
      return Step::Failed;
  }
  if (!team.finished)
    return block(team, "its tile to be there");
  set(team, op.getTile(), TileRef{&tile});
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Reading tiles
//===----------------------------------------------------------------------===//

LogicalResult ThreadBlock::checkRead(Team &team, Operation *op,
                                     const TileRef &ref) {
  if (!ref.ring)
    return success();
  ArrayRef<unsigned> consumers = ref.ring->teams.consumers;
  const auto *found = llvm::find(consumers, team.number);
  std::string error =
      found == consumers.end()
          ? "reads a stage that is not full: its role consumes none of the ring"
          : ref.ring->protocol.checkRead(ref.use, found - consumers.begin());
  if (error.empty())
    return success();
  return fault(team, op) << error;
}

ThreadBlock::Step ThreadBlock::read(Team &team, cta::ReadOp op) {
  TileRef ref = get<TileRef>(team, op.getTile());
  if (failed(checkRead(team, op, ref)))
    return Step::Failed;
  auto fragment =
      std::make_shared<Fragment>(cast<VectorType>(op.getFragment().getType()));
  fragment->floats = ref.tile->data;
  set(team, op.getFragment(), FragmentPtr(std::move(fragment)));
  spend(team, costs.synchronisation);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Gives the product its time on the tensor cores that the team's warps use,
/// and returns when its result is there. A team's products end in order.
double ThreadBlock::reserveTensorCores(Team &team, cta::MmaOp op) {
  cta::RoleOp role = team.info->role;
  int64_t cores = coreFree.size();
  int64_t used = std::min<int64_t>(role.getWarps(), cores);
  int64_t first = team.info->number * used % cores;
  double begin = team.time;
  for (int64_t core = 0; core < used; ++core)
    begin = std::max(begin, coreFree[(first + core) % cores]);
  cta::FlightType type = op.getFlight().getType();
  double work = double(type.getRows()) * type.getCols() * op.getDepth();
  double end = begin + work * cores / (used * costs.productsPerCycle) *
                           draw(kFlightSpread);
  for (int64_t core = 0; core < used; ++core)
    coreFree[(first + core) % cores] = end;
  traceUnit(Unit::Products, op, begin, end);
  team.productsDone = std::max(team.productsDone, end + costs.productLatency);
  return team.productsDone;
}

/// Reads the operands and computes the result.
void ThreadBlock::finishProduct(Flight &flight) {
  cta::FlightType type = flight.op.getFlight().getType();
  auto result = flight.acc ? std::make_shared<Fragment>(*flight.acc)
                           : std::make_shared<Fragment>(type.getFragmentType());
  const std::vector<float> &a =
      flight.a ? flight.a->floats : flight.aTile.tile->data;
  multiplyAdd(a.data(), flight.bTile.tile->data.data(),
              flight.op.getTranspose(), result->floats.data(), type.getRows(),
              type.getCols(), flight.op.getDepth());
  flight.result = std::move(result);
}

ThreadBlock::Step ThreadBlock::multiply(Team &team, cta::MmaOp op) {
  auto flight = std::make_shared<Flight>();
  flight->op = op;
  flight->bTile = get<TileRef>(team, op.getB());
  if (isa<cta::TileType>(op.getA().getType()))
    flight->aTile = get<TileRef>(team, op.getA());
  else
    flight->a = get<FragmentPtr>(team, op.getA());
  if (op.getAcc())
    flight->acc = get<FragmentPtr>(team, op.getAcc());
  if (failed(checkRead(team, op, flight->bTile)) ||
      failed(checkRead(team, op, flight->aTile)))
    return Step::Failed;
  team.inFlight.push_back(flight);
  team.notNamed.push_back(flight);
  at(reserveTensorCores(team, op), [=]() -> LogicalResult {
    finishProduct(*flight);
    return success();
  });
  set(team, op.getFlight(), flight);
  spend(team, costs.scalar);
  return Step::Next;
}

ThreadBlock::Step ThreadBlock::wait(Team &team, cta::WaitOp op) {
  FlightPtr flight = get<FlightPtr>(team, op.getFlight());
  // Products end in order, so a wait covers all up to its own, and all later
  // ones but the last `pending`.
  auto found = llvm::find(team.inFlight, flight);
  size_t later = found == team.inFlight.end() ? team.inFlight.size()
                                              : team.inFlight.end() - found - 1;
  size_t covered =
      team.inFlight.size() - std::min<size_t>(later, op.getPending());
  if (covered && !team.inFlight[covered - 1]->result)
    return block(team, "a product in flight");
  team.inFlight.erase(team.inFlight.begin(), team.inFlight.begin() + covered);
  llvm::erase(team.notNamed, flight);
  set(team, op.getFragment(), flight->result);
  spend(team, costs.scalar);
  return Step::Next;
}
