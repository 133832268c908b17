// SPDX-License-Identifier: Apache-2.0
#include "host/aplic_domain.h"

#include <stdexcept>
#include <utility>

#include "abi/aplic.h"
#include "abi/memory_map.h"

namespace fabricvp::host {

namespace {
constexpr unsigned highest_source = 1023;

std::vector<register_field> word(const char* help) { return {{"bits", 0, 32, field_access::read_write, help}}; }
std::vector<register_field> number(const char* help) { return {{"source", 0, 32, field_access::write_only, help}}; }
}  // namespace

aplic_domain::aplic_domain(const sc_core::sc_module_name& name, unsigned sources, std::size_t harts,
                           aplic_domain* parent, msi_sender send)
    : register_target(name, VIRT_APLIC_SIZE),
      domaincfg(registers, "domaincfg", APLIC_DOMAINCFG, 4, APLIC_DOMAINCFG_READ_ONLY | (send ? APLIC_DOMAINCFG_DM : 0),
                {{"BE", 0, 1, field_access::read_only, "little-endian"},
                 {"DM", 2, 1, field_access::read_only, "1: MSI delivery, 0: direct"},
                 {"IE", 8, 1, field_access::read_write, "interrupts are delivered"},
                 {"constant", 24, 8, field_access::read_only, "0x80"}}),
      sourcecfg(registers, "sourcecfg", APLIC_SOURCECFG, 4, 0,
                {{"SM", 0, 3, field_access::read_write, "source mode"},
                 {"D", 10, 1, field_access::read_write, "delegated to the child domain"}},
                {sources}),
      mmsiaddrcfg(registers, "mmsiaddrcfg", APLIC_MMSIADDRCFG, 4, 0, word("low base PPN")),
      mmsiaddrcfgh(registers, "mmsiaddrcfgh", APLIC_MMSIADDRCFGH, 4, 0,
                   {{"PPN", 0, 12, field_access::read_write, "high base PPN"},
                    {"LHXW", 12, 4, field_access::read_write, "low hart index width"},
                    {"HHXW", 16, 3, field_access::read_write, "high hart index width"},
                    {"LHXS", 20, 3, field_access::read_write, "low hart index shift"},
                    {"HHXS", 24, 5, field_access::read_write, "high hart index shift, less 12"},
                    {"L", 31, 1, field_access::read_write, "locks these four registers until reset"}}),
      smsiaddrcfg(registers, "smsiaddrcfg", APLIC_SMSIADDRCFG, 4, 0, word("low base PPN")),
      smsiaddrcfgh(registers, "smsiaddrcfgh", APLIC_SMSIADDRCFGH, 4, 0,
                   {{"PPN", 0, 12, field_access::read_write, "high base PPN"},
                    {"LHXS", 20, 3, field_access::read_write, "low hart index shift"}}),
      setip(registers, "setip", APLIC_SETIP, 4, 0, word("pending; ones set"), {sources / 32 + 1}),
      setipnum(registers, "setipnum", APLIC_SETIPNUM, 4, 0, number("becomes pending")),
      in_clrip(registers, "in_clrip", APLIC_IN_CLRIP, 4, 0, word("rectified inputs; ones clear what is pending"),
               {sources / 32 + 1}),
      clripnum(registers, "clripnum", APLIC_CLRIPNUM, 4, 0, number("is no longer pending")),
      setie(registers, "setie", APLIC_SETIE, 4, 0, word("enabled; ones set"), {sources / 32 + 1}),
      setienum(registers, "setienum", APLIC_SETIENUM, 4, 0, number("is enabled")),
      clrie(registers, "clrie", APLIC_CLRIE, 4, 0, number("ones disable"), {sources / 32 + 1}),
      clrienum(registers, "clrienum", APLIC_CLRIENUM, 4, 0, number("is disabled")),
      setipnum_le(registers, "setipnum_le", APLIC_SETIPNUM_LE, 4, 0, number("becomes pending")),
      setipnum_be(registers, "setipnum_be", APLIC_SETIPNUM_BE, 4, 0,
                  {{"source", 0, 32, field_access::reserved, "big-endian; ignored"}}),
      genmsi(registers, "genmsi", APLIC_GENMSI, 4, 0,
             {{"EIID", 0, 11, field_access::read_write, "identity"},
              {"busy", 12, 1, field_access::read_only, "never: an MSI is sent at once"},
              {"hart", 18, 14, field_access::read_write, "target"}}),
      target(registers, "target", APLIC_TARGET, 4, 0,
             {{"EIID", 0, 11, field_access::read_write, "identity, or priority in direct delivery"},
              {"hart", 18, 14, field_access::read_write, "target"}},
             {sources}),
      idelivery(registers, "idelivery", APLIC_IDELIVERY, 4, 0,
                {{"enable", 0, 1, field_access::read_write, "the hart is signalled"}}, {harts, APLIC_IDC_STRIDE}),
      iforce(registers, "iforce", APLIC_IFORCE, 4, 0,
             {{"force", 0, 1, field_access::read_write, "signal a spurious interrupt"}}, {harts, APLIC_IDC_STRIDE}),
      ithreshold(
          registers, "ithreshold", APLIC_ITHRESHOLD, 4, 0,
          {{"priority", 0, 8, field_access::read_write, "this one and higher numbers do not interrupt; 0: all do"}},
          {harts, APLIC_IDC_STRIDE}),
      topi(registers, "topi", APLIC_TOPI, 4, 0, {{"source", 0, 32, field_access::read_only, "source << 16 | priority"}},
           {harts, APLIC_IDC_STRIDE}),
      claimi(registers, "claimi", APLIC_CLAIMI, 4, 0,
             {{"source", 0, 32, field_access::read_only, "topi, which a read claims"}}, {harts, APLIC_IDC_STRIDE}),
      external_interrupt(harts),
      m_parent(parent),
      m_send(std::move(send)),
      m_wires(sources + 1),
      m_sources(sources + 1) {
    if (sources < 1 || sources > highest_source) throw std::invalid_argument("an APLIC has 1 to 1023 sources");
    if (m_parent) m_parent->m_child = this;
    declare_handlers();
    declare_address_handlers();
    declare_delivery_handlers();
}

void aplic_domain::for_bits(std::size_t word, std::uint64_t bits, const std::function<void(std::uint64_t)>& action) {
    for (unsigned i = 0; i < 32; ++i)
        if (bits >> i & 1 && exists(word * 32 + i)) action(word * 32 + i);
    update();
}

void aplic_domain::declare_handlers() {
    domaincfg.on_write([this](std::size_t, std::uint64_t) { update(); });
    sourcecfg.on_write([this](std::size_t i, std::uint64_t value) { configure(static_cast<unsigned>(i + 1), value); });

    const auto set = [this](std::uint64_t source) { set_pending(source); };
    const auto clear = [this](std::uint64_t source) { clear_pending(source); };
    const auto enable = [this](std::uint64_t source) { set_enabled(source, true); };
    const auto disable = [this](std::uint64_t source) { set_enabled(source, false); };
    const auto words = [this](device_register& r, auto action) {
        r.on_write([this, action](std::size_t w, std::uint64_t bits) { for_bits(w, bits, action); });
    };
    const auto numbers = [this](device_register& r, auto action) {
        r.on_write([this, action](std::size_t, std::uint64_t source) {
            if (exists(source)) action(source);
            update();
        });
    };
    const auto shows = [this](device_register& r, bool source_state::*bit) {
        const auto value = [this, bit](std::size_t w) { return word_of(w, bit); };
        r.on_read(value).on_debug_read(value);
    };
    words(setip, set);
    words(in_clrip, clear);
    words(setie, enable);
    words(clrie, disable);
    numbers(setipnum, set);
    numbers(setipnum_le, set);
    numbers(clripnum, clear);
    numbers(setienum, enable);
    numbers(clrienum, disable);
    shows(setip, &source_state::pending);
    shows(in_clrip, &source_state::input);
    shows(setie, &source_state::enabled);
}

// Only the root of an APLIC that forwards MSIs has these, and software may lock them.
void aplic_domain::declare_address_handlers() {
    std::size_t i = 0;
    for (auto* r : {&mmsiaddrcfg, &mmsiaddrcfgh, &smsiaddrcfg, &smsiaddrcfgh}) {
        auto* kept = &m_addresses[i++];
        r->on_write([this, r, kept](std::size_t, std::uint64_t) {
            const bool locked = m_addresses[1] & APLIC_MSIADDR_LOCK;
            if (m_parent || direct() || locked)
                r->set(*kept);
            else
                *kept = r->get();
        });
    }
}

void aplic_domain::declare_delivery_handlers() {
    genmsi.on_write([this](std::size_t, std::uint64_t) {
        if (direct())
            genmsi.set(0);
        else
            send_extempore();
    });
    target.on_write([this](std::size_t i, std::uint64_t) {
        auto value = mode(i + 1) == APLIC_SOURCE_INACTIVE ? 0 : target.get(i);
        if (value && direct()) value &= ~std::uint64_t{APLIC_TARGET_IDENTITY & ~APLIC_TARGET_PRIORITY};
        target.set(value, i);
        assign_priority(static_cast<unsigned>(i + 1));
        update();
    });
    for (auto* r : {&idelivery, &iforce, &ithreshold})
        r->on_write([this, r](std::size_t hart, std::uint64_t) {
            if (!direct()) r->set(0, hart);
            update();
        });
    const auto shows_top = [this](std::size_t hart) { return top(hart); };
    topi.on_read(shows_top).on_debug_read(shows_top);
    claimi.on_read([this](std::size_t hart) { return claim(hart); }).on_debug_read(shows_top);
}

// Aligned words only; all else is a bus error (AIA 4.5).
bus_target::outcome aplic_domain::access(bus_payload& payload, ticks& latency) {
    if (payload.get_data_length() != 4 || payload.get_address() % 4) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return outcome::done;
    }
    return register_target::access(payload, latency);
}

void aplic_domain::reset() {
    m_sources.assign(m_sources.size(), {});
    m_addresses.fill(0);
    m_extempore_waits = false;
    cancel(m_send_waiting);
    register_target::reset();
    update();
}

}  // namespace fabricvp::host
