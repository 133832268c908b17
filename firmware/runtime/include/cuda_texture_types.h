/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's names of texture references (texture_types.h). */
#ifndef FABRICVP_CUDA_TEXTURE_TYPES_H
#define FABRICVP_CUDA_TEXTURE_TYPES_H

#include "hip/hip_runtime_api.h"

#define cudaTextureType1D hipTextureType1D
#define cudaReadModeElementType hipReadModeElementType
#define cudaReadModeNormalizedFloat hipReadModeNormalizedFloat
#define cudaFilterModePoint hipFilterModePoint
#define cudaFilterModeLinear hipFilterModeLinear
#define cudaAddressModeWrap hipAddressModeWrap
#define cudaAddressModeClamp hipAddressModeClamp
#define cudaAddressModeMirror hipAddressModeMirror
#define cudaAddressModeBorder hipAddressModeBorder
#define cudaChannelFormatKindSigned hipChannelFormatKindSigned
#define cudaChannelFormatKindUnsigned hipChannelFormatKindUnsigned
#define cudaChannelFormatKindFloat hipChannelFormatKindFloat
#define cudaChannelFormatKindNone hipChannelFormatKindNone
#define cudaChannelFormatDesc hipChannelFormatDesc /* stands behind `struct`, too */
typedef hipChannelFormatKind cudaChannelFormatKind;
typedef hipTextureReadMode cudaTextureReadMode;
typedef hipTextureFilterMode cudaTextureFilterMode;
typedef hipTextureAddressMode cudaTextureAddressMode;
#define cudaCreateChannelDesc hipCreateChannelDesc
#define cudaBindTexture hipBindTexture
#define cudaUnbindTexture hipUnbindTexture
#define cudaGetTextureAlignmentOffset hipGetTextureAlignmentOffset

#endif
