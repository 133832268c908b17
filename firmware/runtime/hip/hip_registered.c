/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in one source: what the host half of a compiler registers before main(), and how it launches. */
#include "lib/heap.h"
#include "lib/machine.h"
#include "runtime/hip/hip.h"

/* As clang makes it: a mark, a version, and where the image is. */
struct fat_binary {
    uint32_t magic, version;
    const void* image;
    void* unused;
};
enum { FAT_BINARY_MAGIC = 0x48495046 };

/* What a file has in place of an image where device code is linked, and behind it the name of its unit
 * (python/fabricvp/compiler/device_link.py). */
#define UNIT_MARK "FabricVP unit"

struct image_modules {
    const void* image;
    hipModule_t modules[MAX_GPUS]; /* of each device, once one of its kernels was wanted there */
};
struct registered {
    struct image_modules own, *all; /* `all` is `own`, or that of all files */
    const char* unit;               /* its static names end with this; NULL: they have no such end */
};
struct registered_kernel {
    const void* host; /* by which programs name it */
    struct registered* binary;
    const char *name, *static_name; /* of the compiler; NULL: there is no other one */
    hipFunction_t functions[MAX_GPUS];
    struct registered_kernel* next;
};
struct registered_variable {
    const void* host;
    struct registered* binary;
    const char *name, *static_name;
    struct registered_variable* next;
};
/* Of both sides: a pointer of the host half, and one in the image that has its name, lead to it. */
struct managed_variable {
    void** pointer;
    struct registered* binary;
    const char *name, *static_name;
    size_t bytes;
    struct managed_variable* next;
};
static struct image_modules linked;
static struct managed_variable* managed_variables;
static struct registered_kernel* kernels;
static struct registered_variable* variables;

struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    hipStream_t stream;
};
/* Launches whose arguments contain launches lie above each other. */
enum { MAX_NESTED = 16 };
static struct configuration configurations[MAX_NESTED];
static unsigned nested;

void** __hipRegisterFatBinary(const void* data) {
    const struct fat_binary* fat = data;
    struct registered* r = fat->magic == FAT_BINARY_MAGIC ? heap_allocate(sizeof *r) : NULL;
    if (!r) panic("a fat binary cannot be registered: it is malformed, or there is no memory");
    *r = (struct registered){.own = {.image = fat->image}};
    const bool unit = memcmp(fat->image, UNIT_MARK, sizeof UNIT_MARK) == 0;
    if (unit) r->unit = (const char*)fat->image + sizeof UNIT_MARK;
    r->all = unit ? &linked : &r->own;
    return (void**)r;
}

void __hipRegisterLinkedImage(const void* image) { linked.image = image; }

/* "NAME.UNIT", NULL where a file is no unit. */
static const char* static_name(const struct registered* binary, const char* name) {
    if (!binary->unit) return NULL;
    const size_t bytes = strlen(name), more = strlen(binary->unit) + 1;
    char* text = heap_allocate(bytes + 1 + more);
    if (!text) panic("no memory to register '%s'", name);
    memcpy(text, name, bytes);
    text[bytes] = '.';
    memcpy(text + bytes + 1, binary->unit, more);
    return text;
}

void __hipRegisterFunction(void** binary, const void* host, char* device_name, const char* name, unsigned int threads,
                           void* thread, void* block, dim3* block_size, dim3* grid_size, int* warp_size) {
    (void)device_name, (void)threads, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    struct registered_kernel* k = heap_allocate(sizeof *k);
    if (!k) panic("no memory to register kernel '%s'", name);
    *k = (struct registered_kernel){.host = host, .binary = (struct registered*)binary, .name = name, .next = kernels};
    k->static_name = static_name(k->binary, name);
    kernels = k;
}

/* Variables that compilers extend over files are none of ours; the size is known to the image. */
void __hipRegisterVar(void** binary, void* host, char* device_name, const char* name, int external, size_t bytes,
                      int constant, int global) {
    (void)device_name, (void)external, (void)bytes, (void)constant, (void)global;
    struct registered_variable* v = heap_allocate(sizeof *v);
    if (!v) panic("no memory to register variable '%s'", name);
    *v = (struct registered_variable){.host = host, .binary = (struct registered*)binary, .name = name};
    v->static_name = static_name(v->binary, name);
    v->next = variables;
    variables = v;
}

/* Without a GPU it is the host's alone. */
void __hipRegisterManagedVar(void** binary, void** pointer, void* first, const char* name, size_t bytes,
                             unsigned int alignment) {
    (void)alignment; /* of a page at most */
    struct managed_variable* v = heap_allocate(sizeof *v);
    if (!v) panic("no memory to register variable '%s'", name);
    *v = (struct managed_variable){pointer, (struct registered*)binary, name, NULL, bytes, managed_variables};
    v->static_name = static_name(v->binary, name);
    managed_variables = v;
    if (!compute_device_count())
        *pointer = first;
    else if (hipMallocManaged(pointer, bytes, hipMemAttachGlobal))
        panic("no memory for the managed variable '%s'", name);
    else
        memcpy(*pointer, first, bytes);
}

/* Tells an image that has been loaded where its managed variables are. */
static hipError_t place_managed(const struct registered* binary, hipModule_t module) {
    for (const struct managed_variable* v = managed_variables; v; v = v->next) {
        uint64_t bytes;
        if (v->binary->all != binary->all) continue;
        gpu_address at = v->static_name ? compute_find_variable(module->program, v->static_name, &bytes) : 0;
        if (!at) at = compute_find_variable(module->program, v->name, &bytes);
        if (at && gpu_copy_to(hip_device()->node, at, v->pointer, sizeof *v->pointer))
            return hip_result(hipErrorUnknown);
    }
    return hipSuccess;
}

/* At exit: devices end with the process. */
void __hipUnregisterFatBinary(void** binary) { (void)binary; }

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
    if (nested == MAX_NESTED) panic("more than %u launches in each other's arguments", MAX_NESTED);
    configurations[nested++] = (struct configuration){grid, block, shared_bytes, stream};
    return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream) {
    if (!nested) return hip_result(hipErrorInvalidConfiguration);
    const struct configuration* c = &configurations[--nested];
    *grid = c->grid;
    *block = c->block;
    *shared_bytes = c->shared_bytes;
    *stream = c->stream;
    return hipSuccess;
}

/* The module of a binary on the current device, loaded when it is first wanted. */
static hipError_t module_of(struct registered* binary, hipModule_t* module) {
    const struct compute_device* d = hip_device();
    if (!d) return hip_result(hipErrorNoDevice);
    hipModule_t* own = &binary->all->modules[d->index];
    hipError_t error = hipSuccess;
    if (!*own) {
        error = hipModuleLoadData(own, binary->all->image);
        if (!error) error = place_managed(binary, *own);
    }
    *module = *own;
    return error;
}

static hipError_t function_of(const void* host, hipFunction_t* function) {
    struct registered_kernel* k = kernels;
    hipModule_t module = NULL;
    while (k && k->host != host) k = k->next;
    if (!k) return hip_result(hipErrorInvalidDeviceFunction);
    hipError_t error = module_of(k->binary, &module);
    if (error) return error;
    hipFunction_t* own = &k->functions[hip_device()->index];
    if (!*own && k->static_name)
        *own = (hipFunction_t)compute_find_kernel(module->program, k->static_name, hip_function_kind);
    if (!*own) error = hipModuleGetFunction(own, module, k->name);
    *function = *own;
    return error;
}

hipError_t hip_kernel_of(const void* host, const struct compute_kernel** kernel) {
    hipFunction_t function = NULL;
    const hipError_t error = function_of(host, &function);
    if (!error) *kernel = &function->kernel;
    return error;
}

hipError_t hipLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                           hipStream_t stream) {
    hipFunction_t function = NULL;
    if (shared_bytes > UINT32_MAX) return hip_result(hipErrorInvalidConfiguration);
    const hipError_t error = function_of(host, &function);
    if (error) return error;
    return hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared_bytes,
                                 stream, arguments, NULL);
}

hipError_t hipLaunchCooperativeKernel(const void* host, dim3 grid, dim3 block, void** arguments,
                                      unsigned int shared_bytes, hipStream_t stream) {
    hipFunction_t function = NULL;
    const hipError_t error = function_of(host, &function);
    if (error) return error;
    return hipModuleLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes,
                                            stream, arguments);
}

/* ---- variables and constants, by the address of what stands for them on the host ---- */

static hipError_t find(const void* symbol, void** memory, size_t* bytes) {
    const struct registered_variable* v = variables;
    const struct managed_variable* m = managed_variables;
    hipModule_t module = NULL;
    while (m && *m->pointer != symbol) m = m->next;
    if (m) {
        if (memory) *memory = *m->pointer;
        if (bytes) *bytes = m->bytes;
        return hipSuccess;
    }
    while (v && v->host != symbol) v = v->next;
    if (!v) return hip_result(hipErrorInvalidSymbol);
    const hipError_t error = module_of(v->binary, &module);
    if (error) return error;
    uint64_t size;
    const bool is_static = v->static_name && compute_find_variable(module->program, v->static_name, &size);
    return hipModuleGetGlobal(memory, bytes, module, is_static ? v->static_name : v->name);
}

const void* __hipSymbolByName(const char* name, size_t bytes) {
    const struct registered_variable *same = variables, *named = variables;
    while (same && same->host != name) same = same->next;
    if (same || strnlen(name, bytes) == bytes) return name;
    while (named && strcmp(named->name, name) != 0) named = named->next;
    return named ? named->host : name;
}

hipError_t hipGetSymbolAddress(void** memory, const void* symbol) {
    return memory ? find(symbol, memory, NULL) : hip_result(hipErrorInvalidValue);
}

hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol) {
    return bytes ? find(symbol, NULL, bytes) : hip_result(hipErrorInvalidValue);
}

/* `bytes` from `offset` on in the variable. */
static hipError_t part(const void* symbol, size_t bytes, size_t offset, uint8_t** at) {
    void* memory = NULL;
    size_t size = 0;
    const hipError_t error = find(symbol, &memory, &size);
    if (error) return error;
    if (offset > size || bytes > size - offset) return hip_result(hipErrorInvalidValue);
    *at = (uint8_t*)memory + offset;
    return hipSuccess;
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind) {
    uint8_t* at = NULL;
    const hipError_t error = part(symbol, bytes, offset, &at);
    return error ? error : hipMemcpy(at, from, bytes, kind);
}

hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream) {
    uint8_t* at = NULL;
    const hipError_t error = part(symbol, bytes, offset, &at);
    return error ? error : hipMemcpyAsync(at, from, bytes, kind, stream);
}

hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind) {
    uint8_t* at = NULL;
    const hipError_t error = part(symbol, bytes, offset, &at);
    return error ? error : hipMemcpy(to, at, bytes, kind);
}

hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
    uint8_t* at = NULL;
    const hipError_t error = part(symbol, bytes, offset, &at);
    return error ? error : hipMemcpyAsync(to, at, bytes, kind, stream);
}
