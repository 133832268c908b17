// SPDX-License-Identifier: Apache-2.0
// What an interrupt domain does with its sources: pending bits (AIA 4.7), signals to harts (4.8), MSIs (4.9).
#include <stdexcept>

#include "abi/aplic.h"
#include "host/aplic_domain.h"

namespace fabricvp::host {

unsigned aplic_domain::mode(std::uint64_t source) const {
    if (m_parent && !m_parent->delegates(source)) return APLIC_SOURCE_INACTIVE;
    return delegates(source) ? unsigned{APLIC_SOURCE_INACTIVE} : static_cast<unsigned>(sourcecfg.get(source - 1) & 7);
}

bool aplic_domain::delegates(std::uint64_t source) const {
    return sourcecfg.get(source - 1) & APLIC_SOURCECFG_DELEGATE;
}

bool aplic_domain::rectified(std::uint64_t source) const {
    const auto m = mode(source);
    if (m < APLIC_SOURCE_EDGE1) return false;
    const bool inverted = m & 1;
    return (m_parent ? m_parent->m_wires : m_wires)[source] != inverted;
}

void aplic_domain::configure(unsigned source, std::uint64_t value) {
    const auto before = mode(source);
    const bool mine = !m_parent || m_parent->delegates(source);
    const auto wanted = value & 7;
    if (!mine)
        value = 0;
    else if (value & APLIC_SOURCECFG_DELEGATE)
        value = m_child ? APLIC_SOURCECFG_DELEGATE : 0;
    else
        value = wanted == 2 || wanted == 3 ? std::uint64_t{APLIC_SOURCE_INACTIVE} : wanted;
    sourcecfg.set(value, source - 1);
    if (m_child && !delegates(source)) m_child->deactivate(source);
    if (mode(source) == APLIC_SOURCE_INACTIVE) {
        deactivate(source);
        sourcecfg.set(value, source - 1);
    } else if (before == APLIC_SOURCE_INACTIVE) {
        assign_priority(source);
    }
    auto& s = m_sources[source];
    s.input = rectified(source);
    if (level_sensitive(source)) s.pending = s.input;
    update();
}

void aplic_domain::deactivate(unsigned source) {
    sourcecfg.set(0, source - 1);
    target.set(0, source - 1);
    m_sources[source] = {};
    update();
}

/// In direct delivery there is no priority 0.
void aplic_domain::assign_priority(unsigned source) {
    if (!direct() || mode(source) == APLIC_SOURCE_INACTIVE) return;
    const auto value = target.get(source - 1);
    if (!(value & APLIC_TARGET_PRIORITY)) target.set(value | 1, source - 1);
}

void aplic_domain::set_source(unsigned source, bool level) {
    if (!exists(source)) throw std::invalid_argument("no such interrupt source");
    m_wires[source] = level;
    wire_changed(source);
    if (m_child) m_child->wire_changed(source);
}

void aplic_domain::wire_changed(unsigned source) {
    auto& s = m_sources[source];
    const bool input = rectified(source);
    if (input == s.input) return;
    s.input = input;
    if (input)
        s.pending = true;
    else if (level_sensitive(source))
        s.pending = false;
    update();
}

void aplic_domain::set_pending(std::uint64_t source) {
    auto& s = m_sources[source];
    if (mode(source) != APLIC_SOURCE_INACTIVE && (!level_sensitive(source) || s.input)) s.pending = true;
}

void aplic_domain::clear_pending(std::uint64_t source) {
    if (!(direct() && level_sensitive(source))) m_sources[source].pending = false;
}

void aplic_domain::set_enabled(std::uint64_t source, bool on) {
    m_sources[source].enabled = on && mode(source) != APLIC_SOURCE_INACTIVE;
}

std::uint64_t aplic_domain::word_of(std::size_t word, bool source_state::*bit) const {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 32 && word * 32 + i < m_sources.size(); ++i)
        if (m_sources[word * 32 + i].*bit) bits |= std::uint64_t{1} << i;
    return bits;
}

bool aplic_domain::interrupts_on() const { return domaincfg() & APLIC_DOMAINCFG_IE; }

void aplic_domain::update() {
    if (!direct()) {
        if (interrupts_on()) forward();
        return;
    }
    for (std::size_t h = 0; h < external_interrupt.size(); ++h)
        external_interrupt[h].drive(interrupts_on() && idelivery.get(h) && (iforce.get(h) || top(h)));
}

void aplic_domain::forward() {
    if (m_sending) return send_later();
    m_sending = true;
    for (std::size_t source = 1; source < m_sources.size(); ++source) {
        auto& s = m_sources[source];
        if (!s.pending || !s.enabled) continue;
        s.pending = false;
        ++delivered;
        const auto to = target.get(source - 1);
        message(to >> APLIC_TARGET_HART_SHIFT, to & APLIC_TARGET_IDENTITY);
    }
    m_sending = false;
}

void aplic_domain::send_extempore() {
    m_extempore_waits = m_sending;
    if (m_sending) return send_later();
    m_sending = true;
    message(genmsi.get() >> APLIC_TARGET_HART_SHIFT, genmsi.get() & APLIC_TARGET_IDENTITY);
    m_sending = false;
}

/// Software may aim MSIs at the registers of a domain. Those that ask for further ones then take time, so that a ring
/// of them neither nests for ever nor holds time up.
void aplic_domain::send_later() {
    constexpr ticks between_messages = 10'000;
    if (!m_send_waiting.scheduled()) schedule(m_send_waiting, now() + between_messages);
}

void aplic_domain::send_waiting() {
    if (m_extempore_waits) send_extempore();
    if (interrupts_on()) forward();
}

void aplic_domain::message(std::uint64_t hart, std::uint64_t identity) {
    const auto& root = m_parent ? m_parent->m_addresses : m_addresses;
    const auto field = [&](unsigned shift, unsigned width) { return root[1] >> shift & ((1u << width) - 1); };
    const auto low_width = field(APLIC_MSIADDR_LHXW_SHIFT, 4), high_width = field(APLIC_MSIADDR_HHXW_SHIFT, 3);
    const auto group = hart >> low_width & ((1u << high_width) - 1), index = hart & ((1u << low_width) - 1);
    const auto* base = m_parent ? &root[2] : &root[0];
    const auto low_shift = base[1] >> APLIC_MSIADDR_LHXS_SHIFT & 7;
    const auto page = (base[1] & APLIC_MSIADDR_PPN_HIGH) << 32 | base[0] |
                      group << (field(APLIC_MSIADDR_HHXS_SHIFT, 5) + 12) | index << low_shift;
    m_send(page << 12, static_cast<std::uint32_t>(identity));
}

std::uint64_t aplic_domain::top(std::size_t hart) const {
    std::uint64_t best = 0, best_priority = ithreshold.get(hart) ? ithreshold.get(hart) : APLIC_TARGET_PRIORITY + 1;
    if (!direct()) return 0;
    for (std::size_t source = 1; source < m_sources.size(); ++source) {
        const auto& s = m_sources[source];
        if (!s.pending || !s.enabled || target.get(source - 1) >> APLIC_TARGET_HART_SHIFT != hart) continue;
        const auto priority = target.get(source - 1) & APLIC_TARGET_PRIORITY;
        if (priority >= best_priority) continue;  // equal priorities: the lowest number wins
        best = source;
        best_priority = priority;
    }
    return best ? best << APLIC_TOPI_SOURCE_SHIFT | best_priority : 0;
}

std::uint64_t aplic_domain::claim(std::size_t hart) {
    const auto value = top(hart);
    if (value) {
        clear_pending(value >> APLIC_TOPI_SOURCE_SHIFT);
        ++delivered;
    } else {
        iforce.set(0, hart);
    }
    update();
    return value;
}

}  // namespace fabricvp::host
