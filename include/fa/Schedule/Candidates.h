//===- Candidates.h - The schedules worth trying ----------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search's half that needs no GPU: which schedules of a problem are worth
// compiling and timing.
//
//===----------------------------------------------------------------------===//

#ifndef FA_SCHEDULE_CANDIDATES_H
#define FA_SCHEDULE_CANDIDATES_H

#include "fa/Schedule/Schedule.h"

#include <vector>

namespace fa {

/// A schedule, and which of the passes that only change the order of work run.
struct Candidate {
  Schedule schedule;
  bool pingPong = false;   ///< teams take turns on the tensor cores
  bool persistent = false; ///< blocks that run many items
  /// Items of persistent blocks end in the next one.
  bool overlapTiles = false;
};

bool operator==(const Candidate &a, const Candidate &b);

/// The schedules of `problem` that are worth timing on `target`, the resource
/// model's own choice first; none where nothing fits. All are within the
/// target's shared memory and, by the model's estimate, its registers. Their
/// number is a few tens at most and their order does not change.
///
/// With `warpgroups`, for which the target needs wgmma: teams of 64 rows,
/// three, two or one; blocks of 64 to 176 keys in steps of 32, and the most
/// that fit; two stages, and one, three or four with the most keys that these
/// leave room for, one where that is more keys; of a team alone, which leaves
/// the tensor cores idle during its softmax, the most keys only. Fewer than 64
/// keys are for what takes no more. Without: 128 or 64 rows, 32 to 128 keys,
/// one or two stages.
///
/// Of two and of three teams the one with the most keys up to 128 is there a
/// second time with items that end in the next one; heads wider than 128 leave
/// no room for the second Q that this takes.
///
/// Turns, persistent blocks and the rescaling policy (`rescale`, the one that
/// suits the problem) are left out or changed one at a time, of the model's
/// choice alone: what each gives depends little on the blocks.
std::vector<Candidate> enumerateCandidates(const ScheduleProblem &problem,
                                           const Target &target,
                                           bool warpgroups, Rescale rescale);

} // namespace fa

#endif // FA_SCHEDULE_CANDIDATES_H
