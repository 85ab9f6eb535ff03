//===- Kernel.h - A kernel of a library -------------------------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contents of one entry of manifest.json; docs/kernel-library.md has the
// meaning of each field.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_KERNEL_H
#define FLASHLOOM_RUNTIME_KERNEL_H

#include "Architecture.h"

#include "flashloom/fa_runtime.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fa::rt {

/// PTX is for users without a ptxas: the driver compiles it when it is loaded.
enum class Format { Cubin, Ptx };

/// The values that a kernel's parameters can be bound to.
enum class Argument {
  Q,
  K,
  V,
  O,
  Lse,
  Scale,
  Batch,
  Heads,
  KvHeads,
  SeqQ,
  SeqKv,
  Splits,         ///< the parts that the keys are split into
  SequenceStarts, ///< one more than there are packed sequences
  Extra,          ///< one of fa_forward_params::extras, by name
  ExtraSize,      ///< a size of one of them
};

enum class ParamKind { Tensor, F32, Index, Scalar };

/// A size that a dimension of an extra tensor must have: one of the problem's
/// (Batch to SeqKv), that of all others of SequenceStarts, `constant` for
/// Extra, or for ExtraSize that of dimension `dim` of the extra `tensor`.
struct SizeRule {
  Argument argument;
  int64_t constant = 0;
  std::string tensor = {};
  int dim = 0;
};

/// One parameter of a kernel; `rank` counts for tensors, the rest for extras.
struct Param {
  ParamKind kind;
  Argument argument;
  int rank = 0;
  std::string name;
  fa_dtype dtype = FA_F32;
  /// A scalar that is passed in 64 bits.
  bool isWide = false;
  /// A tensor that a program writes.
  bool isOutput = false;
  /// What an extra tensor's address and strides are multiples of; 0: of an
  /// element.
  int64_t unitBytes = 0;
  /// For each dimension, all sizes that it must be equal to.
  std::vector<std::vector<SizeRule>> sizes;
};

/// One factor of the grid: ceil(size of a tensor's dimension / tile), plus the
/// size of an extra tensor's dimension where there is one. A program's tensors
/// are all extras, named by `extra`.
struct GridFactor {
  Argument tensor;
  int dim;
  int64_t tile;
  std::string plusExtra = {};
  int plusDim = 0;
  std::string extra = {};
};

/// One tensor map that a kernel takes after its other parameters: boxes of
/// `rows` rows and `cols` columns of a tensor, one batch and head each.
struct TensorMapParam {
  Argument tensor;
  int64_t rows, cols;
  int64_t swizzle;        ///< bytes: 0, 32, 64 or 128
  std::string extra = {}; ///< the name of a tensor that is an extra
  /// Rows are known to be of whole chunks.
  bool isWholeChunks = true;

  /// Bytes of a row that lie together in shared memory.
  int64_t chunkBytes() const { return swizzle ? swizzle : 16; }
};

/// A size of a workspace: ceil(the rule's size / tile) + plus.
struct WorkspaceSize {
  SizeRule rule;
  int64_t tile = 1, plus = 0;
};

/// A tensor that one launch of a plan leaves for another.
struct Workspace {
  std::string name;
  fa_dtype dtype = FA_F32;
  std::vector<WorkspaceSize> sizes;
};

/// What a launch of a plan passes: one of the kernel's params, or a workspace.
struct LaunchArgument {
  bool isWorkspace = false;
  size_t index = 0;
};

/// One factor of a launch's grid, of an argument's dimension.
struct PlannedFactor {
  size_t argument;
  int dim;
  int64_t tile;
};

/// What the launch of a grid needs beside its size and parameters, and ptxas's
/// report.
struct GridLaunch {
  std::string entry;
  std::vector<TensorMapParam> tensorMaps;
  /// Of a persistent kernel: the most blocks that it wants on a
  /// multiprocessor; 0 of any other.
  int32_t blocksPerSM = 0;
  /// Two words of the workspace are a parameter behind its arguments: by them,
  /// blocks find out which tile is next. 0 when the launch begins, and again
  /// when it has ended.
  bool hasCounter = false;
  /// It may begin before the launch before it has ended: it waits by itself.
  bool follows = false;
  /// What it writes depends on sizes and on what the mask reads alone, and no
  /// other launch writes it.
  bool prepares = false;
  int32_t block = 0, sharedBytes = 0, registers = 0, spillBytes = 0;
};

/// One launch of a plan.
struct PlannedLaunch : GridLaunch {
  std::vector<LaunchArgument> args;
  std::vector<PlannedFactor> grid;
};

/// Several launches, one after another.
struct LaunchPlan {
  /// The parts that the keys can be split into, 0 where they are not, and the
  /// keys of the smallest part that is worth one.
  int32_t maxSplits = 0;
  int64_t splitKeys = 1;
  std::vector<Workspace> workspaces;
  std::vector<PlannedLaunch> launches; ///< empty: the kernel is one launch
};

/// A kernel of several launches is, as a launch, the first of them. A program
/// is a kernel that is no attention: all its params are extras, and what is
/// about attention is not set.
struct Kernel : GridLaunch {
  std::string name, file, archText, pass, variant, pipeline, hash, ptxas,
      schedule;
  Format format = Format::Cubin;
  /// Of the file, where the manifest has it.
  std::optional<uint32_t> crc32;
  Architecture arch;
  fa_dtype dtype = FA_BF16;
  int64_t headDim = 0, headDimV = 0;
  bool gqa = false;
  /// Whether q, k, v, o and lse come without the batch dimension.
  bool isPacked = false;
  std::vector<Param> params;
  std::vector<GridFactor> grid;

  /// The most rows of a head that the kernel is meant for; 0: any number.
  int64_t maxRows = 0;
  /// Neither mask nor score depend on head or row: heads of q that share one of
  /// k and v may be passed as rows of one head.
  bool packsHeads = false;
  LaunchPlan plan;

  bool isProgram() const { return pass.empty(); }

  bool runsOn(ComputeCapability device) const {
    return format == Format::Cubin ? arch.cubinRunsOn(device)
                                   : arch.ptxRunsOn(device);
  }
};

/// Whether `a` is preferred for seq_q rows and so many heads that share one of
/// k and v, where both fit: one that is meant for so few, then the higher
/// architecture, then a cubin before PTX.
bool isPreferred(const Kernel &a, const Kernel &b, int64_t seqQ, int64_t group);

/// "bf16"; "none" for values outside the enumeration.
const char *dtypeName(fa_dtype dtype);

/// Bytes per element.
int64_t dtypeBytes(fa_dtype dtype);

/// "cubin" or "ptx".
const char *formatName(Format format);

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_KERNEL_H
