//===- Ring.h - The protocol of a ring -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who has acquired, filled, consumed and released which stage; no data, no IR.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_SIMULATOR_RING_H
#define FA_LIB_SIMULATOR_RING_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fa::sim {

/// The stages of a ring in use. All producers (the teams of the role that fills
/// it) take part in each copy; all consumers (the teams of the roles that read
/// it) read each stage. Use n, counted from 0, has stage n mod the number of
/// stages; each team goes through the uses in order.
/// Operations return what rule they break, or "".
class Ring {
public:
  Ring(int64_t stages, unsigned producers, unsigned consumers);

  int64_t getStage(int64_t use) const { return use % int64_t(stages.size()); }
  /// The use that a team's next acquire or consume takes.
  int64_t nextAcquire(unsigned producer) const { return acquires[producer]; }
  int64_t nextConsume(unsigned consumer) const { return consumes[consumer]; }

  /// Whether the stage of the producer's next use is free for it.
  bool canAcquire(unsigned producer) const;
  /// Takes it. `isFirst` is set where no other producer has before.
  int64_t acquire(unsigned producer, bool &isFirst);
  std::string startCopy(int64_t use, unsigned producer);
  void finishCopy(int64_t use, unsigned producer);

  bool canConsume(unsigned consumer) const;
  int64_t consume(unsigned consumer);
  std::string checkRead(int64_t use, unsigned consumer) const;
  /// `isLast` is set where the stage becomes free.
  std::string release(int64_t use, unsigned consumer, bool &isLast);

  /// Producers whose part of use `n` has not arrived, and whether it has been
  /// started.
  llvm::SmallVector<unsigned> getMissingCopies(int64_t use) const;
  bool isCopyStarted(int64_t use, unsigned producer) const;
  /// Consumers that have not released `use`, once it is full.
  llvm::SmallVector<unsigned> getHolders(int64_t use) const;
  bool isConsumed(int64_t use, unsigned consumer) const;

  /// The uses whose stages are not free.
  llvm::SmallVector<int64_t> getOpenUses() const;
  /// Why an open use is not free.
  enum class Open { NotCopied, NotConsumed, NotReleased };
  Open getState(int64_t use) const;

private:
  /// How far one team is with a use of a stage.
  struct Producer {
    bool acquired = false, started = false, done = false;
  };
  struct Consumer {
    bool consumed = false, released = false;
  };
  /// The latest use of a stage; -1 before the first.
  struct Stage {
    int64_t use = -1;
    std::vector<Producer> producers;
    std::vector<Consumer> consumers;

    bool isFull() const;
    bool isFree() const;
  };

  const Stage &stageOf(int64_t use) const { return stages[getStage(use)]; }
  Stage &stageOf(int64_t use) { return stages[getStage(use)]; }

  std::vector<Stage> stages;
  std::vector<int64_t> acquires, consumes;
};

} // namespace fa::sim

#endif // FA_LIB_SIMULATOR_RING_H
