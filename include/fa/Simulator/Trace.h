//===- Trace.h - Time lines of simulated kernels -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_SIMULATOR_TRACE_H
#define FA_SIMULATOR_TRACE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <string>
#include <vector>

namespace fa::sim {

/// What happened when: a process for each thread block, and in it a track for
/// each team, one for the copies and one for the products.
class Trace {
public:
  /// Names a track of a block, once.
  void nameTrack(int64_t block, int64_t track, llvm::StringRef name);
  /// Adds what `track` did from `begin` to `end`, in cycles. `detail` says
  /// more.
  void add(int64_t block, int64_t track, llvm::StringRef what, double begin,
           double end, llvm::StringRef detail = "");

  /// Writes Chrome's trace format, which Perfetto opens
  /// (https://ui.perfetto.dev). One cycle is shown as one nanosecond.
  void write(llvm::raw_ostream &stream) const;

private:
  struct Event {
    int64_t block, track;
    std::string what, detail;
    double begin, end;
  };
  std::vector<Event> events;
  std::map<std::pair<int64_t, int64_t>, std::string> names;
};

} // namespace fa::sim

#endif // FA_SIMULATOR_TRACE_H
