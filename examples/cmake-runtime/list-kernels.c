/*===- list-kernels.c - What a kernel library holds -----------------------===*
 *
 * Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 *   list-kernels FOLDER
 *
 * Prints a line for each kernel of a folder that fa-gen wrote. It needs no GPU:
 * the CUDA driver is loaded with the first launch.
 *
 *===----------------------------------------------------------------------===*/

#include <flashloom/fa_runtime.h>

#include <stdio.h>

static int fail(void) {
  fprintf(stderr, "list-kernels: %s\n", fa_last_error());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: list-kernels FOLDER\n");
    return 2;
  }
  fa_library *library = NULL;
  if (fa_library_open(argv[1], &library))
    return fail();
  size_t count = fa_library_kernel_count(library);
  printf("flashloom %d.%d: %zu kernels\n", (int)(fa_version() / 10000),
         (int)(fa_version() / 100 % 100), count);
  int status = 0;
  for (size_t i = 0; i != count && status == 0; ++i) {
    fa_kernel_info info = {.struct_size = sizeof(info)};
    if (fa_library_kernel_info(library, i, &info))
      status = fail();
    else
      printf("%s: %s, %s, head_dim %d\n", info.name, info.arch, info.variant,
             (int)info.head_dim);
  }
  fa_library_close(library);
  return status;
}
