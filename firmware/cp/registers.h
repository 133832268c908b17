/* SPDX-License-Identifier: Apache-2.0 */
/* The command processor's registers and the three kinds of memory it sees. */
#ifndef FABRICVP_CP_REGISTERS_H
#define FABRICVP_CP_REGISTERS_H

#include <stdint.h>

#include "abi/gpu.h"

#define REGISTER(offset) (GPU_LOCAL(GPU_CP_REGISTERS_BASE) + (offset))

static inline uint32_t register_read(uint64_t offset) { return *(volatile uint32_t*)REGISTER(offset); }
static inline uint64_t register_read64(uint64_t offset) { return *(volatile uint64_t*)REGISTER(offset); }
static inline void register_write(uint64_t offset, uint32_t value) { *(volatile uint32_t*)REGISTER(offset) = value; }
static inline void register_write64(uint64_t offset, uint64_t value) { *(volatile uint64_t*)REGISTER(offset) = value; }

/* Registers that each hart has for itself. */
static inline uint64_t banked(uint64_t offset, unsigned hart, uint64_t stride) { return offset + hart * stride; }
enum { WORD_STRIDE = 4, DISPATCH_STRIDE = 0x100 };

/* Tables in the own memory. */
#define SRAM(type, offset) ((volatile type*)GPU_LOCAL(offset))

/* What kernels see at `address`, through the tables of CP_ADDRESS_SPACE. */
#define VIRTUAL(type, address) ((volatile type*)GPU_VIRTUAL(address))

/* The data cache in front of the GPU's L2 is kept coherent by these alone. Reads that come after acquire() see what the
 * host, lanes and other harts had written before it; writes that came before release() are seen by them before anything
 * that comes after it. Neither is needed for the own memory, registers, or what lies beyond the GPU, which is not
 * cached. */
static inline void acquire(void) { __asm__ volatile("fence r, rw" ::: "memory"); }
static inline void release(void) { __asm__ volatile("fence rw, w" ::: "memory"); }

#endif
