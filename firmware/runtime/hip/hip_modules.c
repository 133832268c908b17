/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/heap.h"
#include "runtime/hip/hip.h"
#include "runtime/image_files.h"

const char hip_module_kind[] = "hipModule_t", hip_function_kind[] = "hipFunction_t";

static hipError_t load(hipModule_t* module, const void* elf, uint64_t bytes) {
    struct compute_device* d = hip_device();
    if (!d) return hip_result(hipErrorNoDevice);
    struct program_record* record = compute_record(elf, bytes);
    if (!record) return hip_result(hipErrorInvalidImage);
    heap_free(record);
    struct ihipModule_t* m = handle_create(hip_module_kind, sizeof *m);
    if (m && !(m->program = compute_load(d, elf, bytes))) {
        handle_destroy(m);
        m = NULL;
    }
    if (!m) return hip_result(hipErrorOutOfMemory);
    *module = m;
    return hipSuccess;
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
    if (!module || !image) return hip_result(hipErrorInvalidValue);
    const uint64_t bytes = compute_elf_bytes(image);
    return bytes ? load(module, image, bytes) : hip_result(hipErrorInvalidImage);
}

hipError_t hipModuleLoad(hipModule_t* module, const char* file) {
    uint64_t bytes;
    if (!module || !file) return hip_result(hipErrorInvalidValue);
    const void* elf = image_file_open(file, &bytes);
    if (!elf) return hip_result(hipErrorFileNotFound);
    const hipError_t error = load(module, elf, bytes);
    image_file_close(elf, bytes);
    return error;
}

hipError_t hipModuleUnload(hipModule_t module) {
    if (!handle_is(module, hip_module_kind)) return hip_result(hipErrorInvalidHandle);
    compute_unload(module->program);
    handle_destroy(module);
    return hipSuccess;
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
    if (!function || !name) return hip_result(hipErrorInvalidValue);
    if (!handle_is(module, hip_module_kind)) return hip_result(hipErrorInvalidHandle);
    *function = (hipFunction_t)compute_find_kernel(module->program, name, hip_function_kind);
    return *function ? hipSuccess : hip_result(hipErrorNotFound);
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* memory, size_t* bytes, hipModule_t module, const char* name) {
    if (!name) return hip_result(hipErrorInvalidValue);
    if (!handle_is(module, hip_module_kind)) return hip_result(hipErrorInvalidHandle);
    uint64_t size;
    const gpu_address at = compute_find_variable(module->program, name, &size);
    if (!at) return hip_result(hipErrorNotFound);
    if (memory) *memory = (hipDeviceptr_t)at;
    if (bytes) *bytes = size;
    return hipSuccess;
}

/* ---- launches ---- */

/* The block that `extra` names, packed as the kernel has it. */
static bool packed(const struct program_kernel* info, void** extra, uint8_t* block) {
    const void* from = NULL;
    const size_t* bytes = NULL;
    for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
            from = extra[1];
        else if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = extra[1];
        else
            return false;
    }
    if (!from || !bytes || *bytes > info->argument_bytes) return false;
    memcpy(block, from, *bytes);
    return true;
}

static bool fill_arguments(const struct compute_kernel* k, void** parameters, void** extra, uint8_t* block) {
    memset(block, 0, k->info->argument_bytes);
    if (extra) return !parameters && packed(k->info, extra, block);
    if (!parameters) return k->info->parameter_count == 0;
    for (uint32_t i = 0; i < k->info->parameter_count; ++i) {
        if (!parameters[i]) return false;
        memcpy(block + k->parameters[i].offset, parameters[i], k->parameters[i].size);
    }
    return true;
}

static hipError_t check_launch(const struct compute_kernel* k, dim3 blocks, dim3 threads, unsigned shared_bytes,
                               bool cooperative, void** parameters, void** extra, struct compute_grid* grid,
                               const uint8_t** arguments) {
    static uint8_t block[GPU_LARGE_KERNARG_BYTES];
    *grid = (struct compute_grid){
        .items = {(uint64_t)blocks.x * threads.x, (uint64_t)blocks.y * threads.y, (uint64_t)blocks.z * threads.z},
        .group = {threads.x, threads.y, threads.z},
        .local_bytes = shared_bytes,
        .cooperative = cooperative};
    switch (compute_check(k, grid)) {
        case COMPUTE_FITS: break;
        case COMPUTE_LOCAL_LARGE: return hip_result(hipErrorLaunchOutOfResources);
        case COMPUTE_COOPERATIVE_LARGE: return hip_result(hipErrorCooperativeLaunchTooLarge);
        default: return hip_result(hipErrorInvalidConfiguration);
    }
    *arguments = block;
    return fill_arguments(k, parameters, extra, block) ? hipSuccess : hip_result(hipErrorInvalidValue);
}

hipError_t hip_check_launch(const struct compute_kernel* k, dim3 blocks, dim3 threads, unsigned shared_bytes,
                            void** parameters, void** extra, struct compute_grid* grid, const uint8_t** arguments) {
    return check_launch(k, blocks, threads, shared_bytes, false, parameters, extra, grid, arguments);
}

hipError_t hip_launch(const struct compute_kernel* k, const struct compute_grid* grid, const void* arguments,
                      hipStream_t handle) {
    struct compute_stream* s;
    struct hip_order order;
    if (!hip_stream(handle, &s)) return hip_no_stream(handle);
    if (s->device != k->program->device) return hip_result(hipErrorInvalidContext);
    if (hip_capturing(handle)) return hip_capture_kernel(hip_capturing(handle), k, grid, arguments);
    if (!hip_begin(&order, handle, s)) return hip_result(hipErrorOutOfMemory);
    return hip_added(&order, compute_launch(s, k, grid, arguments, order.after), NULL);
}

static hipError_t launch(hipFunction_t function, dim3 blocks, dim3 threads, unsigned shared_bytes, bool cooperative,
                         hipStream_t stream, void** parameters, void** extra) {
    struct compute_grid grid;
    struct compute_stream* s;
    const uint8_t* arguments;
    if (!handle_is(function, hip_function_kind)) return hip_result(hipErrorInvalidHandle);
    const struct compute_kernel* k = &function->kernel;
    if (!hip_stream(stream, &s)) return hip_no_stream(stream);
    if (s->device != k->program->device) return hip_result(hipErrorInvalidContext);
    const hipError_t error =
        check_launch(k, blocks, threads, shared_bytes, cooperative, parameters, extra, &grid, &arguments);
    return error ? error : hip_launch(k, &grid, arguments, stream);
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                 unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                 unsigned int shared_bytes, hipStream_t stream, void** parameters, void** extra) {
    const dim3 blocks = {grid_x, grid_y, grid_z}, threads = {block_x, block_y, block_z};
    return launch(function, blocks, threads, shared_bytes, false, stream, parameters, extra);
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                            unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int shared_bytes, hipStream_t stream,
                                            void** parameters) {
    const dim3 blocks = {grid_x, grid_y, grid_z}, threads = {block_x, block_y, block_z};
    return launch(function, blocks, threads, shared_bytes, true, stream, parameters, NULL);
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function, int block_size,
                                                              size_t shared_bytes) {
    if (!blocks || block_size < 1 || block_size > GPU_MAX_WORKGROUP_ITEMS) return hip_result(hipErrorInvalidValue);
    if (!handle_is(function, hip_function_kind)) return hip_result(hipErrorInvalidHandle);
    *blocks = (int)compute_resident_groups(&function->kernel, (uint64_t)block_size, shared_bytes);
    return hipSuccess;
}
