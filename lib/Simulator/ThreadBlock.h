//===- ThreadBlock.h - One thread block in the simulator -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The teams of a block, what they share, and what happens when. Of all teams
// that can go on and all copies and products under way, the earliest is next;
// so teams touch what they share in the order of time.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_SIMULATOR_THREADBLOCK_H
#define FA_LIB_SIMULATOR_THREADBLOCK_H

#include "GlobalTensor.h"
#include "Kernel.h"
#include "Ring.h"

#include "fa/Simulator/CostTable.h"

#include <array>
#include <deque>
#include <map>

namespace mlir::scf {
class ForOp;
} // namespace mlir::scf

namespace fa::sim {

/// A ring with its data; of a ring that is each team's, one team's.
struct RingInstance {
  cta::RingOp op;
  RingTeams teams;
  Ring protocol;
  std::vector<SharedTile> stages;
  /// Of each stage's latest use: who acquired it, and the copy's coordinates.
  std::vector<mlir::Operation *> acquiredAt;
  std::vector<std::optional<std::pair<GlobalTensor *, Window>>> copies;

  /// The teams that keep the stage of `use` from being free.
  llvm::SmallVector<unsigned> getHolders(int64_t use) const;
};

/// Named barriers. A barrier opens when two teams have come.
struct BarrierInstance {
  struct State {
    std::optional<unsigned> waiting; ///< the team that has come
    mlir::Operation *cameAt = nullptr;
    uint64_t opened = 0; ///< how often it opened
  };
  std::vector<State> states;
};

/// A place in the program, with the loop that it is in.
struct Frame {
  mlir::Block *block;
  mlir::Block::iterator next;
  int64_t index = 0, step = 0, end = 0; ///< of scf.for, or items of cta.work
};

/// A team at work; one more goes through what stands outside of roles.
struct Team {
  enum class State { Ready, Blocked, Done };

  unsigned number = 0;
  const TeamInfo *info = nullptr; ///< null for the block itself
  std::vector<Datum> values;
  llvm::SmallVector<Frame> frames;
  State state = State::Done;
  double time = 0;
  double productsDone = 0; ///< when the last of those under way is
  double pace = 1; ///< how much longer than in the table arithmetic takes

  /// Products that no wait has covered, oldest first; and those that no wait
  /// has named.
  std::vector<FlightPtr> inFlight, notNamed;

  // Of the op that the team is at: whether it has begun, what it waits for.
  bool begun = false, finished = false;
  uint64_t ticket = 0;
  uint32_t meetings = 0; ///< with all teams of its role, so far
  uint64_t blockedAt = 0;
  std::string reason;

  // For the time line: since when it computes or waits.
  double computesSince = 0, waitsSince = 0;

  mlir::Operation *current() const { return &*frames.back().next; }
};

/// A deterministic stream of random numbers.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  /// From 0 to 1.
  double uniform();

private:
  uint64_t state;
};

class ThreadBlock {
public:
  ThreadBlock(const Kernel &kernel, const Options &options,
              llvm::ArrayRef<Datum> arguments, int64_t number);

  mlir::LogicalResult run();
  double getTime() const { return now; }
  /// The work items of the kernel, known after a run.
  std::optional<int64_t> getItems() const { return items; }

private:
  /// What executing an op led to.
  enum class Step {
    Next,    ///< go on with the op after it
    Jump,    ///< go on where the frames say
    Blocked, ///< try again when something has changed
    Failed
  };

  /// The load or combination at which the teams of a role meet.
  struct Meeting {
    mlir::Operation *op = nullptr;   ///< null while nobody is there
    Window window;                   ///< of a load
    std::vector<FragmentPtr> values; ///< of a combination, by team
    FragmentPtr result;              ///< of the last combination
    bool isAny = false;              ///< of those that have come
    bool wasAny = false;             ///< of the last time
    llvm::SmallVector<unsigned> teams;
    uint64_t opened = 0; ///< how often all had come and the tile was there
  };

  // ThreadBlock.cpp: what happens next.
  mlir::LogicalResult schedule();
  mlir::LogicalResult runTeam(Team &team);
  Step execute(Team &team, mlir::Operation *op);
  double getHorizon(const Team &team) const;
  void at(double time, std::function<mlir::LogicalResult()> action);
  double draw(double spread);
  Step block(Team &team, llvm::Twine reason);
  enum class Unit { Copies, Products };
  void traceCompute(Team &team);
  void traceWait(Team &team, mlir::Operation *op);
  void traceUnit(Unit unit, mlir::Operation *op, double begin, double end);
  void spend(Team &team, double cycles);

  // Report.cpp: what is wrong.
  std::string getName(const Team &team) const;
  std::string getNames(llvm::ArrayRef<unsigned> teams) const;
  mlir::InFlightDiagnostic fault(const Team &team, mlir::Operation *op);
  mlir::InFlightDiagnostic fault(mlir::Operation *op);
  void noteOthers(mlir::InFlightDiagnostic &diag, const Team *except);
  llvm::SmallVector<unsigned> getAbsent(mlir::Operation *role,
                                        llvm::ArrayRef<unsigned> present) const;
  mlir::LogicalResult reportDeadlock();
  mlir::LogicalResult checkTeamEnd(Team &team);
  mlir::LogicalResult checkRingEnd(RingInstance &ring);
  mlir::LogicalResult checkEnd();

  // ControlFlow.cpp: structure, and what concerns one team alone.
  Step executeLocal(Team &team, mlir::Operation *op);
  Step executeYield(Team &team, mlir::Operation *op);
  Step enterLoop(Team &team, mlir::scf::ForOp loop);
  Step enterRegion(Team &team, mlir::Region &region);
  Step enterWork(Team &team, cta::WorkOp work);
  Step nextItem(Team &team, cta::WorkOp work, llvm::ArrayRef<Datum> carried);
  Step enterMarkedWork(Team &team, cta::WorkOp work);
  bool ownsItem(cta::WorkOp work, int64_t item) const;
  /// What is computed by the order of a work whose items come in shares.
  template <typename Compute>
  auto withShares(const Team &team, cta::WorkOp work, Compute compute) const;
  /// Sets the coordinates from `firstDim` on, which `rest` is the number of.
  void setCoordinates(Team &team, cta::WorkOp work, size_t firstDim,
                      int64_t rest);
  Step mark(Team &team, cta::MarkOp op);
  Step startRole(Team &team, cta::RoleOp role);
  Step evaluate(Team &team, mlir::Operation *op, const Evaluator &evaluator);
  Step getSize(Team &team, mlir::Operation *op);
  bool areTeamsDone() const;

  // Lookup.cpp: single elements of global memory.
  Step loadScalar(Team &team, mlir::Operation *op);
  Step storeScalar(Team &team, mlir::Operation *op);
  Step lookUp(Team &team, cta::LookupOp op);

  // SharedOps.cpp: rings and barriers.
  Step allocate(Team &team, cta::RingOp op);
  RingInstance *findRing(Team &team, cta::AcquireOp op);
  RingInstance &findRing(Team &team, cta::ConsumeOp op);
  Step allocate(Team &team, cta::BarrierOp op);
  std::string describeHeld(const RingInstance &ring, unsigned producer) const;
  std::string describeEmpty(const RingInstance &ring, unsigned consumer) const;
  Step acquire(Team &team, cta::AcquireOp op);
  Step copy(Team &team, cta::CopyOp op);
  Step consume(Team &team, cta::ConsumeOp op);
  Step release(Team &team, cta::ReleaseOp op);
  Step meet(Team &team, mlir::Operation *op, bool waits);

  // Meetings.cpp: where all teams of a role meet.
  mlir::LogicalResult join(Team &team, mlir::Operation *op, Meeting &meeting);
  bool isComplete(const Team &team, const Meeting &meeting) const;
  static void open(Meeting &meeting);
  Step loadOnce(Team &team, cta::LoadOp op, const Window &window);
  mlir::LogicalResult joinLoad(Team &team, cta::LoadOp op, const Window &window,
                               Meeting &meeting);
  /// Waits for all teams; the last one to come calls `complete`.
  Step gather(Team &team, mlir::Operation *op,
              llvm::function_ref<void()> complete);
  Step combine(Team &team, cta::CombineOp op);
  Step askAll(Team &team, cta::AnyOp op);
  Step meetAll(Team &team, cta::MeetOp op);

  // TileOps.cpp: loads, products, stores.
  Step load(Team &team, cta::LoadOp op);
  mlir::LogicalResult startLoad(Team &team, cta::LoadOp op,
                                const Window &window, SharedTile &tile,
                                std::function<void()> done);
  SharedTile &getLoadTile(const Team &team, cta::LoadOp op);
  Step read(Team &team, cta::ReadOp op);
  Step multiply(Team &team, cta::MmaOp op);
  double reserveTensorCores(Team &team, cta::MmaOp op);
  void finishProduct(Flight &flight);
  Step wait(Team &team, cta::WaitOp op);
  Step store(Team &team, cta::StoreOp op);
  Step fetch(Team &team, cta::FetchOp op);
  mlir::LogicalResult checkRead(Team &team, mlir::Operation *op,
                                const TileRef &ref);
  double startTransfer(mlir::Operation *op, int64_t bytes, double time);
  /// The product in flight that reads `tile`, and its team.
  std::pair<FlightPtr, Team *> findReader(const SharedTile &tile);

  // Values.
  const Datum &get(const Team &team, mlir::Value value) const {
    return team.values[kernel.slots.lookup(value)];
  }
  template <typename T>
  const T &get(const Team &team, mlir::Value value) const {
    return *std::get_if<T>(&get(team, value));
  }
  void set(Team &team, mlir::Value value, Datum datum) {
    team.values[kernel.slots.lookup(value)] = std::move(datum);
  }
  llvm::SmallVector<Datum> getAll(const Team &team, mlir::ValueRange values);
  void setAll(Team &team, mlir::ValueRange values, llvm::ArrayRef<Datum> data);
  Window getWindow(const Team &team, mlir::Value tensor,
                   mlir::ValueRange indices, int64_t rows, int64_t cols,
                   mlir::Value rowEnd, bool isRowVector = false);
  Agent getAgent(const Team &team) const;

  const Kernel &kernel;
  const Options &options;
  CostTable costs;
  int64_t number;
  Random random;

  Team self; ///< what stands outside of roles
  std::vector<Team> teams;
  std::deque<std::vector<RingInstance>> rings; ///< those of one op together
  std::deque<BarrierInstance> barriers;
  std::optional<int64_t> items;
  llvm::DenseSet<int64_t> marked;     ///< items to be done again
  llvm::DenseSet<unsigned> markedAll; ///< teams that will mark no more

  /// The places of loads: one for each team, or one that all share.
  std::map<std::pair<mlir::Operation *, unsigned>, SharedTile> loadTiles;
  std::map<mlir::Operation *, Meeting> meetings; ///< for each role

  // Time.
  std::multimap<double, std::function<mlir::LogicalResult()>> events;
  double now = 0;
  uint64_t version = 0; ///< of what teams share
  std::array<double, 4> coreFree{};
  double memoryFree = 0;
  std::vector<double> copyLanes, productLanes; ///< of the time line
};

} // namespace fa::sim

#endif // FA_LIB_SIMULATOR_THREADBLOCK_H
