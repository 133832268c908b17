/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups of CUDA and HIP: the grid, the block, tiles of a wavefront, and the threads that are at one place
 * together. Clusters and several GPUs are not there. */
#ifndef FABRICVP_GPU_COOPERATIVE_GROUPS_H
#define FABRICVP_GPU_COOPERATIVE_GROUPS_H

#include "../grid.h"

namespace cooperative_groups {

#define FABRICVP_GROUP __device__ inline __attribute__((nodebug, always_inline))

/* All threads of the block. */
class thread_block {
public:
    FABRICVP_GROUP static void sync() { __syncthreads(); }
    FABRICVP_GROUP static unsigned thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    FABRICVP_GROUP static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    FABRICVP_GROUP static unsigned num_threads() { return size(); }
    FABRICVP_GROUP static dim3 group_index() { return blockIdx; }
    FABRICVP_GROUP static dim3 thread_index() { return threadIdx; }
    FABRICVP_GROUP static dim3 group_dim() { return blockDim; }
    FABRICVP_GROUP static dim3 dim_threads() { return blockDim; }
};
static FABRICVP_GROUP thread_block this_thread_block() { return {}; }

/* All threads of the grid. A kernel that calls sync() is launched only if all of its blocks are on the GPU at the same
 * time (KERNEL_COOPERATIVE). */
class grid_group {
public:
    FABRICVP_GROUP static void sync() { fabricvp_grid_sync(); }
    FABRICVP_GROUP static constexpr bool is_valid() { return true; }
    FABRICVP_GROUP static unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    FABRICVP_GROUP static unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    FABRICVP_GROUP static unsigned long long thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    FABRICVP_GROUP static unsigned long long size() { return num_blocks() * thread_block::size(); }
    FABRICVP_GROUP static unsigned long long num_threads() { return size(); }
    FABRICVP_GROUP static dim3 group_dim() { return gridDim; }
    FABRICVP_GROUP static dim3 dim_blocks() { return gridDim; }
    FABRICVP_GROUP static dim3 block_index() { return blockIdx; }
};
static FABRICVP_GROUP grid_group this_grid() { return {}; }

/* Size threads of a wavefront that follow each other, as many as a power of two. */
template <unsigned Size, class Parent = void>
class thread_block_tile {
    static_assert(Size && (Size & (Size - 1)) == 0 && Size <= WAVEFRONT_LANES, "a tile lies in a wavefront");
    FABRICVP_GROUP static unsigned first() { return __lane_id() & ~(Size - 1); }
    FABRICVP_GROUP static fabricvp_mask mask() { return (fabricvp_mask)((~0ull >> (64 - Size)) << first()); }
    FABRICVP_GROUP static fabricvp_mask own(fabricvp_mask lanes) { return lanes >> first(); }

public:
    FABRICVP_GROUP static void sync() { __syncwarp(mask()); }
    FABRICVP_GROUP static unsigned thread_rank() { return __lane_id() & (Size - 1); }
    FABRICVP_GROUP static constexpr unsigned size() { return Size; }
    FABRICVP_GROUP static constexpr unsigned num_threads() { return Size; }
    FABRICVP_GROUP static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
    FABRICVP_GROUP static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
    template <class T>
    FABRICVP_GROUP T shfl(T value, int rank) const {
        return __shfl_sync(mask(), value, rank, Size);
    }
    template <class T>
    FABRICVP_GROUP T shfl_up(T value, unsigned distance) const {
        return __shfl_up_sync(mask(), value, distance, Size);
    }
    template <class T>
    FABRICVP_GROUP T shfl_down(T value, unsigned distance) const {
        return __shfl_down_sync(mask(), value, distance, Size);
    }
    template <class T>
    FABRICVP_GROUP T shfl_xor(T value, unsigned bits) const {
        return __shfl_xor_sync(mask(), value, (int)bits, Size);
    }
    FABRICVP_GROUP int any(int predicate) const { return __any_sync(mask(), predicate); }
    FABRICVP_GROUP int all(int predicate) const { return __all_sync(mask(), predicate); }
    FABRICVP_GROUP fabricvp_mask ballot(int predicate) const { return own(__ballot_sync(mask(), predicate)); }
    template <class T>
    FABRICVP_GROUP fabricvp_mask match_any(T value) const {
        return own(__match_any_sync(mask(), value));
    }
    template <class T>
    FABRICVP_GROUP fabricvp_mask match_all(T value, int& all_same) const {
        return own(__match_all_sync(mask(), value, &all_same));
    }
};
template <unsigned Size, class Parent>
FABRICVP_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return {};
}

/* The threads of a wavefront that were together when the group was made, by rank. */
class coalesced_group {
    fabricvp_mask m_mask;
    unsigned m_rank, m_size;
    /* The lane of a rank, or -1. */
    FABRICVP_GROUP int lane_of(unsigned rank) const {
        fabricvp_mask left = m_mask;
        for (; rank && left; --rank) left &= left - 1;
        return left ? __builtin_ctzll(left) : -1;
    }
    FABRICVP_GROUP fabricvp_mask ranks_of(fabricvp_mask lanes) const {
        fabricvp_mask ranks = 0, bit = 1;
        for (fabricvp_mask left = m_mask; left; left &= left - 1, bit <<= 1)
            if (lanes & left & -left) ranks |= bit;
        return ranks;
    }
    template <class T>
    FABRICVP_GROUP T from(T value, unsigned rank) const {
        const int lane = rank < m_size ? lane_of(rank) : (int)__lane_id();
        return __shfl_sync(m_mask, value, lane);
    }

public:
    FABRICVP_GROUP explicit coalesced_group(fabricvp_mask mask)
        : m_mask(mask),
          m_rank((unsigned)__builtin_popcountll(mask & (((fabricvp_mask)1 << __lane_id()) - 1))),
          m_size((unsigned)__builtin_popcountll(mask)) {}
    FABRICVP_GROUP void sync() const { __syncwarp(m_mask); }
    FABRICVP_GROUP unsigned thread_rank() const { return m_rank; }
    FABRICVP_GROUP unsigned size() const { return m_size; }
    FABRICVP_GROUP unsigned num_threads() const { return m_size; }
    template <class T>
    FABRICVP_GROUP T shfl(T value, unsigned rank) const {
        return from(value, rank % m_size);
    }
    template <class T>
    FABRICVP_GROUP T shfl_up(T value, unsigned distance) const {
        return from(value, m_rank - distance);
    }
    template <class T>
    FABRICVP_GROUP T shfl_down(T value, unsigned distance) const {
        return from(value, m_rank + distance);
    }
    FABRICVP_GROUP int any(int predicate) const { return __any_sync(m_mask, predicate); }
    FABRICVP_GROUP int all(int predicate) const { return __all_sync(m_mask, predicate); }
    FABRICVP_GROUP fabricvp_mask ballot(int predicate) const { return ranks_of(__ballot_sync(m_mask, predicate)); }
    template <class T>
    FABRICVP_GROUP fabricvp_mask match_any(T value) const {
        return ranks_of(__match_any_sync(m_mask, value));
    }
};
static FABRICVP_GROUP coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <class Group>
FABRICVP_GROUP void sync(const Group& group) {
    group.sync();
}
template <class Group>
FABRICVP_GROUP auto thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
FABRICVP_GROUP auto group_size(const Group& group) {
    return group.size();
}

#undef FABRICVP_GROUP

}  // namespace cooperative_groups

#endif
