// SPDX-License-Identifier: Apache-2.0
// What an access to memory does, in one word for everything that carries it from end to end: a wavefront's instruction,
// the line requests that it becomes, the packets that take those to another GPU.
#pragma once

#include <cstdint>

namespace fabricvp {

/// Instructions are the first five. `lock` and `unlock` are of lines alone: an L2 bank keeps a line for the sender.
enum class access_kind : std::uint8_t { read, write, atomic, load_reserved, store_conditional, lock, unlock };

}  // namespace fabricvp
