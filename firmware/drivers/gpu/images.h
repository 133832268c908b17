/* SPDX-License-Identifier: Apache-2.0 */
/* Files that were linked into this program (IMAGES of fabricvp_firmware). */
#ifndef FABRICVP_DRIVERS_GPU_IMAGES_H
#define FABRICVP_DRIVERS_GPU_IMAGES_H

#include "lib/libc.h"

struct image {
    const char* name;
    const void* start;
    uint64_t bytes;
};

/* Ends with a null name. */
extern const struct image images[];

static inline const struct image* find_image(const char* name) {
    for (const struct image* i = images; i->name; ++i)
        if (strcmp(i->name, name) == 0) return i;
    return NULL;
}

#endif
