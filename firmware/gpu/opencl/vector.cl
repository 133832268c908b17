/* SPDX-License-Identifier: Apache-2.0 */
/* Vector loads and stores (OpenCL C 1.2, 6.12.7), half precision in memory, shuffles (6.12.12). Addresses need the
 * alignment of an element only. */
#include "base.h"

#define HALF_FUNCTION HELPER
#include "../half.h"

#define ELEMENTS2(p) (p)[0], (p)[1]
#define ELEMENTS3(p) (p)[0], (p)[1], (p)[2]
#define ELEMENTS4(p) ELEMENTS2(p), ELEMENTS2((p) + 2)
#define ELEMENTS8(p) ELEMENTS4(p), ELEMENTS4((p) + 4)
#define ELEMENTS16(p) ELEMENTS8(p), ELEMENTS8((p) + 8)
#define PUT2(p, v) ((p)[0] = (v).s0, (p)[1] = (v).s1)
#define PUT3(p, v) ((p)[0] = (v).s0, (p)[1] = (v).s1, (p)[2] = (v).s2)
#define PUT4(p, v) (PUT2(p, (v).lo), PUT2((p) + 2, (v).hi))
#define PUT8(p, v) (PUT4(p, (v).lo), PUT4((p) + 4, (v).hi))
#define PUT16(p, v) (PUT8(p, (v).lo), PUT8((p) + 8, (v).hi))

#define LOAD(n, T, space)                          \
    OV T##n vload##n(size_t i, const space T* p) { \
        p += n * i;                                \
        return (T##n)(ELEMENTS##n(p));             \
    }
#define STORE(n, T, space)                            \
    OV void vstore##n(T##n v, size_t i, space T* p) { \
        p += n * i;                                   \
        PUT##n(p, v);                                 \
    }
#define WRITABLE(T, space) FOR_VECTORS(LOAD, T, space) FOR_VECTORS(STORE, T, space)
#define ACCESSES(T) \
    FOR_VECTORS(LOAD, T, constant) WRITABLE(T, global) WRITABLE(T, local) WRITABLE(T, private) WRITABLE(T, generic)
ACCESSES(char)
ACCESSES(uchar) ACCESSES(short) ACCESSES(ushort) ACCESSES(int) ACCESSES(uint) ACCESSES(long) ACCESSES(ulong)
    ACCESSES(float) ACCESSES(double)
#define BITS_OF(p, space) ((space ushort*)(p))
#define HALF_LOADS(space)                                                                                     \
    OV float vload_half(size_t i, const space half* p) { return half_to_float(((const space ushort*)p)[i]); } \
    HALF_LOAD(2, space) HALF_LOAD(3, space) HALF_LOAD(4, space) HALF_LOAD(8, space) HALF_LOAD(16, space)
#define HALF_LOAD(n, space)                                                                                          \
    OV float##n vload_half##n(size_t i, const space half* p) { return floats(vload##n(i, (const space ushort*)p)); } \
    OV float##n vloada_half##n(size_t i, const space half* p) {                                                      \
        return floats(vload##n(0, (const space ushort*)p + (n == 3 ? 4 : n) * i));                                   \
    }
        HELPER float2 floats(ushort2 h) {
    return (float2)(half_to_float(h.s0), half_to_float(h.s1));
}
HELPER float3 floats(ushort3 h) { return (float3)(half_to_float(h.s0), half_to_float(h.s1), half_to_float(h.s2)); }
HELPER float4 floats(ushort4 h) { return (float4)(floats(h.lo), floats(h.hi)); }
HELPER float8 floats(ushort8 h) { return (float8)(floats(h.lo), floats(h.hi)); }
HELPER float16 floats(ushort16 h) { return (float16)(floats(h.lo), floats(h.hi)); }
HALF_LOADS(constant)
HALF_LOADS(global) HALF_LOADS(local) HALF_LOADS(private) HALF_LOADS(generic)

#define HALVES_OF(F)                                                                                  \
    HELPER ushort2 halfs(F##2 x, int m) { return (ushort2)(half_from(x.s0, m), half_from(x.s1, m)); } \
    HELPER ushort3 halfs(F##3 x, int m) {                                                             \
        return (ushort3)(half_from(x.s0, m), half_from(x.s1, m), half_from(x.s2, m));                 \
    }                                                                                                 \
    HELPER ushort4 halfs(F##4 x, int m) { return (ushort4)(halfs(x.lo, m), halfs(x.hi, m)); }         \
    HELPER ushort8 halfs(F##8 x, int m) { return (ushort8)(halfs(x.lo, m), halfs(x.hi, m)); }         \
    HELPER ushort16 halfs(F##16 x, int m) { return (ushort16)(halfs(x.lo, m), halfs(x.hi, m)); }
    HALVES_OF(float) HALVES_OF(double)
#define HALF_STORES(F, space)                                                                                         \
    HALF_STORE_1(F, space, , 0)                                                                                       \
    HALF_STORE_1(F, space, _rte, 0) HALF_STORE_1(F, space, _rtz, 1) HALF_STORE_1(F, space, _rtp, 2)                   \
        HALF_STORE_1(F, space, _rtn, 3) HALF_STORE_N(2, F, space) HALF_STORE_N(3, F, space) HALF_STORE_N(4, F, space) \
            HALF_STORE_N(8, F, space) HALF_STORE_N(16, F, space)
#define HALF_STORE_1(F, space, name, mode) \
    OV void vstore_half##name(F x, size_t i, space half* p) { BITS_OF(p, space)[i] = half_from(x, mode); }
#define HALF_STORE_N(n, F, space)                                                                      \
    HALF_STORE(n, F, space, , 0)                                                                       \
    HALF_STORE(n, F, space, _rte, 0) HALF_STORE(n, F, space, _rtz, 1) HALF_STORE(n, F, space, _rtp, 2) \
        HALF_STORE(n, F, space, _rtn, 3)
#define HALF_STORE(n, F, space, name, mode)                                                                            \
    OV void vstore_half##n##name(F##n x, size_t i, space half* p) { vstore##n(halfs(x, mode), i, BITS_OF(p, space)); } \
    OV void vstorea_half##n##name(F##n x, size_t i, space half* p) {                                                   \
        vstore##n(halfs(x, mode), 0, BITS_OF(p, space) + (n == 3 ? 4 : n) * i);                                        \
    }
        HALF_STORES(float, global) HALF_STORES(float, local) HALF_STORES(float, private) HALF_STORES(float, generic)
            HALF_STORES(double, global) HALF_STORES(double, local) HALF_STORES(double, private)
                HALF_STORES(double, generic)

/* Elements of one vector, or of two, by number. */
#define SHUFFLE(n, m, T, U)                                            \
    OV T##n shuffle(T##m x, U##n by) {                                 \
        T from[m], to[n];                                              \
        U at[n];                                                       \
        vstore##m(x, 0, from);                                         \
        vstore##n(by, 0, at);                                          \
        for (int i = 0; i < n; ++i) to[i] = from[at[i] & (m - 1)];     \
        return vload##n(0, to);                                        \
    }                                                                  \
    OV T##n shuffle2(T##m x, T##m y, U##n by) {                        \
        T from[2 * m], to[n];                                          \
        U at[n];                                                       \
        vstore##m(x, 0, from);                                         \
        vstore##m(y, 1, from);                                         \
        vstore##n(by, 0, at);                                          \
        for (int i = 0; i < n; ++i) to[i] = from[at[i] & (2 * m - 1)]; \
        return vload##n(0, to);                                        \
    }
#define SHUFFLES_N(n, T, U) SHUFFLE(n, 2, T, U) SHUFFLE(n, 4, T, U) SHUFFLE(n, 8, T, U) SHUFFLE(n, 16, T, U)
#define SHUFFLES(T, U) SHUFFLES_N(2, T, U) SHUFFLES_N(4, T, U) SHUFFLES_N(8, T, U) SHUFFLES_N(16, T, U)
                    SHUFFLES(char, uchar) SHUFFLES(uchar, uchar) SHUFFLES(short, ushort) SHUFFLES(ushort, ushort)
                        SHUFFLES(int, uint) SHUFFLES(uint, uint) SHUFFLES(long, ulong) SHUFFLES(ulong, ulong)
                            SHUFFLES(float, uint) SHUFFLES(double, ulong)
