//===- Gate.h - Holding a stream while work is queued -----------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_BENCH_GATE_H
#define FLASHLOOM_BENCH_GATE_H

#include "Device.h"

#include <memory>

namespace fa::bench {

/// Keeps the GPU from starting what is queued behind it, so that the host's
/// time for queueing stays out of a timing. The stream waits for a word of
/// mapped host memory; where the driver cannot do that, large memory fills
/// occupy it for some 20 milliseconds instead.
class Gate {
public:
  explicit Gate(const Device &device);
  ~Gate();
  Gate(const Gate &) = delete;
  Gate &operator=(const Gate &) = delete;

  /// Queues the gate on the device's stream.
  void close();
  /// Lets the stream go on. Opening an open gate does nothing.
  void open();

private:
  void fillMemory();

  const Device &device;
  void *word = nullptr;
  CuAddress wordAddress = 0;
  unsigned generation = 0;
  bool canWait = false;
  std::unique_ptr<DeviceBuffer> scratch;
};

/// A gate that is closed for a scope, whatever ends it.
class ClosedGate {
public:
  explicit ClosedGate(Gate &gate) : gate(gate) { gate.close(); }
  ~ClosedGate() { gate.open(); }
  ClosedGate(const ClosedGate &) = delete;
  ClosedGate &operator=(const ClosedGate &) = delete;

private:
  Gate &gate;
};

} // namespace fa::bench

#endif // FLASHLOOM_BENCH_GATE_H
