/* SPDX-License-Identifier: Apache-2.0 */
/* Texture references of kernels: variables of device code, which the host binds to memory. A fetch is a load by the
 * caches of all loads. */
#ifndef FABRICVP_GPU_HIP_TEXTURES_H
#define FABRICVP_GPU_HIP_TEXTURES_H

#include "runtime/include/texture_types.h"

/* The attribute makes it a variable of device code that the host names, too. */
template <class T, int dimensions = hipTextureType1D, hipTextureReadMode mode = hipReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {};

/* \returns 0 beyond what is bound, as CUDA does */
template <class T>
FABRICVP_DEVICE T tex1Dfetch(const texture<T, hipTextureType1D, hipReadModeElementType>& reference, int element) {
    if ((unsigned)element >= reference.bytes / sizeof(T)) return T{};
    return static_cast<const T*>(reference.memory)[element];
}

#endif
