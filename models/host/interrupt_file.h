// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/wire.h"

namespace fabricvp::host {

/// One interrupt file of an IMSIC: pending and enable bits of identities 1 … n, where lower identities have higher
/// priority (RISC-V Advanced Interrupt Architecture 1.0, 3.8 and 3.9).
class interrupt_file {
public:
    wire external_interrupt;

    /// \param identities 63, 127, … 2047
    /// \throws std::invalid_argument for other numbers
    explicit interrupt_file(unsigned identities);

    /// An MSI arrives. Numbers that are not implemented are ignored. \returns whether this one was taken
    bool set_pending(std::uint64_t identity);
    /// mtopei or stopei
    std::uint64_t top() const;
    void claim();
    /// Registers 0x70 … 0xff of an RV64 hart. \returns false where there is none
    bool read(unsigned select, std::uint64_t& value) const;
    bool write(unsigned select, std::uint64_t value);
    void reset();

    unsigned identities() const { return m_identities; }
    bool pending(unsigned identity) const { return m_pending[identity / 64] >> identity % 64 & 1; }

private:
    static constexpr unsigned words = 32;

    std::uint64_t implemented(unsigned word) const;
    std::uint64_t threshold_mask() const;
    void update();

    unsigned m_identities;
    std::array<std::uint64_t, words> m_pending{}, m_enabled{};
    std::uint64_t m_delivery = 0, m_threshold = 0;
};

}  // namespace fabricvp::host
