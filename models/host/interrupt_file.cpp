// SPDX-License-Identifier: Apache-2.0
#include "host/interrupt_file.h"

#include <stdexcept>

#include <fmt/format.h>

#include "abi/imsic.h"

namespace fabricvp::host {

namespace {
constexpr bool in(unsigned n, unsigned first, unsigned count) { return n >= first && n < first + count; }
}  // namespace

interrupt_file::interrupt_file(unsigned identities) : m_identities(identities) {
    if (identities < 63 || identities > IMSIC_HIGHEST_IDENTITY || identities % 64 != 63)
        throw std::invalid_argument(
            fmt::format("imsic: identities is {}: give one less than a multiple of 64, 63 to 2047", identities));
}

std::uint64_t interrupt_file::implemented(unsigned word) const {
    if (word * 64 > m_identities) return 0;
    return word == 0 ? ~std::uint64_t{1} : ~std::uint64_t{0};
}

std::uint64_t interrupt_file::threshold_mask() const {
    std::uint64_t mask = 63;
    while (mask < m_identities) mask = 2 * mask + 1;
    return mask;
}

bool interrupt_file::set_pending(std::uint64_t identity) {
    if (identity == 0 || identity > m_identities) return false;
    m_pending[identity / 64] |= std::uint64_t{1} << identity % 64;
    update();
    return true;
}

std::uint64_t interrupt_file::top() const {
    for (unsigned w = 0; w * 64 <= m_identities; ++w) {
        const auto candidates = m_pending[w] & m_enabled[w];
        if (!candidates) continue;
        const auto identity = w * 64 + static_cast<unsigned>(__builtin_ctzll(candidates));
        if (m_threshold && identity >= m_threshold) return 0;
        return std::uint64_t{identity} << IMSIC_TOPEI_IDENTITY_SHIFT | identity;
    }
    return 0;
}

void interrupt_file::claim() {
    const auto identity = top() >> IMSIC_TOPEI_IDENTITY_SHIFT;
    if (!identity) return;
    m_pending[identity / 64] &= ~(std::uint64_t{1} << identity % 64);
    update();
}

bool interrupt_file::read(unsigned select, std::uint64_t& value) const {
    value = 0;  // of reserved numbers too
    if (select == IMSIC_EIDELIVERY)
        value = m_delivery;
    else if (select == IMSIC_EITHRESHOLD)
        value = m_threshold;
    else if (in(select, IMSIC_EIP0, 2 * words) && !(select & 1))
        value = m_pending[(select - IMSIC_EIP0) / 2];
    else if (in(select, IMSIC_EIE0, 2 * words) && !(select & 1))
        value = m_enabled[(select - IMSIC_EIE0) / 2];
    else
        return select < IMSIC_EIP0;
    return true;
}

bool interrupt_file::write(unsigned select, std::uint64_t value) {
    if (select >= IMSIC_EIP0 && select & 1) return false;
    if (select == IMSIC_EIDELIVERY) {
        m_delivery = value & 1;
    } else if (select == IMSIC_EITHRESHOLD) {
        m_threshold = value & threshold_mask();
    } else if (in(select, IMSIC_EIP0, 2 * words)) {
        const auto word = (select - IMSIC_EIP0) / 2;
        m_pending[word] = value & implemented(word);
    } else if (in(select, IMSIC_EIE0, 2 * words)) {
        const auto word = (select - IMSIC_EIE0) / 2;
        m_enabled[word] = value & implemented(word);
    }
    update();
    return true;
}

void interrupt_file::update() { external_interrupt.drive(m_delivery && top()); }

void interrupt_file::reset() {
    m_pending.fill(0);
    m_enabled.fill(0);
    m_delivery = m_threshold = 0;
    update();
}

}  // namespace fabricvp::host
