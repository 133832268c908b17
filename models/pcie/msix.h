// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace fabricvp::pcie {

/// MSI-X table and pending bits of one function. An interrupt is a posted write of 4 bytes.
class msix_table {
public:
    static constexpr std::uint32_t pending_offset = 2048;  ///< of the pending bits behind the table's start
    using sender = std::function<void(std::uint64_t address, std::uint32_t data)>;

    msix_table(unsigned vectors, sender send);

    /// True if [offset, offset + bytes) lies in the table or the pending bits; offsets count from the table's start.
    bool claims(std::uint64_t offset, std::uint32_t bytes) const;
    void read(std::uint64_t offset, void* to, std::uint32_t bytes) const;
    void write(std::uint64_t offset, const void* from, std::uint32_t bytes);

    /// Message control's enable and function mask.
    void set_control(bool enabled, bool masked);
    bool enabled() const { return m_enabled; }

    /// Sends vector `v`, or keeps it pending while it is masked.
    void raise(unsigned v);
    void reset();

private:
    struct entry {
        std::uint64_t address;
        std::uint32_t data;
        std::uint32_t control;  // bit 0: masked
    };
    static_assert(sizeof(entry) == 16);
    void send_pending();

    std::vector<entry> m_table;
    std::vector<std::uint64_t> m_pending;
    bool m_enabled = false, m_masked = false;
    sender m_send;
};

}  // namespace fabricvp::pcie
