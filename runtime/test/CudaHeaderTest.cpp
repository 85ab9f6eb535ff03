//===- CudaHeaderTest.cpp - Our declarations against cuda.h ---------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built where a CUDA toolkit is installed: what the runtime declares by itself
// must be what cuda.h declares, up to the names of enumerations.
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "TensorMap.h"
#include "flashloom/fa_runtime.h"

#include <cuda.h>
#include <gtest/gtest.h>
#include <type_traits>

using namespace fa;

static_assert(rt::kCudaSuccess == CUDA_SUCCESS);
static_assert(rt::kCudaErrorNotInitialized == CUDA_ERROR_NOT_INITIALIZED);
static_assert(rt::kCudaErrorNotReady == CUDA_ERROR_NOT_READY);
static_assert(rt::kComputeCapabilityMajor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(rt::kComputeCapabilityMinor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(rt::kMaxDynamicSharedBytes ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(rt::kMultiprocessorCount ==
              CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(rt::kTensorMapFloat16 == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
static_assert(rt::kTensorMapFloat32 == CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
static_assert(rt::kTensorMapBFloat16 == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(rt::kTensorMapInterleaveNone == CU_TENSOR_MAP_INTERLEAVE_NONE);
static_assert(rt::kTensorMapPromotionL2_256 ==
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(rt::kTensorMapOutOfBoundsZero ==
              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
static_assert(rt::kLaunchProgrammaticSerialization ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(sizeof(rt::CuLaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(rt::CuLaunchAttribute, value) ==
              offsetof(CUlaunchAttribute, value));
static_assert(sizeof(rt::CuLaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(rt::CuLaunchConfig, stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(rt::CuLaunchConfig, attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(rt::CuLaunchConfig, numAttributes) ==
              offsetof(CUlaunchConfig, numAttrs));
static_assert(rt::kCaptureModeRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(sizeof(CUresult) == sizeof(rt::CuResult));
static_assert(std::is_same_v<CUcontext, rt::CuContext>);
static_assert(std::is_same_v<CUmodule, rt::CuModule>);
static_assert(std::is_same_v<CUfunction, rt::CuFunction>);
static_assert(std::is_same_v<CUstream, rt::CuStream>);
static_assert(std::is_same_v<CUstream, fa_stream>);
static_assert(std::is_same_v<CUdevice, rt::CuDevice>);
static_assert(std::is_same_v<CUevent, bench::CuEvent>);
static_assert(std::is_same_v<CUdeviceptr, bench::CuAddress>);

namespace {

/// Enumerations, and pointers to them, count as int.
template <typename T> struct Plain {
  using Type = std::conditional_t<std::is_enum_v<T>, int, T>;
};
template <typename T> struct Plain<T *> {
  using Type = std::conditional_t<std::is_enum_v<T>, int, T> *;
};

template <typename Function> struct Signature;
template <typename R, typename... A> struct Signature<R (*)(A...)> {
  using Type = typename Plain<R>::Type (*)(typename Plain<A>::Type...);
};

template <typename Ours, typename Theirs>
constexpr bool same = std::is_same_v<Ours, typename Signature<Theirs>::Type>;

} // namespace

#define EXPECT_SAME(TABLE, MEMBER, FUNCTION)                                   \
  EXPECT_TRUE((same<decltype(TABLE::MEMBER), decltype(&FUNCTION)>)) << #FUNCTION

TEST(CudaHeader, LaunchListMarks) {
  EXPECT_EQ(rt::kLaunchBufferPointer, CU_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(rt::kLaunchBufferSize, CU_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_EQ(rt::kLaunchEnd, CU_LAUNCH_PARAM_END);
}

TEST(CudaHeader, RuntimeSignatures) {
  EXPECT_SAME(rt::DriverApi, driverGetVersion, cuDriverGetVersion);
  EXPECT_SAME(rt::DriverApi, memsetD32Async, cuMemsetD32Async);
  EXPECT_SAME(rt::DriverApi, ctxGetCurrent, cuCtxGetCurrent);
  EXPECT_SAME(rt::DriverApi, ctxGetDevice, cuCtxGetDevice);
  EXPECT_SAME(rt::DriverApi, ctxPushCurrent, cuCtxPushCurrent);
  EXPECT_SAME(rt::DriverApi, ctxPopCurrent, cuCtxPopCurrent);
  EXPECT_SAME(rt::DriverApi, deviceGetAttribute, cuDeviceGetAttribute);
  EXPECT_SAME(rt::DriverApi, moduleLoadData, cuModuleLoadData);
  EXPECT_SAME(rt::DriverApi, moduleUnload, cuModuleUnload);
  EXPECT_SAME(rt::DriverApi, moduleGetFunction, cuModuleGetFunction);
  EXPECT_SAME(rt::DriverApi, funcSetAttribute, cuFuncSetAttribute);
  EXPECT_SAME(rt::DriverApi, threadExchangeStreamCaptureMode,
              cuThreadExchangeStreamCaptureMode);
  EXPECT_SAME(rt::DriverApi, launchKernel, cuLaunchKernel);
#if CUDA_VERSION >= 12000
  EXPECT_SAME(rt::DriverApi, ctxGetId, cuCtxGetId);
  // The map is a struct there, so that the signatures differ in that.
  EXPECT_TRUE(
      (std::is_invocable_v<decltype(&cuTensorMapEncodeTiled), CUtensorMap *,
                           CUtensorMapDataType, cuuint32_t, void *,
                           const cuuint64_t *, const cuuint64_t *,
                           const cuuint32_t *, const cuuint32_t *,
                           CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill>));
  EXPECT_EQ(sizeof(rt::TensorMap), sizeof(CUtensorMap));
  EXPECT_EQ(alignof(rt::TensorMap), alignof(CUtensorMap));
#endif
#if CUDA_VERSION >= 12040
  EXPECT_SAME(rt::DriverApi, funcGetParamInfo, cuFuncGetParamInfo);
#endif
}

TEST(CudaHeader, BenchSignatures) {
  EXPECT_SAME(bench::DeviceApi, memAlloc, cuMemAlloc);
  EXPECT_SAME(bench::DeviceApi, memFree, cuMemFree);
  EXPECT_SAME(bench::DeviceApi, memcpyHtoD, cuMemcpyHtoD);
  EXPECT_SAME(bench::DeviceApi, memcpyDtoH, cuMemcpyDtoH);
  EXPECT_SAME(bench::DeviceApi, memsetD8, cuMemsetD8);
  EXPECT_SAME(bench::DeviceApi, memsetD32Async, cuMemsetD32Async);
  EXPECT_SAME(bench::DeviceApi, memHostAlloc, cuMemHostAlloc);
  EXPECT_SAME(bench::DeviceApi, memHostGetDevicePointer,
              cuMemHostGetDevicePointer);
  EXPECT_SAME(bench::DeviceApi, memFreeHost, cuMemFreeHost);
  EXPECT_SAME(bench::DeviceApi, primaryCtxRetain, cuDevicePrimaryCtxRetain);
  EXPECT_SAME(bench::DeviceApi, streamCreate, cuStreamCreate);
  EXPECT_SAME(bench::DeviceApi, streamQuery, cuStreamQuery);
  EXPECT_SAME(bench::DeviceApi, eventCreate, cuEventCreate);
  EXPECT_SAME(bench::DeviceApi, eventRecord, cuEventRecord);
  EXPECT_SAME(bench::DeviceApi, eventElapsedTime, cuEventElapsedTime);
  EXPECT_SAME(bench::DeviceApi, eventDestroy, cuEventDestroy);
#if CUDA_VERSION >= 12000
  EXPECT_SAME(bench::DeviceApi, streamWaitValue32, cuStreamWaitValue32);
#endif
}
