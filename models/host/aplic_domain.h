// SPDX-License-Identifier: Apache-2.0
// One interrupt domain of an advanced PLIC (RISC-V Advanced Interrupt Architecture 1.0, chapter 4). The root domain is
// at machine level and may delegate sources to one child at supervisor level. A domain either signals harts itself
// (direct delivery, with a set of IDC registers a hart) or forwards interrupts as MSIs; which is fixed, as
// domaincfg.DM.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/statistics.h"
#include "base/wire.h"
#include "host/register_target.h"

namespace fabricvp::host {

class aplic_domain final : public register_target {
public:
    /// Sends an MSI; without it, delivery is direct.
    using msi_sender = std::function<void(std::uint64_t address, std::uint32_t data)>;

    device_register domaincfg, sourcecfg;
    device_register mmsiaddrcfg, mmsiaddrcfgh, smsiaddrcfg, smsiaddrcfgh;
    device_register setip, setipnum, in_clrip, clripnum, setie, setienum, clrie, clrienum, setipnum_le, setipnum_be;
    device_register genmsi, target;
    device_register idelivery, iforce, ithreshold, topi, claimi;

    std::vector<wire> external_interrupt;  ///< by hart; direct delivery only

    counter delivered{*this, "delivered", "1", "interrupts forwarded or claimed"};

    /// \param sources highest source number, 1 to 1023
    /// \param parent null: the root domain, at machine level
    aplic_domain(const sc_core::sc_module_name& name, unsigned sources, std::size_t harts, aplic_domain* parent,
                 msi_sender send = {});

    void reset() override;
    /// Drives interrupt line `source` (1 … sources); of the root domain.
    void set_source(unsigned source, bool level);

private:
    struct source_state {
        bool pending = false, enabled = false;
        bool input = false;  // rectified
    };

    outcome access(bus_payload& payload, ticks& latency) override;
    void declare_handlers();
    void declare_address_handlers();
    void declare_delivery_handlers();

    bool exists(std::uint64_t source) const { return source >= 1 && source < m_sources.size(); }
    /// Source mode; inactive where this domain has no say.
    unsigned mode(std::uint64_t source) const;
    bool level_sensitive(std::uint64_t source) const { return mode(source) >= 6; }
    bool delegates(std::uint64_t source) const;
    bool rectified(std::uint64_t source) const;
    void configure(unsigned source, std::uint64_t value);
    void deactivate(unsigned source);
    void wire_changed(unsigned source);
    void set_pending(std::uint64_t source);
    void clear_pending(std::uint64_t source);
    void assign_priority(unsigned source);
    void set_enabled(std::uint64_t source, bool on);
    void for_bits(std::size_t word, std::uint64_t bits, const std::function<void(std::uint64_t)>& action);
    std::uint64_t word_of(std::size_t word, bool source_state::*bit) const;

    bool direct() const { return !m_send; }
    bool interrupts_on() const;
    void update();
    void forward();
    void send_extempore();
    void send_later();
    void send_waiting();
    void message(std::uint64_t hart, std::uint64_t identity);
    std::uint64_t top(std::size_t hart) const;
    std::uint64_t claim(std::size_t hart);

    aplic_domain* m_parent;
    aplic_domain* m_child = nullptr;
    msi_sender m_send;
    std::array<std::uint64_t, 4> m_addresses{};  // mmsiaddrcfg … smsiaddrcfgh, as far as they were not locked
    bool m_sending = false;                      // an MSI, which may lead back here
    bool m_extempore_waits = false;              // until that is over
    calendar_event m_send_waiting{method<&aplic_domain::send_waiting>, this};
    std::vector<bool> m_wires;  // of the root
    std::vector<source_state> m_sources;
};

}  // namespace fabricvp::host
