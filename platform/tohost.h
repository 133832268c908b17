// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace fabricvp {

/// The host side of the `tohost`/`fromhost` words of riscv-tests: a test ends by storing 1 (passed) or a failed test's
/// number times two plus one; other values are requests (print a character, the proxied system calls write and exit).
class tohost_port {
public:
    using reader = std::function<std::size_t(std::uint64_t address, void* to, std::size_t size)>;
    using writer = std::function<std::size_t(std::uint64_t address, const void* from, std::size_t size)>;

    tohost_port(std::uint64_t tohost, std::optional<std::uint64_t> fromhost, reader read, writer write,
                std::function<void(char)> print);

    /// Serves what the guest has stored since the last call. \returns the exit code once the guest has ended
    std::optional<std::uint64_t> poll();

private:
    std::uint64_t load(std::uint64_t address) const;
    void store(std::uint64_t address, std::uint64_t value);
    std::optional<std::uint64_t> system_call(std::uint64_t block);

    std::uint64_t m_tohost;
    std::optional<std::uint64_t> m_fromhost;
    reader m_read;
    writer m_write;
    std::function<void(char)> m_print;
};

}  // namespace fabricvp
