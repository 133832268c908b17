// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "platform/ranks/communicator.h"

namespace fabricvp::ranks {

/// Windows of which each one has all ranks, by what any communicator can do.
class all_to_all_windows final : public window_exchange {
public:
    /// \param comm must live as long
    explicit all_to_all_windows(communicator& comm) : m_comm(comm), m_to(comm.count()), m_from(comm.count()) {}

    window_bounds next(const window_report& own, const std::vector<bytes>& to, const std::vector<ticks>& due,
                       const receiver& receive) override;
    const parallel_work& work() const override { return m_work; }

private:
    struct header;
    communicator& m_comm;
    std::vector<bytes> m_to, m_from;
    parallel_work m_work;
};

/// The best that this communicator has for windows. \param comm must live as long
inline std::unique_ptr<window_exchange> windows_of(communicator& comm, ticks lookahead) {
    auto own = comm.open_windows(lookahead);
    return own ? std::move(own) : std::make_unique<all_to_all_windows>(comm);
}

}  // namespace fabricvp::ranks
