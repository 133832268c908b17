// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "gpu/memory/access_state.h"

namespace fabricvp::gpu {

/// Keeps a wavefront's accesses to one line of remote memory in order: on the way to this GPU's own L2 nothing overtakes,
/// but between GPUs packets of different classes may. A piece that conflicts with one under way is parked. Lines and
/// wavefronts share buckets by hash, which only ever makes a piece wait longer. Lanes of one access need no order.
/// Another wavefront's fetch of the line may be performed before a write that was sent earlier; so the L1 cache must let go
/// of the line once more when the write is acknowledged.
class remote_order {
public:
    /// \returns true if the piece may go (leave() must follow); otherwise it is parked
    bool enter(access_state& state, unsigned piece, bool write) {
        bucket& b = bucket_of(state, piece);
        const bool conflict = b.writes || (write && b.reads);
        if (!b.parked.empty() || (conflict && b.serial != state.serial)) {
            b.parked.push(state.ref(piece));
            return false;
        }
        ++(write ? b.writes : b.reads);
        b.serial = state.serial;
        state.ordered |= std::uint64_t{1} << piece;
        return true;
    }
    /// \returns pieces to be tried again
    piece_queue leave(access_state& state, unsigned piece, bool write) {
        state.ordered &= ~(std::uint64_t{1} << piece);
        bucket& b = bucket_of(state, piece);
        --(write ? b.writes : b.reads);
        piece_queue again;
        if (b.reads == 0 && b.writes == 0) {
            again = b.parked;
            b.parked.clear();
        }
        return again;
    }
    void clear() { m_buckets.fill({}); }

private:
    struct bucket {
        std::uint32_t reads = 0, writes = 0;  // under way
        std::uint64_t serial = 0;             // of the access that entered last
        piece_queue parked;
    };
    bucket& bucket_of(const access_state& state, unsigned piece) {
        const std::uint64_t key = state.pieces[piece].line / line_bytes + state.access->wavefront * 0x10001u;
        return m_buckets[(key * 0x9e3779b97f4a7c15u) >> 56];
    }
    std::array<bucket, 256> m_buckets;
};

}  // namespace fabricvp::gpu
