/*===- fa_runtime.h - C API of the Flashloom runtime ------------*- C -*-===*
 *
 * Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Opens a kernel library (a folder of cubins and a manifest.json, as fa-gen
 * writes it), picks the kernel of a problem, checks every argument and launches
 * it on the caller's stream. Only the CUDA driver is used, and it is loaded at
 * the first call that needs it: opening and listing a library needs no GPU.
 *
 * Threads: every function may be called from any thread at the same time, but
 * fa_library_close must not run beside another call on the same library.
 *
 *===----------------------------------------------------------------------===*/

#ifndef FLASHLOOM_FA_RUNTIME_H
#define FLASHLOOM_FA_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

/** The version of this header, and the project's. Within a major version, which
 * is the library's soname, a later library runs programs that were built with
 * an earlier header. */
#define FA_VERSION_MAJOR 0
#define FA_VERSION_MINOR 4
#define FA_VERSION_PATCH 0

/** The version as a number to compare: 10000 * major + 100 * minor + patch. */
#define FA_VERSION                                                             \
  (FA_VERSION_MAJOR * 10000 + FA_VERSION_MINOR * 100 + FA_VERSION_PATCH)

#if defined(__GNUC__)
#define FA_API __attribute__((visibility("default")))
#else
#define FA_API
#endif

/* C++ must not assume that an enumeration holds one of its named values. */
#ifdef __cplusplus
#define FA_ENUM(name)                                                          \
  name:                                                                        \
  int
#else
#define FA_ENUM(name) name
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a call returns. On all but FA_SUCCESS fa_last_error has the reason. */
typedef enum FA_ENUM(fa_status) {
  FA_SUCCESS = 0,
  /** An argument breaks a rule; the text names it, the rule and the value. */
  FA_INVALID_ARGUMENT = 1,
  /** The manifest or a kernel file is missing or malformed. */
  FA_INVALID_LIBRARY = 2,
  /** The library has no kernel for this problem or for this device. */
  FA_NO_KERNEL = 3,
  /** The CUDA driver cannot be loaded, or no CUDA context is current. */
  FA_NO_DRIVER = 4,
  /** A call of the CUDA driver failed. */
  FA_DRIVER_ERROR = 5,
  /** Host memory is exhausted. */
  FA_OUT_OF_MEMORY = 6,
  /** A fault of the runtime itself. */
  FA_INTERNAL_ERROR = 7,
  /** A tensor is not such as fa_dlpack_call says. Since version 0.4. */
  FA_OTHER_TENSORS = 8
} fa_status;

/** Element types. 0 is none of them, so that a zeroed tensor is refused. FA_I32
 * is for extra arguments only. */
typedef enum FA_ENUM(fa_dtype) {
  FA_BF16 = 1,
  FA_F16 = 2,
  FA_F32 = 3,
  FA_I32 = 4
} fa_dtype;

/** An open kernel library. */
typedef struct fa_library fa_library;

/** A stream: a CUstream or cudaStream_t can be passed as it is. */
typedef struct CUstream_st *fa_stream;

/** A view of device memory: element (i0, i1, ...) lies at
 * data + sizeof(element) * (i0 * strides[0] + i1 * strides[1] + ...). */
typedef struct fa_tensor {
  /** Device address of element (0, 0, ...); may be NULL without elements. */
  void *data;
  fa_dtype dtype;
  int32_t rank;
  /** Elements along each dimension; entries at and after rank are ignored. */
  int64_t sizes[4];
  /** Strides in elements, none negative. */
  int64_t strides[4];
} fa_tensor;

/** What an extra argument is. */
typedef enum FA_ENUM(fa_extra_kind) {
  FA_EXTRA_TENSOR = 1,
  FA_EXTRA_SCALAR = 2
} fa_extra_kind;

/** An argument that a variant's score or mask reads: a bias, document ids. The
 * manifest says which ones a kernel takes. */
typedef struct fa_extra {
  /** As in the manifest. */
  const char *name;
  fa_extra_kind kind;
  /** Of FA_EXTRA_TENSOR, else ignored. Address a multiple of the element's
   * size, last stride 1; a stride of 0 along another dimension repeats what
   * is there. Memory that nobody writes while the kernel runs. Numbers in it
   * that the score or mask uses as positions are not checked. */
  fa_tensor tensor;
  /** Of FA_EXTRA_SCALAR, else ignored: FA_F32 or FA_I32 (also for a scalar that
   * the manifest calls index), and its value. */
  fa_dtype dtype;
  float f32;
  int32_t i32;
} fa_extra;

/** Bits of fa_forward_params::flags. Since version 0.4. */
typedef enum FA_ENUM(fa_forward_flag) {
  /** The workspace still holds the lists of blocks that an earlier call made of
   * its mask, so that the launches which only make them are left out. That call
   * was with this library and device, the same workspace, sizes, strides and
   * splits, and the same values of what the mask reads; since then nothing but
   * calls with this flag wrote the workspace. None of that is checked: other
   * lists are wrong results, or reads outside of k and v. Kernels without
   * lists ignore it. */
  FA_REUSE_LISTS = 1
} fa_forward_flag;

/** The arguments of one forward pass: o = softmax(mask(scale * q k^T)) v. */
typedef struct fa_forward_params {
  /** sizeof(fa_forward_params): lets later versions add fields. That of a
   * version without the last fields is accepted: they are 0 then. */
  size_t struct_size;
  /** [batch, heads, seq_q, head_dim]. Packed sequences are a batch of 1 with
   * the rows of all, and the extras cu_seqlens_q and cu_seqlens_kv say where
   * each begins (i32, one entry more than sequences); caches have the extra
   * kv_lens (i32, [batch]): how many of their keys count. Such numbers are
   * read by the kernel and not checked: they must lie in k and v.
   * q, k, v and o have one dtype. The address
   * of q, k and v is a multiple of 16 bytes; their last stride is 1 and their
   * other strides are multiples of 16 bytes (8 elements of bf16), except along
   * a dimension of size 1, where the stride does not matter. A stride of 0
   * repeats one row, head or batch. */
  fa_tensor q;
  /** [batch, kv_heads, seq_kv, head_dim]. heads is kv_heads, or a multiple of
   * it where the kernel has gqa. */
  fa_tensor k;
  /** [batch, kv_heads, seq_kv, head_dim_v]. */
  fa_tensor v;
  /** Output, [batch, heads, seq_q, head_dim_v]. Address a multiple of 16 bytes,
   * last stride 1, other strides multiples of 16 bytes and not 0. A row that
   * sees no key becomes 0. */
  fa_tensor o;
  /** Output, [batch, heads, seq_q], f32: log(sum(exp(score))), the natural
   * logarithm; -inf for a row that sees no key. Last stride 1. */
  fa_tensor lse;
  /** Factor of q k^T: finite and not negative, since kernels fold it into the
   * exponent (a negative factor belongs on q). Usually 1/sqrt(head_dim). */
  float scale;
  /** The mask or score of the problem, as the manifest names it: "full",
   * "causal" (bottom-right: row i sees key j where i + seq_kv - seq_q >= j).
   * NULL means "full". Not read after the call. */
  const char *variant;
  /** What the variant reads beside q, k and v: exactly the kernel's extra
   * arguments, in any order. Since version 0.2; not read after the call. */
  const fa_extra *extras;
  size_t num_extras;
  /** Device memory for what a kernel of several launches leaves from one to the
   * next, and for what its blocks tell each other, at least as many bytes as
   * fa_forward_workspace says; address a multiple of 16. May be NULL where that
   * is 0. Its contents have no meaning before and after, but for
   * FA_REUSE_LISTS, and nobody else may use it until the launches are done.
   * Since version 0.3. */
  void *workspace;
  size_t workspace_bytes;
  /** The parts that the keys are split into, where the kernel splits them: 0 is
   * the runtime's choice, as many as fill the device. Since version 0.3. */
  int32_t splits;
  /** Any of fa_forward_flag, or 0. Since version 0.4. */
  uint64_t flags;
} fa_forward_params;

/** What the manifest says about a kernel. Strings live as long as the library.
 */
typedef struct fa_kernel_info {
  /** sizeof(fa_kernel_info), set by the caller. */
  size_t struct_size;
  const char *name;
  /** File inside the library's folder, "cubin" or "ptx" by format. */
  const char *file;
  const char *format;
  /** "sm_80", "sm_90a", ... */
  const char *arch;
  /** "fwd". */
  const char *pass;
  const char *variant;
  /** The pass pipeline that made the kernel: "fa2", ... */
  const char *pipeline;
  /** The schedule as text. */
  const char *schedule;
  /** Hash of the source IR, in hex. */
  const char *hash;
  /** Version of ptxas; "" for PTX. */
  const char *ptxas;
  fa_dtype dtype;
  /** 1 where heads may be a multiple of kv_heads, else 0. */
  int32_t gqa;
  int64_t head_dim;
  int64_t head_dim_v;
  /** Threads per block. */
  int32_t block;
  /** Dynamic shared memory per block, bytes. */
  int32_t shared_bytes;
  /** Registers per thread; 0 for PTX. */
  int32_t registers;
  /** Bytes per thread that ptxas spilled; 0 for PTX. */
  int32_t spill_bytes;
} fa_kernel_info;

/** FA_VERSION of the library that the program runs with, which may be another
 * than that of the header it was built with. Since version 0.4. */
FA_API int32_t fa_version(void);

/** The reason of the last failed call on this thread, one line; "" before any.
 * Valid until the next failing call on this thread. */
FA_API const char *fa_last_error(void);

/** The name of a status ("FA_NO_KERNEL"); "unknown status" for other values. */
FA_API const char *fa_status_name(fa_status status);

/** Opens the library in a folder: reads and checks directory/manifest.json and
 * that each kernel's file is there. No kernel is loaded and no GPU is needed.
 * On failure *library is NULL. */
FA_API fa_status fa_library_open(const char *directory, fa_library **library);

/** Unloads the library's kernels and frees it. Kernels still running must have
 * finished, and CUDA contexts in which it launched must still exist. NULL is
 * allowed. */
FA_API void fa_library_close(fa_library *library);

/** The number of kernels; 0 for NULL. */
FA_API size_t fa_library_kernel_count(const fa_library *library);

/** Fills *info (whose struct_size is set) for a kernel, 0 <= index < count. */
FA_API fa_status fa_library_kernel_info(const fa_library *library, size_t index,
                                        fa_kernel_info *info);

/** Sets *fits to 1 where the kernel runs on the current context's device, else
 * to 0. */
FA_API fa_status fa_kernel_fits(const fa_library *library, size_t index,
                                int32_t *fits);

/** Loads a kernel into the current context. Launches load on demand; this call
 * moves that time (a PTX file is compiled by the driver) out of the first one.
 */
FA_API fa_status fa_kernel_load(fa_library *library, size_t index);

/** Sets *index to the kernel that fa_forward launches for these arguments on
 * the current context's device: of those with the problem's dtype, head
 * dimensions and variant that run on the device, one that is meant for as few
 * rows (seq_q * heads / kv_heads) as there are, then the one for the highest
 * architecture, then a cubin before PTX, then the first in the manifest. */
FA_API fa_status fa_forward_pick(const fa_library *library,
                                 const fa_forward_params *params,
                                 size_t *index);

/** Sets *bytes to the workspace that fa_forward needs for these arguments on
 * the current context's device, 0 for most kernels. It depends on the sizes and
 * on splits; the tensors' addresses and the workspace itself are not used.
 * Loads the kernel where the number of parts is the runtime's choice. */
FA_API fa_status fa_forward_workspace(fa_library *library,
                                      const fa_forward_params *params,
                                      size_t *bytes);

/** As fa_forward_workspace, for a given kernel, which must fit the arguments.
 */
FA_API fa_status fa_kernel_workspace(fa_library *library, size_t index,
                                     const fa_forward_params *params,
                                     size_t *bytes);

/** Picks a kernel (fa_forward_pick) and launches it on a stream of the current
 * context (NULL: the default stream). Never synchronizes; can be captured into
 * a graph. Without rows (batch, heads or seq_q 0) it succeeds without a launch;
 * with seq_kv 0 the kernel writes o = 0 and lse = -inf. */
FA_API fa_status fa_forward(fa_library *library,
                            const fa_forward_params *params, fa_stream stream);

/** As fa_forward, with a given kernel, which must fit the arguments. */
FA_API fa_status fa_kernel_launch(fa_library *library, size_t index,
                                  const fa_forward_params *params,
                                  fa_stream stream);

/** Launches a program, a kernel that is no attention: the one of this name, or
 * of those whose entry has this name the one for the highest architecture that
 * runs on the current context's device. The arguments are those that the
 * manifest lists, outputs among them, in any order, each as fa_extra says;
 * addresses and strides of matrices are multiples of 16 bytes. Their sizes must
 * be those of the manifest. Where an output has no elements nothing is
 * launched. Never synchronizes. Since version 0.4. */
FA_API fa_status fa_program_launch(fa_library *library, const char *name,
                                   const fa_extra *arguments,
                                   size_t num_arguments, fa_stream stream);

/** Reads a tensor that a framework's object stands for into a DLTensor without
 * taking a share in its memory: dltensor_from_py_object_no_sync of the object's
 * type's DLPackExchangeAPI (DLPack 1.2, the attribute
 * __dlpack_c_exchange_api__). Returns 0, or -1 with Python's error set. */
typedef int (*fa_dlpack_reader)(void *object, void *dltensor);

/** fa_forward again and again with other tensors of a framework in Python.
 * Since version 0.4. */
typedef struct fa_dlpack_call {
  fa_dlpack_reader read;
  /** PyEval_SaveThread and PyEval_RestoreThread: the launch waits where the
   * stream's queue is full, and other threads of Python must go on then. */
  void *(*unlock)(void);
  void (*lock)(void *thread);
  /** The objects of q, k, v and o. */
  void *objects[4];
  /** The CUDA device that they must lie on; -1: the host's memory. */
  int32_t device;
  /** Of q, k, v and o the dtype, rank, sizes and strides that the object must
   * have (the stride of a dimension of size 1 may differ); data is ignored.
   * Dimensions are in the object's order, not params's. */
  fa_tensor like[4];
  /** fa_forward's arguments. The addresses of q, k, v and o in params are
   * written by the call. */
  fa_library *library;
  fa_forward_params *params;
  fa_stream stream;
} fa_dlpack_call;

/** fa_forward on the objects' memory, where they are such as the call says;
 * else FA_OTHER_TENSORS, nothing is launched, and params stay as they are.
 * Where `read` fails FA_INVALID_ARGUMENT, with Python's error set. The caller
 * holds Python's lock. Since version 0.4. */
FA_API fa_status fa_dlpack_forward(const fa_dlpack_call *call);

#ifdef __cplusplus
}
#endif

#endif /* FLASHLOOM_FA_RUNTIME_H */
