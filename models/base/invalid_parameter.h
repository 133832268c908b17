// SPDX-License-Identifier: Apache-2.0
// Values that are in range each, and do not fit each other.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/parameters.h"

namespace fabricvp {

struct invalid_parameter {
    const char* key = nullptr;  ///< null: all is well
    std::string why;            ///< begins with the key
    explicit operator bool() const { return key; }
};

inline bool is_power_of_two(std::uint64_t n) { return n && !(n & (n - 1)); }

/// For describe(), behind the fields: where values are being read, what does not fit is refused with the place where
/// its key, or else the struct, is written. \throws std::invalid_argument
inline void reject(parameter_visitor& v, const invalid_parameter& m) {
    if (!m) return;
    if (const auto where = v.origin_of(m.key); !where.empty()) throw std::invalid_argument(where + ": " + m.why);
}
/// For constructors, whose parameters may come from elsewhere. \throws std::invalid_argument
inline void reject(const char* what, const invalid_parameter& m) {
    if (m) throw std::invalid_argument(what + (": " + m.why));
}

}  // namespace fabricvp
