/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of OpenCL in a process of Linux: variables of its environment say what stands for them, and whether they are
 * kept as files, for `fabricvp cc`. */
#define _GNU_SOURCE
#include "runtime/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* source_images(void) {
    const char* names = getenv("FABRICVP_OPENCL_KERNELS");
    return names && *names ? names : NULL;
}

/* Macros that options define, as lines. */
static void write_macros(FILE* file, const char* options) {
    char *copy = strdup(options), *rest = NULL;
    for (char* word = copy ? strtok_r(copy, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest)) {
        if (strncmp(word, "-D", 2) != 0) continue;
        char* name = word[2] ? word + 2 : strtok_r(NULL, " ", &rest);
        char* value = name ? strchr(name, '=') : NULL;
        if (value) *value++ = 0;
        if (name) fprintf(file, "#define %s %s\n", name, value ? value : "1");
    }
    free(copy);
}

void source_keep(const char* text, const char* options) {
    static unsigned number;
    const char* stem = getenv("FABRICVP_OPENCL_SAVE");
    char name[256];
    if (!stem || !*stem) return;
    snprintf(name, sizeof name, "%s%u.cl", stem, ++number);
    FILE* file = fopen(name, "w");
    if (!file) {
        fprintf(stderr, "FABRICVP_OPENCL_SAVE: %s cannot be written\n", name);
        return;
    }
    if (options && *options) {
        fprintf(file, "// clBuildProgram: %s\n", options);
        write_macros(file, options);
    }
    fprintf(file, "#line 1\n%s", text);
    fclose(file);
}
