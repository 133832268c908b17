// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "base/statistics.h"
#include "gpu/lanes/lane_op.h"

namespace fabricvp::gpu {

/// Wavefront-instructions by issue_class. One statistic for a whole GPU, not fourteen for each compute unit: the
/// engines count in plain arrays.
using class_counts = std::array<std::uint64_t, static_cast<unsigned>(issue_class::count)>;

class instruction_counts final : public statistic {
public:
    /// \param counts since construction
    instruction_counts(const sc_core::sc_object& owner, std::function<class_counts()> counts);
    /// Values under `instructions.alu`, `instructions.load` and so on.
    void report(statistics_snapshot& to) const override;
    void restart() override { m_base = m_counts(); }

private:
    std::function<class_counts()> m_counts;
    class_counts m_base{};
};

}  // namespace fabricvp::gpu
