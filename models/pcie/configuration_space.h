// SPDX-License-Identifier: Apache-2.0
// The 4 KiB configuration space of one function, byte exact. Every bit is declared: its reset value, whether software
// writes it, and whether writing 1 clears it; all other bits are read-only. Sizing a BAR by writing ones works because
// the address bits below its size are read-only zeros.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace fabricvp::pcie {

class configuration_space {
public:
    static constexpr std::size_t size = 4096;
    using write_hook = std::function<void()>;
    using read_hook = std::function<void()>;

    /// Declares `bytes` (1 to 8) little-endian bytes at `offset`. Later declarations of the same bytes replace earlier.
    void declare(std::size_t offset, unsigned bytes, std::uint64_t reset, std::uint64_t writable = 0,
                 std::uint64_t write_one_to_clear = 0);
    /// Bits that keep their value over a function-level reset or a bus reset (the standard calls them sticky).
    void declare_sticky(std::size_t offset, unsigned bytes);
    /// Called after a guest's write that touched any of these bytes.
    void on_write(std::size_t offset, unsigned bytes, write_hook hook);
    /// Called before a guest's read of any of these bytes; it may set them.
    void on_read(std::size_t offset, unsigned bytes, read_hook hook);

    /// Guest side: naturally aligned 1, 2 or 4 bytes. The caller has checked the range.
    std::uint32_t read(std::size_t offset, unsigned bytes) const;
    void write(std::size_t offset, unsigned bytes, std::uint32_t value);

    /// Hardware side: no masks, no hooks.
    std::uint64_t get(std::size_t offset, unsigned bytes) const;
    void set(std::size_t offset, unsigned bytes, std::uint64_t value);
    void set_bits(std::size_t offset, unsigned bytes, std::uint64_t bits) {
        set(offset, bytes, get(offset, bytes) | bits);
    }
    void clear_bits(std::size_t offset, unsigned bytes, std::uint64_t bits) {
        set(offset, bytes, get(offset, bytes) & ~bits);
    }

    /// Appends a capability to the list at 0x34 (`bytes` long, 4-byte aligned) and returns its offset. The first one
    /// goes to 0x40. \throws std::length_error if the first 256 bytes are full
    std::size_t add_capability(std::uint8_t id, std::size_t bytes);
    /// Appends an extended capability (the first one goes to 0x100).
    std::size_t add_extended_capability(std::uint16_t id, unsigned version, std::size_t bytes);
    /// Offset of a capability, 0 if absent.
    std::size_t find_capability(std::uint8_t id) const;
    std::size_t find_extended_capability(std::uint16_t id) const;

    /// All declared bytes return to their reset values; sticky ones only if `power_on`.
    void reset(bool power_on);

    const std::array<std::uint8_t, size>& bytes() const { return m_value; }

private:
    struct hook {
        std::size_t begin, end;
        write_hook call;
    };
    std::array<std::uint8_t, size> m_value{}, m_reset{}, m_writable{}, m_clearable{}, m_sticky{};
    std::vector<hook> m_hooks, m_read_hooks;
    std::size_t m_next_capability = 0x40, m_last_link = 0x34;
    std::size_t m_next_extended = 0x100, m_last_extended = 0;
};

}  // namespace fabricvp::pcie
