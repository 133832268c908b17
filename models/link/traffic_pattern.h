// SPDX-License-Identifier: Apache-2.0
// Which terminals traffic goes to, as networks are usually measured (Dally and Towles, Principles and Practices of
// Interconnection Networks, chapter 3).
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameters.h"

namespace fabricvp::link {

enum class traffic_pattern : std::uint8_t { uniform, hot_spot, neighbour, all_to_all, transpose, halo, alternating };

/// The terminals that one of `participants` (in rising order, itself among them) sends to, in turns unless the pattern
/// chooses by chance. None where the pattern gives it no destination: the diagonal of a transposition, say.
/// uniform, hot_spot: all others · neighbour: the next one · all_to_all: all others, beginning with the next ·
/// transpose: (row, column) to (column, row) of the largest square · halo: the four neighbours on a torus that is as
/// square as the number of participants allows · alternating: the partner in the other half
std::vector<unsigned> partners(traffic_pattern pattern, const std::vector<unsigned>& participants, unsigned self);

}  // namespace fabricvp::link

namespace fabricvp {
template <>
struct choice_traits<link::traffic_pattern> {
    using p = link::traffic_pattern;
    static constexpr std::pair<p, const char*> names[] = {{p::uniform, "uniform"},        {p::hot_spot, "hot_spot"},
                                                          {p::neighbour, "neighbour"},    {p::all_to_all, "all_to_all"},
                                                          {p::transpose, "transpose"},    {p::halo, "halo"},
                                                          {p::alternating, "alternating"}};
};
}  // namespace fabricvp
