# Finds MLIR and sets the compiler's flags as LLVM itself is built: RTTI on (Debian's libraries have it), exceptions off.
if(NOT LLVM_EXTERNAL_LIT)
  # Debian ships lit beside the tools; the package's own default names a program that is not there.
  find_program(FLASHLOOM_LIT NAMES lit llvm-lit HINTS /usr/lib/llvm-22/bin REQUIRED)
  set(LLVM_EXTERNAL_LIT ${FLASHLOOM_LIT} CACHE FILEPATH "The lit test runner")
endif()
if(NOT MLIR_DIR AND EXISTS /usr/lib/llvm-22/lib/cmake/mlir)
  set(MLIR_DIR /usr/lib/llvm-22/lib/cmake/mlir)
endif()
find_package(MLIR REQUIRED CONFIG)
if(LLVM_VERSION_MAJOR AND NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Flashloom builds against LLVM 22, found ${LLVM_PACKAGE_VERSION}")
endif()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
if(NOT DEFINED LLVM_USE_LINKER)
  find_program(FLASHLOOM_LLD NAMES ld.lld)
  if(FLASHLOOM_LLD)
    set(LLVM_USE_LINKER lld)
  endif()
endif()

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
separate_arguments(FLASHLOOM_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${FLASHLOOM_LLVM_DEFINITIONS})
if(FLASHLOOM_ASSERTIONS)
  # Ours, with those in the headers of LLVM and of the C++ library. None of them changes the layout of a type: LLVM's that do
  # hang on LLVM_ENABLE_ABI_BREAKING_CHECKS, which the package's headers settle.
  add_compile_options(-UNDEBUG)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)

# Most of a file's compile time is upstream's headers: 7.4 s of which 4.7 s go with these precompiled.
if(FLASHLOOM_PRECOMPILE)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
  add_library(fa-precompiled STATIC ${PROJECT_BINARY_DIR}/precompiled.cpp)
  llvm_update_compile_flags(fa-precompiled)
  target_precompile_headers(fa-precompiled PRIVATE
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/GPU/IR/GPUDialect.h>
    <mlir/Dialect/MemRef/IR/MemRef.h>
    <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Tensor/IR/Tensor.h>
    <mlir/Dialect/Vector/IR/VectorOps.h>
    <mlir/IR/PatternMatch.h>)
endif()

# add_fa_library(NAME FILE... [NOT_INSTALLED] [DEPENDS TARGET...] [LINK_LIBS LIB...])
# A static library of the compiler, installed unless NOT_INSTALLED. All of them link the one MLIR dylib; mixing in MLIR's component archives would give
# a process two copies of every registry.
function(add_fa_library name)
  cmake_parse_arguments(ARG "NOT_INSTALLED" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  target_compile_features(${name} INTERFACE cxx_std_17)
  add_dependencies(${name} fa-headers ${ARG_DEPENDS})
  if(NOT ARG_NOT_INSTALLED)
    set_property(GLOBAL APPEND PROPERTY FLASHLOOM_LIBRARIES ${name})
  endif()
  if(FLASHLOOM_PRECOMPILE)
    target_precompile_headers(${name} REUSE_FROM fa-precompiled)
  endif()
endfunction()
