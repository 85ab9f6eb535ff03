//===- Trace.cpp - Time lines of simulated kernels -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Simulator/Trace.h"

#include "llvm/Support/JSON.h"

using namespace fa::sim;

/// The format counts in microseconds, and shows nanoseconds.
static constexpr double kUnitsPerCycle = 1e-3;

void Trace::nameTrack(int64_t block, int64_t track, llvm::StringRef name) {
  names[{block, track}] = name.str();
}

void Trace::add(int64_t block, int64_t track, llvm::StringRef what,
                double begin, double end, llvm::StringRef detail) {
  events.push_back({block, track, what.str(), detail.str(), begin, end});
}

/// An event that names a process or a track.
static void writeName(llvm::json::OStream &json, const char *what,
                      int64_t block, int64_t track, llvm::StringRef name) {
  json.object([&] {
    json.attribute("name", what);
    json.attribute("ph", "M");
    json.attribute("pid", block);
    json.attribute("tid", track);
    json.attributeObject("args", [&] { json.attribute("name", name); });
  });
}

void Trace::write(llvm::raw_ostream &stream) const {
  llvm::json::OStream json(stream, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("displayTimeUnit", "ns");
    json.attributeArray("traceEvents", [&] {
      for (const auto &[place, name] : names) {
        if (place.second == 0)
          writeName(json, "process_name", place.first, 0,
                    "block " + std::to_string(place.first));
        writeName(json, "thread_name", place.first, place.second, name);
      }
      for (const Event &event : events)
        json.object([&] {
          json.attribute("name", event.what);
          json.attribute("ph", "X");
          json.attribute("pid", event.block);
          json.attribute("tid", event.track);
          json.attribute("ts", event.begin * kUnitsPerCycle);
          json.attribute("dur", (event.end - event.begin) * kUnitsPerCycle);
          if (!event.detail.empty())
            json.attributeObject(
                "args", [&] { json.attribute("detail", event.detail); });
        });
    });
  });
  stream << '\n';
}
