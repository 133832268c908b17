/* SPDX-License-Identifier: Apache-2.0 */
/* Files with kernels, by the names that programs give. */
#ifndef FABRICVP_RUNTIME_IMAGE_FILES_H
#define FABRICVP_RUNTIME_IMAGE_FILES_H

#include "lib/libc.h"

/* The contents of a file, for image_file_close(). On bare metal "path/vector_add.co" is the image "vector_add" that was
 * linked in. \returns NULL if there is no such file */
const void* image_file_open(const char* name, uint64_t* bytes);
void image_file_close(const void* contents, uint64_t bytes);

#endif
