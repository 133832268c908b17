// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/field_reader.h"

#include "platform/gdb/hex.h"

namespace fabricvp::gdb {

bool field_reader::take(char c) {
    if (m_rest.empty() || m_rest.front() != c) return false;
    m_rest.remove_prefix(1);
    return true;
}

bool field_reader::take(std::string_view prefix) {
    if (m_rest.substr(0, prefix.size()) != prefix) return false;
    m_rest.remove_prefix(prefix.size());
    return true;
}

bool field_reader::number(std::uint64_t& value) {
    std::size_t n = 0;
    std::uint64_t v = 0;
    for (; n < m_rest.size(); ++n) {
        const int digit = hex_digit(m_rest[n]);
        if (digit < 0) break;
        if (n == 16) return false;
        v = v << 4 | static_cast<unsigned>(digit);
    }
    if (n == 0) return false;
    m_rest.remove_prefix(n);
    value = v;
    return true;
}

bool field_reader::id_part(std::int64_t& value) {
    if (take("-1")) {
        value = thread_id::all;
        return true;
    }
    std::uint64_t v = 0;
    if (!number(v) || v > 0x7fffffff) return false;
    value = static_cast<std::int64_t>(v);
    return true;
}

bool field_reader::thread(thread_id& id) {
    const auto start = m_rest;
    thread_id read;
    bool good = true;
    if (take('p')) {
        good = id_part(read.process);
        read.thread = thread_id::all;
        if (good && take('.')) good = id_part(read.thread);
    } else {
        good = id_part(read.thread);
    }
    if (!good) {
        m_rest = start;
        return false;
    }
    id = read;
    return true;
}

std::string_view field_reader::until(char end) {
    const auto at = m_rest.find(end);
    const auto field = m_rest.substr(0, at);
    m_rest.remove_prefix(at == std::string_view::npos ? m_rest.size() : at + 1);
    return field;
}

}  // namespace fabricvp::gdb
