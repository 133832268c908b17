// SPDX-License-Identifier: Apache-2.0
#include "base/kind_registry.h"

namespace fabricvp {
namespace {

std::size_t g_added = 0;

}  // namespace

std::size_t kinds_added() { return g_added; }

void note_added_kind() { ++g_added; }

}  // namespace fabricvp
