//===- DriverApi.h - The CUDA driver, loaded at run time --------*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The few driver functions that a launch needs, as a table of pointers. The
// types are declared here, not taken from cuda.h, so that the runtime builds
// without a CUDA toolkit; a unit test holds them against cuda.h.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHLOOM_RUNTIME_DRIVERAPI_H
#define FLASHLOOM_RUNTIME_DRIVERAPI_H

#include <cstdint>
#include <string>

// The opaque types of cuda.h, under its own names.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;

namespace fa::rt {

using CuResult = int;
using CuDevice = int;
using CuContext = CUctx_st *;
using CuModule = CUmod_st *;
using CuFunction = CUfunc_st *;
using CuStream = CUstream_st *;

/// Values of cuda.h's enumerations.
inline constexpr int kCudaSuccess = 0;
inline constexpr int kCudaErrorNotInitialized = 3;
inline constexpr int kCudaErrorNotReady = 600;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;
inline constexpr int kMaxDynamicSharedBytes = 8;
inline constexpr int kCaptureModeRelaxed = 2;
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kLaunchProgrammaticSerialization = 6;
inline constexpr int kTensorMapFloat16 = 6;
inline constexpr int kTensorMapFloat32 = 7;
inline constexpr int kTensorMapBFloat16 = 9;
inline constexpr int kTensorMapInterleaveNone = 0;
inline constexpr int kTensorMapPromotionL2_256 = 3;
inline constexpr int kTensorMapOutOfBoundsZero = 0;

/// Marks in the list that a launch takes instead of addresses.
inline void *const kLaunchBufferPointer = reinterpret_cast<void *>(1);
inline void *const kLaunchBufferSize = reinterpret_cast<void *>(2);
inline void *const kLaunchEnd = nullptr;

/// cuda.h's CUlaunchAttribute, of those whose value is a number.
struct CuLaunchAttribute {
  int id;
  int padding;
  int value;
  unsigned char rest[60];
};

/// cuda.h's CUlaunchConfig.
struct CuLaunchConfig {
  unsigned grid[3], block[3];
  unsigned sharedBytes;
  CuStream stream;
  CuLaunchAttribute *attributes;
  unsigned numAttributes;
};

/// The driver's functions. Those marked optional are null in old drivers.
struct DriverApi {
  CuResult (*getErrorName)(CuResult, const char **) = nullptr;
  CuResult (*getErrorString)(CuResult, const char **) = nullptr;
  /// Optional: the CUDA release that the driver is for, 1000 * major + 10 *
  /// minor.
  CuResult (*driverGetVersion)(int *) = nullptr;
  CuResult (*ctxGetCurrent)(CuContext *) = nullptr;
  CuResult (*ctxGetDevice)(CuDevice *) = nullptr;
  CuResult (*ctxPushCurrent)(CuContext) = nullptr;
  CuResult (*ctxPopCurrent)(CuContext *) = nullptr;
  /// Optional: a number that no other context of the process ever has; of the
  /// current context for null.
  CuResult (*ctxGetId)(CuContext, unsigned long long *) = nullptr;
  CuResult (*deviceGetAttribute)(int *, int, CuDevice) = nullptr;
  CuResult (*moduleLoadData)(CuModule *, const void *) = nullptr;
  CuResult (*moduleUnload)(CuModule) = nullptr;
  CuResult (*moduleGetFunction)(CuFunction *, CuModule, const char *) = nullptr;
  CuResult (*funcSetAttribute)(CuFunction, int, int) = nullptr;
  /// Optional: where a kernel's parameter lies among all, and its bytes. Fails
  /// behind the last one.
  CuResult (*funcGetParamInfo)(CuFunction, size_t, size_t *,
                               size_t *) = nullptr;
  CuResult (*occupancyMaxActiveBlocksPerMultiprocessor)(int *, CuFunction, int,
                                                        size_t) = nullptr;
  /// Optional: lets a module be loaded while a stream is being captured.
  CuResult (*threadExchangeStreamCaptureMode)(int *) = nullptr;
  /// Parameters are the address of each, or else a list that names a buffer.
  CuResult (*launchKernel)(CuFunction, unsigned, unsigned, unsigned, unsigned,
                           unsigned, unsigned, unsigned, CuStream, void **,
                           void **) = nullptr;
  /// Optional: the same with attributes.
  CuResult (*launchKernelEx)(const CuLaunchConfig *, CuFunction, void **,
                             void **) = nullptr;
  CuResult (*memsetD32Async)(unsigned long long, unsigned, size_t,
                             CuStream) = nullptr;
  /// Optional: writes the 128 bytes of a tensor map. Data type, rank, address,
  /// sizes, strides in bytes, box, steps, then interleaving, swizzle, promotion
  /// and what is read out of bounds.
  CuResult (*tensorMapEncodeTiled)(void *, int, uint32_t, void *,
                                   const uint64_t *, const uint64_t *,
                                   const uint32_t *, const uint32_t *, int, int,
                                   int, int) = nullptr;

  /// Throws Failure(FA_DRIVER_ERROR, "`what` failed: ...") unless `result` is
  /// success.
  void check(CuResult result, const std::string &what) const;

  /// "CUDA_ERROR_...: text", or the number where the driver knows no name.
  std::string describe(CuResult result) const;

  /// The CUDA release that the driver is for, "13.0"; "" where it does not say.
  std::string release() const;
};

/// The address of a symbol of libcuda.so.1; null where the symbol is missing.
/// Throws Failure(FA_NO_DRIVER) where the library cannot be loaded.
void *findDriverSymbol(const char *name);

/// Sets `function` to a symbol of the driver. Throws Failure(FA_NO_DRIVER)
/// where it is missing and not optional.
void requireDriverSymbol(void *address, const char *name);
template <typename Function>
void loadDriverSymbol(Function &function, const char *name,
                      bool optional = false) {
  void *address = findDriverSymbol(name);
  if (!optional)
    requireDriverSymbol(address, name);
  function = reinterpret_cast<Function>(address);
}

/// The process's driver, loaded at the first call, or the override. Throws
/// Failure(FA_NO_DRIVER).
const DriverApi &driver();

/// Makes `driver()` return this table (null: the real driver again); for tests
/// and measurements.
void overrideDriver(const DriverApi *table);

/// A number, at least 1, that is another one after each override: what was
/// asked of one driver does not hold for the next.
unsigned driverGeneration();

} // namespace fa::rt

#endif // FLASHLOOM_RUNTIME_DRIVERAPI_H
