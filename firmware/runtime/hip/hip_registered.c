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

struct registered {
    const void* image;
    hipModule_t modules[MAX_GPUS]; /* of each device, once one of its kernels was wanted there */
    struct registered* next;
};
struct registered_kernel {
    const void* host; /* by which programs name it */
    struct registered* binary;
    const char* name; /* of the compiler */
    hipFunction_t functions[MAX_GPUS];
    struct registered_kernel* next;
};
static struct registered* binaries;
static struct registered_kernel* kernels;

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
    *r = (struct registered){.image = fat->image, .next = binaries};
    binaries = r;
    return (void**)r;
}

void __hipRegisterFunction(void** binary, const void* host, char* device_name, const char* name, unsigned int threads,
                           void* thread, void* block, dim3* block_size, dim3* grid_size, int* warp_size) {
    (void)device_name, (void)threads, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    struct registered_kernel* k = heap_allocate(sizeof *k);
    if (!k) panic("no memory to register kernel '%s'", name);
    *k = (struct registered_kernel){.host = host, .binary = (struct registered*)binary, .name = name, .next = kernels};
    kernels = k;
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

/* The function of a registered kernel on the current device, loaded when it is first wanted. */
static hipError_t function_of(const void* host, hipFunction_t* function) {
    struct registered_kernel* k = kernels;
    while (k && k->host != host) k = k->next;
    if (!k) return hip_result(hipErrorInvalidDeviceFunction);
    const struct compute_device* d = hip_device();
    if (!d) return hip_result(hipErrorNoDevice);
    hipModule_t* module = &k->binary->modules[d->index];
    hipError_t error = *module ? hipSuccess : hipModuleLoadData(module, k->binary->image);
    if (!error && !k->functions[d->index]) error = hipModuleGetFunction(&k->functions[d->index], *module, k->name);
    *function = k->functions[d->index];
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
