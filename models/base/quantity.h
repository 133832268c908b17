// SPDX-License-Identifier: Apache-2.0
// Numbers with units as text: "100 ns", "1.5 GHz", "4 MiB", "16 GB/s", "5000 cycles". Exact: no rounding either way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/parameters.h"

namespace fabricvp {

/// True for the kinds whose values carry a unit.
bool has_unit(parameter_kind kind);

/// Reads a number with unit; the blank between them is optional.
/// \returns the value in base units (picoseconds, hertz, bytes, bytes a second, cycles).
/// \throws std::invalid_argument with one line that says what is allowed.
std::uint64_t parse_quantity(parameter_kind kind, std::string_view text);

/// Canonical text: the shortest exact one, such that parse_quantity() gives `value` again.
std::string quantity_text(parameter_kind kind, std::uint64_t value);

/// What a value of this kind looks like ("a time such as 100 ns (units ps, ns, us, ms, s)").
std::string quantity_help(parameter_kind kind);

}  // namespace fabricvp
