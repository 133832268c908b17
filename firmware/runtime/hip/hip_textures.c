/* SPDX-License-Identifier: Apache-2.0 */
/* Texture references: variables of device code that say where their memory is. */
#include "runtime/hip/hip.h"
#include "runtime/include/texture_types.h"

/* As variables: the image knows their size. */
void __hipRegisterTexture(void** binary, void* host, char* device_name, const char* name, int dimensions,
                          int normalized, int external) {
    (void)dimensions, (void)normalized;
    __hipRegisterVar(binary, host, device_name, name, external, sizeof(textureReference), 0, 0);
}

hipError_t hipBindTexture(size_t* offset, const textureReference* texture, const void* memory,
                          const hipChannelFormatDesc* format, size_t bytes) {
    if (!texture || !memory || !bytes) return hip_result(hipErrorInvalidValue);
    textureReference bound = *texture;
    if (format) bound.channelDesc = *format;
    bound.memory = memory;
    bound.bytes = bytes;
    if (offset) *offset = 0; /* any address will do */
    return hipMemcpyToSymbol(texture, &bound, sizeof bound, 0, hipMemcpyHostToDevice);
}

hipError_t hipUnbindTexture(const textureReference* texture) {
    if (!texture) return hip_result(hipErrorInvalidValue);
    const textureReference unbound = *texture;
    return hipMemcpyToSymbol(texture, &unbound, sizeof unbound, 0, hipMemcpyHostToDevice);
}

hipError_t hipGetTextureAlignmentOffset(size_t* offset, const textureReference* texture) {
    if (!offset || !texture) return hip_result(hipErrorInvalidValue);
    *offset = 0;
    return hipSuccess;
}
