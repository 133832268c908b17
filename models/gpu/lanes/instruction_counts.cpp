// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/instruction_counts.h"

#include <utility>

namespace fabricvp::gpu {

// As issue_params names them, in the order of issue_class.
static constexpr std::array<const char*, static_cast<unsigned>(issue_class::count)> class_names{
    "alu",    "multiply", "divide",       "load", "store", "branch",           "jump",
    "atomic", "floating", "float_divide", "csr",  "fence", "double_precision", "double_divide"};

instruction_counts::instruction_counts(const sc_core::sc_object& owner, std::function<class_counts()> counts)
    : statistic(owner, "instructions", "1", "instructions executed by wavefronts, by class"),
      m_counts(std::move(counts)) {}

void instruction_counts::report(statistics_snapshot& to) const {
    const auto counts = m_counts();
    for (std::size_t i = 0; i < counts.size(); ++i)
        to[path() + '.' + class_names[i]] = static_cast<double>(counts[i] - m_base[i]);
}

}  // namespace fabricvp::gpu
