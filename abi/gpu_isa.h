/* SPDX-License-Identifier: Apache-2.0 */
/* What lanes know beyond RV64IMAFD: custom-0 instructions and read-only custom CSRs. Plain C99, and usable in assembly.
 */
#ifndef FABRICVP_ABI_GPU_ISA_H
#define FABRICVP_ABI_GPU_ISA_H

/* custom-0 (major opcode 0x0b), I-type, distinguished by funct3. */
#define GPU_OPCODE 0x0b
#define GPU_FUNCT_END 0     /* the lane has finished */
#define GPU_FUNCT_BARRIER 1 /* waits until all lanes of the work-group are here or have ended */
#define GPU_FUNCT_FENCE 2   /* immediate: scope | GPU_FENCE_ACQUIRE | GPU_FENCE_RELEASE */
#define GPU_FUNCT_LOAD_W 3  /* rd = sign-extended word at rs1 + immediate, bypassing the L1 cache */
#define GPU_FUNCT_LOAD_D 4  /* rd = double word at rs1 + immediate, bypassing the L1 cache */
#define GPU_FUNCT_LANES 5   /* R-type, distinguished by funct7 */
#define GPU_FUNCT_ATOMIC 6  /* R-type, distinguished by funct7 */

/* Operations between the lanes of a wavefront that execute the instruction together. In masks bit n is lane n. Fields
 * that are not named are 0. */
#define GPU_LANES_BALLOT 0 /* rd = mask of those whose rs1 is not 0 */
#define GPU_LANES_ACTIVE 1 /* rd = mask of all of them */
/* rd = rs1 of the lane that the low word of rs2 names, or the lane's own rs1 where that one is not among them: the low
 * word, sign-extended, or all of it. */
#define GPU_LANES_SHUFFLE_W 2
#define GPU_LANES_SHUFFLE_D 3
#define GPU_LANES_SYNC 4     /* waits until all live lanes of the mask rs1 wait here with this mask */
#define GPU_LANES_SYNC_ANY 5 /* the same, at any such instruction */
/* Waits until all live lanes of the mask rs1 wait with this mask at an instruction of the same kind (its rd field), and
 * gives them rs2. Until a lane's next such instruction the operations _OF concern the lanes that it has waited for,
 * wherever they are: of those that do not execute the operation themselves, they take what these have given. */
#define GPU_LANES_EXCHANGE 6
#define GPU_LANES_BALLOT_OF 8
#define GPU_LANES_SHUFFLE_W_OF 10
#define GPU_LANES_SHUFFLE_D_OF 11

/* Atomics that RV64A lacks, performed where it performs its own (L2, or the local data share), in no order: rd = old
 * value at the address rs1, a word sign-extended; the sum of it and rs2, both bits of numbers, takes its place. It is
 * rounded to nearest, and NaN is the canonical one. Memory of the host has none (PCIe), as it has no minimum. */
#define GPU_ATOMIC_ADD_S 0
#define GPU_ATOMIC_ADD_D 1

/* Scopes. A plain fence has system scope. */
#define GPU_SCOPE_WORK_GROUP 0
#define GPU_SCOPE_AGENT 1
#define GPU_SCOPE_SYSTEM 2
#define GPU_FENCE_ACQUIRE 0x10
#define GPU_FENCE_RELEASE 0x20

/* CSRs, read-only, 64 bits. _X, then _Y and _Z behind it. */
#define GPU_CSR_LOCAL_ID_X 0xcc0
#define GPU_CSR_GROUP_ID_X 0xcc3
#define GPU_CSR_GROUP_SIZE_X 0xcc6 /* of the dispatch; the last group of a dimension may be smaller */
#define GPU_CSR_GRID_SIZE_X 0xcc9  /* work-items */
#define GPU_CSR_LANE 0xccc         /* 0…63, in wavefronts of 32 lanes 0…31 */
#define GPU_CSR_WAVEFRONT 0xccd    /* index in the work-group */
#define GPU_CSR_GPU 0xcce          /* index of the GPU in its node */
#define GPU_CSR_COMPUTE_UNIT 0xccf
#define GPU_CSR_DISPATCH 0xcd0 /* counts dispatches of the GPU from 1 on; the same in all lanes of one */
#define GPU_CSR_CYCLE 0xc00    /* of the GPU's clock */
#define GPU_CSR_TIME 0xc01     /* ns of simulated time */

#endif
