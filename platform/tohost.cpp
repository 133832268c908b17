// SPDX-License-Identifier: Apache-2.0
#include "platform/tohost.h"

#include <utility>

namespace fabricvp {
namespace {

constexpr std::uint64_t print_request = 0x0101;  // device 1 (console), command 1 (write), in the upper 16 bits
constexpr std::uint64_t call_write = 64, call_exit = 93;
constexpr std::uint64_t max_bytes = 1 << 16;  // of one write call

}  // namespace

tohost_port::tohost_port(std::uint64_t tohost, std::optional<std::uint64_t> fromhost, reader read, writer write,
                         std::function<void(char)> print)
    : m_tohost(tohost),
      m_fromhost(fromhost),
      m_read(std::move(read)),
      m_write(std::move(write)),
      m_print(std::move(print)) {}

std::uint64_t tohost_port::load(std::uint64_t address) const {
    std::uint64_t value = 0;
    m_read(address, &value, sizeof value);
    return value;
}

void tohost_port::store(std::uint64_t address, std::uint64_t value) { m_write(address, &value, sizeof value); }

std::optional<std::uint64_t> tohost_port::poll() {
    const auto request = load(m_tohost);
    if (request == 0) return std::nullopt;
    if (request >> 48 == print_request) {
        m_print(static_cast<char>(request));
    } else if (request & 1) {
        return request >> 1;
    } else if (request >> 48 == 0) {
        if (const auto code = system_call(request)) return code;
        if (m_fromhost) store(*m_fromhost, 1);
    }
    store(m_tohost, 0);
    return std::nullopt;
}

std::optional<std::uint64_t> tohost_port::system_call(std::uint64_t block) {
    const auto number = load(block);
    if (number == call_exit) return load(block + 8);
    std::uint64_t result = ~std::uint64_t{37};  // -ENOSYS
    if (number == call_write) {
        const auto text = load(block + 16);
        const auto size = load(block + 24);
        result = size < max_bytes ? size : max_bytes;
        for (std::uint64_t i = 0; i < result; ++i) {
            char c = 0;
            if (m_read(text + i, &c, 1) != 1) break;
            m_print(c);
        }
    }
    store(block, result);
    return std::nullopt;
}

}  // namespace fabricvp
