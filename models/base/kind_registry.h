// SPDX-License-Identifier: Apache-2.0
// Adds kinds to those that come along.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "base/kinds.h"

namespace fabricvp {

/// How many kinds have been added, in all places.
std::size_t kinds_added();
void note_added_kind();

/// \param place what has these kinds, for messages \throws std::invalid_argument where one has that name already
template <class Settings>
void add_kind(const kind<Settings>& added, const char* place) {
    auto& all = Settings::kinds();
    for (const auto& k : all)
        if (std::string(k.name) == added.name)
            throw std::invalid_argument(std::string("there is a kind '") + added.name + "' of " + place + " already");
    all.push_back(added);
    note_added_kind();
}

}  // namespace fabricvp
