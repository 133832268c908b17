/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/image_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

const void* image_file_open(const char* name, uint64_t* bytes) {
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    const off_t end = lseek(file, 0, SEEK_END);
    const void* contents = end > 0 ? mmap(NULL, (size_t)end, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    *bytes = (uint64_t)end;
    return contents == MAP_FAILED ? NULL : contents;
}

void image_file_close(const void* contents, uint64_t bytes) { munmap((void*)contents, bytes); }
