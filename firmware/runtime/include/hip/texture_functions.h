/* SPDX-License-Identifier: Apache-2.0 */
/* Forms in C++ of calls for texture references. */
#ifndef FABRICVP_TEXTURE_FUNCTIONS_H
#define FABRICVP_TEXTURE_FUNCTIONS_H

#include <type_traits>

#include "hip/hip_runtime_api.h"

static inline hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

/* The type of a component: T, or that of a vector's first member. */
template <class T>
auto fabricvp_component(const T& value, int) -> decltype(value.x) {
    return value.x;
}
template <class T>
T fabricvp_component(const T& value, long) {
    return value;
}

/* Of a number, or of a vector of them. */
template <class T>
hipChannelFormatDesc hipCreateChannelDesc() {
    using Component = decltype(fabricvp_component(T{}, 0));
    const int bits = 8 * static_cast<int>(sizeof(Component)), count = static_cast<int>(sizeof(T) / sizeof(Component));
    return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
            std::is_floating_point<Component>::value ? hipChannelFormatKindFloat
            : std::is_signed<Component>::value       ? hipChannelFormatKindSigned
                                                     : hipChannelFormatKindUnsigned};
}

template <class T, int dimensions, hipTextureReadMode mode>
hipError_t hipBindTexture(size_t* offset, const texture<T, dimensions, mode>& reference, const void* memory,
                          const hipChannelFormatDesc& format, size_t bytes) {
    return hipBindTexture(offset, static_cast<const textureReference*>(&reference), memory, &format, bytes);
}
template <class T, int dimensions, hipTextureReadMode mode>
hipError_t hipBindTexture(size_t* offset, const texture<T, dimensions, mode>& reference, const void* memory,
                          size_t bytes) {
    return hipBindTexture(offset, reference, memory, hipCreateChannelDesc<T>(), bytes);
}
template <class T, int dimensions, hipTextureReadMode mode>
hipError_t hipUnbindTexture(const texture<T, dimensions, mode>& reference) {
    return hipUnbindTexture(static_cast<const textureReference*>(&reference));
}

#endif
