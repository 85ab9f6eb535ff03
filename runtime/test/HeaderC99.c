/*===- HeaderC99.c - The header is plain C --------------------------------===*
 *
 * Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#include "flashloom/fa_runtime.h"

/* Called by the tests, so that C and C++ agree on the structs' layout. */
size_t fa_test_c_sizes(size_t *params, size_t *info);

size_t fa_test_c_sizes(size_t *params, size_t *info) {
  *params = sizeof(fa_forward_params);
  *info = sizeof(fa_kernel_info);
  return sizeof(fa_tensor);
}
