// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace fabricvp::gdb {

/// A thread as packets name it: `p1.2`, `p1.-1`, `2`, `0`, `-1`.
struct thread_id {
    static constexpr std::int64_t all = -1;
    static constexpr std::int64_t any = 0;
    std::int64_t process = any;
    std::int64_t thread = any;
};

/// Takes a packet apart from the left. Every member returns false, and consumes nothing, where the text does not fit.
class field_reader {
public:
    explicit field_reader(std::string_view text) : m_rest(text) {}

    bool take(char c);
    bool take(std::string_view prefix);
    /// 1 to 16 hexadecimal digits.
    bool number(std::uint64_t& value);
    bool thread(thread_id& id);
    /// Everything up to `end`, which is consumed too, or up to the end of the text.
    std::string_view until(char end);
    std::string_view rest() const { return m_rest; }
    bool done() const { return m_rest.empty(); }

private:
    bool id_part(std::int64_t& value);

    std::string_view m_rest;
};

}  // namespace fabricvp::gdb
