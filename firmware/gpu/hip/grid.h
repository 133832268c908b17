/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier of a cooperative launch, over a word of device memory that the compiler places behind a program's
 * variables. */
#ifndef FABRICVP_GPU_HIP_GRID_H
#define FABRICVP_GPU_HIP_GRID_H

/* Bits 63…32: the dispatch whose blocks have arrived, so that none sees what an earlier one has left; the dispatcher
 * runs one cooperative dispatch at a time. Bits 31…0: blocks that have arrived, at all of its barriers together. */
extern "C" __device__ unsigned long fabricvp_grid_state;

/* All blocks of the grid come here, and all threads of each. What threads wrote before, all see behind it. */
FABRICVP_DEVICE void fabricvp_grid_sync() {
    FABRICVP_INSTRUCTION(GPU_FUNCT_FENCE, GPU_SCOPE_AGENT | GPU_FENCE_RELEASE);
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        unsigned long dispatch, seen = atomicAdd(&fabricvp_grid_state, 0ul);
        __asm__ volatile("csrr %0, " FABRICVP_TEXT(GPU_CSR_DISPATCH) : "=r"(dispatch));
        if (seen >> 32 != (dispatch & 0xffffffff)) atomicCAS(&fabricvp_grid_state, seen, dispatch << 32);
        const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
        const unsigned before = (unsigned)atomicAdd(&fabricvp_grid_state, 1ul),
                       wanted = before - before % blocks + blocks;
        do {
            __asm__ volatile(
                ".insn i 0x0f, 0, x0, x0, 0x010\n" /* pause: others of the wavefront first */
                ".insn i " FABRICVP_TEXT(GPU_OPCODE) ", " FABRICVP_TEXT(GPU_FUNCT_LOAD_D) ", %0, %1, 0"
                : "=&r"(seen)
                : "r"(&fabricvp_grid_state)
                : "memory");
        } while ((int)((unsigned)seen - wanted) < 0);
    }
    __syncthreads();
    FABRICVP_INSTRUCTION(GPU_FUNCT_FENCE, GPU_SCOPE_AGENT | GPU_FENCE_ACQUIRE);
}

#endif
