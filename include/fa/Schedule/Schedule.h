//===- Schedule.h - Schedules and the resources they take -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++ without IR: what a schedule is, which problem it is for, what it
// costs on a GPU, and how one is chosen.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SCHEDULE_SCHEDULE_H
#define FA_SCHEDULE_SCHEDULE_H

#include "fa/Target/Target.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fa {

/// How the teams of a thread block share the score block [br, bc].
enum class Partition {
  SplitQ, ///< each team has br / teams rows (FlashAttention 2)
  SplitK, ///< each team has bc / teams columns (FlashAttention 1)
};

/// When the state of a row moves to the maximum of a new block; see
/// `--online-softmax`.
enum class Rescale {
  Always,   ///< in every block
  Lazy,     ///< where the maximum grew past a threshold
  FirstMax, ///< never: the first block's serves, and a check says whether it
            ///< did
};

/// The policy with this name on a command line ("first-max"), if there is one.
std::optional<Rescale> parseRescale(const std::string &name);
/// The name that `parseRescale` reads.
const char *nameRescale(Rescale rescale);

/// The part of an attention problem that a kernel is compiled for.
struct ScheduleProblem {
  int64_t headDim = 0;      ///< D of Q and K, elements
  int64_t headDimV = 0;     ///< Dv of V and O, elements
  int64_t elementBytes = 2; ///< of Q, K, V and O
  /// Registers of a thread that the score function and the mask take beside
  /// what causal attention takes; and the same of a warpgroup's thread.
  int64_t variantRegisters = 0;
  int64_t groupRegisters = 0;
  /// Accumulators that a thread holds: 2 where a block's state is read, updated
  /// and written back.
  int64_t heldStates = 1;
  /// Operations of the special-function unit that the score function adds to
  /// each element's exp2: softcap's tanh is one.
  int64_t scoreFunctions = 0;
  /// The bytes of an element of each matrix that the score function and the
  /// mask read at (query, key): of a bias.
  std::vector<int64_t> matrixBytes = {};
  /// Whether tiles of them lie in shared memory instead (--stage-lookups).
  bool stagesMatrices = false;
  /// Whether rows of Q meet few blocks of keys, however many keys there are: by
  /// a window, by lists of blocks, or as sequences among others.
  bool hasShortItems = false;
};

/// The choices that passes read; see `#attn.schedule`.
struct Schedule {
  std::string target = "sm_80";
  int64_t br = 128;
  int64_t bc = 64;
  int64_t teams = 4;
  int64_t warps = 1;
  int64_t stages = 2;
  Partition partition = Partition::SplitQ;
  Rescale rescale = Rescale::Always;

  int64_t threads() const { return 32 * warps * teams; }
};

/// What a schedule takes of a multiprocessor.
struct Resources {
  int64_t sharedBytes = 0;        ///< of a thread block
  int64_t registersPerThread = 0; ///< an estimate; ptxas has the last word
};

/// Shared memory and registers of `schedule` for `problem`. Q has one stage, K
/// and V `stages` each, and matrices of which tiles are staged one. Registers
/// count the accumulator, the score block, the operand fragments in flight and
/// addresses; of a warpgroup's thread, which is one of four warps, also the
/// block before's probabilities.
Resources computeResources(const ScheduleProblem &problem,
                           const Schedule &schedule);

/// Which number of `schedule` no program can be made for, on a GPU or a CPU; or
/// nothing where all are within reason.
std::optional<std::string> findRangeViolation(const Schedule &schedule);

/// Why `schedule` cannot run on `target`, or nothing where it can. Registers
/// are not held against it: they are known when ptxas has run.
std::optional<std::string> findViolation(const ScheduleProblem &problem,
                                         const Schedule &schedule,
                                         const Target &target);

/// Whether the estimate of the registers is within what a thread may have.
bool fitsRegisters(const ScheduleProblem &problem, const Schedule &schedule,
                   const Target &target);

/// Whether the fragments that are there at once where softmax overlaps products
/// fit what a thread of a computing team may have, beside a group that loads.
bool fitsWarpgroups(const ScheduleProblem &problem, const Schedule &schedule);

/// Registers of a thread of each role of a block.
struct RegisterBudgets {
  int64_t load = 0;
  int64_t compute = 0;
};

/// The registers that a block of so many groups of four warps may hand around
/// (`setmaxnreg`), counted for one thread of each group: what the launch gave
/// them.
int64_t getRegisterPool(int64_t groups);

/// Divides the pool of one loading and `teams` computing groups. One that cuts
/// tiles off where their rows end gets as much as may serve it, others what the
/// computing groups leave.
RegisterBudgets divideRegisters(int64_t teams, bool cutsTiles = false);

/// Blocks of `schedule` that one multiprocessor holds at a time.
int64_t blocksPerSM(const ScheduleProblem &problem, const Schedule &schedule,
                    const Target &target);

/// The choice for a target, by the resource model: the largest blocks of which
/// two are resident; 32 rows a warp before 16, then the more keys the better,
/// and the stages that leave the most blocks resident. Measured on an H200
/// (docs/perf-log.md): at D 128, 32 rows beat 16 by 13%, since a warp reads all
/// of K and V from shared memory; at D 256, 64 keys beat 32 by 11%. With
/// `--prefetch` one stage is no slower than two. 128 keys are 4% faster at D
/// 64, but spill. Where the registers are enough for nothing, by the estimate,
/// 64 rows and 16 keys; nothing where these do not fit shared memory.
std::optional<Schedule> chooseForTarget(const ScheduleProblem &problem,
                                        const Target &target);

/// The choice for a target with wgmma, by the resource model: teams of four
/// warps with 64 rows each, beside a warpgroup that loads. Three teams where 96
/// or 128 keys fit them, else two, else one; of keys the more the better, up to
/// 128, and two stages; heads wider than 128 have up to 64 keys and three
/// stages where they fit. So D 64 has three teams with 128 keys, D 96 three
/// with 96 (8% faster than two with 128 from length 4096 on, and slower below
/// 2048), D 128 two with 128, D 192 two with 64 and three stages (9 to 13%
/// faster than 112 and two at length 512), D 256 two with 64 and two stages.
/// Where scores take the special-function unit as well, three teams have 64
/// keys or more: while one is at its products, two are at their softmax
/// (softcap at D 128: 6 to 8% faster from length 2048 on than two teams with
/// 128 keys). With a bias by tiles they are not (D 128: 3 to 5% slower than two
/// with 96). Three teams take longer to begin and end an item than two, so
/// short items have two (D 64 at length 2048 with a window of 1024: 8% faster;
/// packed sequences of 512: 21%). Measured on an H200 (docs/perf-log.md). Where
/// the registers are enough for nothing, by the estimate, two teams with the
/// fewest keys. Nothing where the target has no wgmma or nothing fits shared
/// memory.
std::optional<Schedule> chooseForWarpgroups(const ScheduleProblem &problem,
                                            const Target &target);

/// The choice for a target where teams divide the keys (`split_k`), as
/// FlashAttention 1's kernels do: blocks of 16 queries, of which each team
/// holds all, and 32 keys a team where they fit, else 16.
std::optional<Schedule> chooseSplitK(const ScheduleProblem &problem,
                                     const Target &target);

/// FlashAttention 1's block sizes, Algorithm 1 of Dao et al. (2022): bc =
/// ceil(M / 4d) for the outer loop over K and V and br = min(bc, d) for the
/// inner one over Q, with M = `sharedBytes` in elements; both rounded down to
/// a multiple of 16, but at least 16.
Schedule chooseByPaper(const ScheduleProblem &problem, const Target &target,
                       int64_t sharedBytes);

/// ceil(M / 4d), the paper's block before rounding. M and the result count
/// elements and rows.
int64_t paperBlock(int64_t sharedBytes, const ScheduleProblem &problem);

} // namespace fa

#endif // FA_SCHEDULE_SCHEDULE_H
