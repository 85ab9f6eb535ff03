//===- Target.h - GPUs in numbers -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Public figures of the GPUs that kernels are made for: NVIDIA's "CUDA C++
// Programming Guide", section "Compute Capabilities", and the datasheets; which
// instructions a GPU has: the "PTX ISA", "Target ISA Notes" of each.
//
//===----------------------------------------------------------------------===//

#ifndef FA_TARGET_TARGET_H
#define FA_TARGET_TARGET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <initializer_list>
#include <string>

namespace fa {

/// Groups of instructions that a kernel is built on, and that only some GPUs
/// have.
enum class Instruction : uint8_t {
  MmaSync,        ///< mma.sync on f16 and bf16
  CpAsync,        ///< cp.async, 16 bytes a thread
  Tma,            ///< cp.async.bulk (tensors too), mbarriers that count bytes
  GridDepControl, ///< griddepcontrol: a launch begins before another's end
  Wgmma,          ///< wgmma.mma_async of a warpgroup
  SetMaxNReg,     ///< setmaxnreg: registers move between warpgroups
  Tcgen05,        ///< tcgen05: products in tensor memory
  Fp8,            ///< products of e4m3 and e5m2
};

/// All of them, in the enum's order.
llvm::ArrayRef<Instruction> allInstructions();

/// What messages call it, after PTX: "mma.sync".
llvm::StringRef instructionName(Instruction instruction);

/// A set of instructions.
class InstructionSet {
public:
  constexpr InstructionSet(std::initializer_list<Instruction> instructions) {
    for (Instruction instruction : instructions)
      bits |= bit(instruction);
  }
  constexpr bool contains(Instruction instruction) const {
    return bits & bit(instruction);
  }
  constexpr InstructionSet operator|(InstructionSet other) const {
    other.bits |= bits;
    return other;
  }

private:
  static constexpr uint32_t bit(Instruction instruction) {
    return 1u << static_cast<unsigned>(instruction);
  }
  uint32_t bits = 0;
};

/// A GPU architecture as the resource model and the passes see it.
struct Target {
  const char *name; ///< as ptxas names it, "sm_80"
  int computeMajor;
  int computeMinor;
  int ptxVersion; ///< the first that knows it, at least 80: ten times 8.0
  int64_t sharedBytesPerBlock; ///< dynamic shared memory a block may ask for
  int64_t sharedBytesPerSM;
  int64_t registersPerSM; ///< 32-bit registers
  int64_t maxRegistersPerThread;
  int64_t maxThreadsPerSM;
  int64_t maxBlocksPerSM;
  int64_t numSMs; ///< of the part named in Target.cpp
  int64_t l2Bytes;
  InstructionSet instructions;

  bool has(Instruction instruction) const {
    return instructions.contains(instruction);
  }

  /// Every target, from the oldest to the newest.
  static llvm::ArrayRef<Target> all();
  /// The target of this name, or null.
  static const Target *lookup(llvm::StringRef name);
  /// The names of all, for messages: "sm_80, sm_86, ...".
  static std::string listNames();
};

} // namespace fa

#endif // FA_TARGET_TARGET_H
