// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "guest_memory.h"
#include "program.h"

namespace differential {

struct difference {
    long sequence = -1;  ///< position among those that ran; −1 if none can be named
    std::string what;
};

/// The first sequence whose traps, final state or memory differ.
std::optional<difference> compare(const guest_memory& ours, const guest_memory& theirs, std::size_t sequences);

}  // namespace differential
