/* SPDX-License-Identifier: Apache-2.0 */
/* Programs from their source, where images that were compiled elsewhere stand for it: the one with most of the kernels
 * that the source declares. */
#include "lib/heap.h"
#include "runtime/image_files.h"
#include "runtime/opencl/opencl.h"
#include "runtime/sources.h"

enum { MAX_NAME = 256 };

__attribute__((weak)) const char* source_images(void) { return NULL; }

__attribute__((weak)) void source_keep(const char* text, const char* options) { (void)text, (void)options; }

/* ---- kernels of a source ---- */

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char* after_line(const char* at) {
    while (*at && *at != '\n') at += at[0] == '\\' && at[1] ? 2 : 1;
    return at;
}

static const char* after_comment(const char* at) {
    for (at += 2; *at && (at[0] != '*' || at[1] != '/');) ++at;
    return *at ? at + 2 : at;
}

/* The next word of the source, without comments and lines of the preprocessor. \returns behind it; NULL at the end */
static const char* next_word(const char* at, char word[MAX_NAME]) {
    while (*at && !is_word(*at)) {
        if (*at == '#' || (at[0] == '/' && at[1] == '/'))
            at = after_line(at);
        else if (at[0] == '/' && at[1] == '*')
            at = after_comment(at);
        else
            ++at;
    }
    if (!*at) return NULL;
    size_t length = 0;
    for (; is_word(*at); ++at)
        if (length < MAX_NAME - 1) word[length++] = *at;
    word[length] = 0;
    return at;
}

/* The name of the next kernel. \returns behind it; NULL: there is none */
static const char* next_kernel(const char* at, char name[MAX_NAME]) {
    while ((at = next_word(at, name)) && strcmp(name, "kernel") != 0 && strcmp(name, "__kernel") != 0) {
    }
    while (at && strcmp(name, "void") != 0) at = next_word(at, name); /* attributes may stand before it */
    return at ? next_word(at, name) : NULL;
}

static bool has_kernel(const struct program_record* r, const char* name) {
    const struct program_kernel* info = (const void*)((const uint8_t*)r + r->kernels);
    for (uint32_t i = 0; i < r->kernel_count; ++i)
        if (strcmp(compute_text(r, info[i].name), name) == 0) return true;
    return false;
}

/* How many of a source's kernels an image has; 1 where it declares none by name. 0: the image does not do. */
static unsigned count_kernels(const char* source, const void* image, uint64_t bytes) {
    struct program_record* r = compute_record(image, bytes);
    unsigned declared = 0, found = 0;
    char name[MAX_NAME];
    if (!r) return 0;
    for (const char* at = source; (at = next_kernel(at, name)); ++declared) found += has_kernel(r, name);
    heap_free(r);
    return declared ? found : 1;
}

/* ---- images ---- */

/* The next name of a list. \returns behind it, NULL at the end */
static const char* next_name(const char* at, char name[MAX_NAME]) {
    size_t length = 0;
    if (!*at) return NULL;
    for (; *at && *at != ':'; ++at)
        if (length < MAX_NAME - 1) name[length++] = *at;
    name[length] = 0;
    return *at ? at + 1 : at;
}

/* The name of the image that does best. */
static unsigned choose(const char* source, char best[MAX_NAME]) {
    unsigned most = 0;
    char name[MAX_NAME];
    for (const char* at = source_images(); (at = next_name(at, name));) {
        uint64_t bytes = 0;
        const void* image = image_file_open(name, &bytes);
        const unsigned found = image ? count_kernels(source, image, bytes) : 0;
        if (image) image_file_close(image, bytes);
        if (found <= most) continue;
        most = found;
        memcpy(best, name, strlen(name) + 1);
    }
    return most;
}

cl_int cl_find_image(cl_program p, const char* options) {
    char name[MAX_NAME];
    source_keep(p->source, options);
    if (!source_images()) {
        p->log = "there is no compiler here: fabricvp cc makes binaries (on Linux: FABRICVP_OPENCL_KERNELS)";
        return CL_COMPILER_NOT_AVAILABLE;
    }
    if (!choose(p->source, name)) {
        p->log = "no file of FABRICVP_OPENCL_KERNELS has a kernel of this source";
        return CL_BUILD_PROGRAM_FAILURE;
    }
    uint64_t bytes = 0;
    const void* image = image_file_open(name, &bytes);
    cl_int failure = image ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; !failure && i < p->context->device_count; ++i) failure = cl_take_binary(p, i, image, bytes);
    if (image) image_file_close(image, bytes);
    p->log = "";
    return failure;
}
