// SPDX-License-Identifier: Apache-2.0
#include "link/traffic_pattern.h"

#include <algorithm>
#include <cmath>

namespace fabricvp::link {

std::vector<unsigned> partners(traffic_pattern pattern, const std::vector<unsigned>& participants, unsigned self) {
    const auto n = participants.size();
    const auto me = static_cast<std::size_t>(std::lower_bound(participants.begin(), participants.end(), self) -
                                             participants.begin());
    std::vector<unsigned> found;
    const auto add = [&](std::size_t rank) {
        const auto t = participants[rank % n];
        if (t != self && std::find(found.begin(), found.end(), t) == found.end()) found.push_back(t);
    };
    switch (pattern) {
        case traffic_pattern::uniform:
        case traffic_pattern::hot_spot:
        case traffic_pattern::all_to_all:
            for (std::size_t i = 1; i < n; ++i) found.push_back(participants[(me + i) % n]);
            break;
        case traffic_pattern::neighbour: add(me + 1); break;
        case traffic_pattern::transpose: {
            const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
            if (me < side * side) add(me % side * side + me / side);
            break;
        }
        case traffic_pattern::halo: {
            auto rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
            while (n % rows) --rows;
            const auto columns = n / rows, row = me / columns, column = me % columns;
            add(row * columns + (column + 1) % columns);
            add(row * columns + (column + columns - 1) % columns);
            add((row + 1) % rows * columns + column);
            add((row + rows - 1) % rows * columns + column);
            break;
        }
        case traffic_pattern::alternating:
            if (n % 2 == 0 || me < n - 1) add(me < n / 2 ? me + n / 2 : me - n / 2);
            break;
    }
    return found;
}

}  // namespace fabricvp::link
