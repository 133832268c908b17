/* SPDX-License-Identifier: Apache-2.0 */
/* Texture references of CUDA and HIP, in one dimension over linear memory, which kernels read by tex1Dfetch(). */
#ifndef FABRICVP_TEXTURE_TYPES_H
#define FABRICVP_TEXTURE_TYPES_H

#include <stddef.h>

typedef enum hipChannelFormatKind {
    hipChannelFormatKindSigned,
    hipChannelFormatKindUnsigned,
    hipChannelFormatKindFloat,
    hipChannelFormatKindNone
} hipChannelFormatKind;
typedef struct hipChannelFormatDesc {
    int x, y, z, w; /* bits of each component */
    hipChannelFormatKind f;
} hipChannelFormatDesc;
typedef enum hipTextureReadMode { hipReadModeElementType, hipReadModeNormalizedFloat } hipTextureReadMode;
typedef enum hipTextureFilterMode { hipFilterModePoint, hipFilterModeLinear } hipTextureFilterMode;
typedef enum hipTextureAddressMode {
    hipAddressModeWrap,
    hipAddressModeClamp,
    hipAddressModeMirror,
    hipAddressModeBorder
} hipTextureAddressMode;
enum { hipTextureType1D = 1 };

/* Modes and the format are the program's, and change nothing: tex1Dfetch() reads elements as they are. */
typedef struct textureReference {
    int normalized;
    hipTextureFilterMode filterMode;
    hipTextureAddressMode addressMode[3];
    hipChannelFormatDesc channelDesc;
    const void* memory; /* of the device */
    size_t bytes;       /* 0: bound to nothing */
} textureReference;

#endif
