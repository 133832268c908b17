// SPDX-License-Identifier: Apache-2.0
#include "host/plic.h"

#include <stdexcept>

#include "abi/memory_map.h"
#include "abi/plic.h"

namespace fabricvp::host {

plic::plic(const sc_core::sc_module_name& name, std::size_t sources, std::size_t contexts)
    : register_target(name, VIRT_PLIC_SIZE),
      priority(registers, "priority", PLIC_PRIORITY, 4, 0,
               {{"priority", 0, 3, field_access::read_write, "0: never interrupts; 7: highest"},
                {"reserved", 3, 29, field_access::reserved, ""}},
               {sources + 1}),
      pending(registers, "pending", PLIC_PENDING, 4, 0,
              {{"pending", 0, 32, field_access::read_only, "one bit a source"}}, {words}),
      enable(registers, "enable", PLIC_ENABLE, 4, 0, {}, {contexts * enable_words}),
      threshold(registers, "threshold", PLIC_THRESHOLD, 4, 0,
                {{"threshold", 0, 3, field_access::read_write, "priorities up to this one do not interrupt"},
                 {"reserved", 3, 29, field_access::reserved, ""}},
                {contexts, PLIC_CONTEXT_STRIDE}),
      claim(registers, "claim", PLIC_CLAIM, 4, 0, {}, {contexts, PLIC_CONTEXT_STRIDE}),
      external_interrupt(contexts),
      m_lines(sources + 1),
      m_in_service(sources + 1) {
    if (sources < 1 || sources >= 32 * words) throw std::invalid_argument("a PLIC here has 1 to 127 sources");
    priority.on_write([this](std::size_t source, std::uint64_t) {
        if (source == 0) priority.set(0, 0);
        update();
    });
    enable.on_write([this](std::size_t index, std::uint64_t) {
        enable.set(enable.get(index) & sources_of(index % enable_words), index);
        update();
    });
    threshold.on_write([this](std::size_t, std::uint64_t) { update(); });
    claim.on_read([this](std::size_t context) { return take(context); });
    claim.on_write([this](std::size_t context, std::uint64_t source) {
        claim.set(0, context);
        complete(context, source);
    });
}

void plic::reset() {
    m_in_service.assign(m_in_service.size(), false);
    register_target::reset();
    for (unsigned s = 1; s < m_lines.size(); ++s)
        if (m_lines[s]) request(s);
    update();
}

std::uint64_t plic::sources_of(std::size_t word) const {
    std::uint64_t mask = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
        const auto source = word * 32 + bit;
        if (source >= 1 && source < m_lines.size()) mask |= std::uint64_t{1} << bit;
    }
    return mask;
}

void plic::set_source(unsigned source, bool level) {
    if (source < 1 || source >= m_lines.size()) throw std::invalid_argument("no such interrupt source");
    m_lines[source] = level;
    if (level) {
        request(source);
        update();
    }
}

void plic::set_pending(unsigned source, bool value) {
    const auto word = pending.get(source / 32);
    const auto bit = std::uint64_t{1} << (source % 32);
    pending.set(value ? word | bit : word & ~bit, source / 32);
}

void plic::request(unsigned source) {
    if (!m_in_service[source]) set_pending(source, true);
}

unsigned plic::winner(std::size_t context) const {
    unsigned best = 0;
    std::uint64_t best_priority = 0;
    for (std::size_t w = 0; w < words; ++w) {
        auto candidates = pending.get(w) & enable.get(context * enable_words + w);
        while (candidates) {
            const unsigned source = static_cast<unsigned>(w * 32) + static_cast<unsigned>(__builtin_ctzll(candidates));
            candidates &= candidates - 1;
            if (priority.get(source) > best_priority) {  // equal priorities: the lowest number wins
                best = source;
                best_priority = priority.get(source);
            }
        }
    }
    return best;
}

// The threshold masks the notification, not the claim.
std::uint64_t plic::take(std::size_t context) {
    const auto source = winner(context);
    if (source) {
        set_pending(source, false);
        m_in_service[source] = true;
        ++claims;
        update();
    }
    return source;
}

void plic::complete(std::size_t context, std::uint64_t source) {
    if (source < 1 || source >= m_lines.size()) return;
    if (!(enable.get(context * enable_words + source / 32) >> (source % 32) & 1)) return;
    m_in_service[source] = false;
    if (m_lines[source]) request(static_cast<unsigned>(source));
    update();
}

void plic::update() {
    for (std::size_t c = 0; c < external_interrupt.size(); ++c) {
        const auto source = winner(c);
        external_interrupt[c].drive(source && priority.get(source) > threshold.get(c));
    }
}

}  // namespace fabricvp::host
