// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "base/bus.h"
#include "base/statistics.h"
#include "pcie/root_complex.h"

namespace fabricvp::host {

/// A window through which harts reach PCI Express. Without a root complex behind it, it is that of an empty bus: what
/// no function claims reads as all ones, in configuration space so that software sees no function there, and writes are
/// dropped (PCI Express Base Specification 6.0, 2.3.2).
class pcie_window final : public bus_target {
public:
    enum class space { configuration, memory, io };

    counter unclaimed_reads{*this, "unclaimed_reads", "1", "reads answered with all ones"};
    counter unclaimed_writes{*this, "unclaimed_writes", "1", "writes dropped"};

    explicit pcie_window(const sc_core::sc_module_name& name, space kind) : bus_target(name), m_space(kind) {}

    /// \param base bus address of the window's first byte
    /// \param store what a store to device memory takes its hart, unless a write-combining buffer has its place
    void attach(pcie::root_complex& root, std::uint64_t base, ticks store = 0);

    void reset() override;

private:
    outcome access(bus_payload& payload, ticks& latency) override;
    unsigned debug_access(bus_payload& payload) override;
    outcome unclaimed(bus_payload& payload);
    bool combines(const bus_payload& payload);
    outcome configuration(bus_payload& payload);
    outcome atomic(bus_payload& payload, atomic_extension& what);
    void finish(bus_payload& payload, const buffer_slice& data, pcie::request_status status);

    space m_space;
    pcie::root_complex* m_root = nullptr;
    std::uint64_t m_base = 0;
    std::vector<bus_payload*> m_pending;

    /// A hart's write-combining buffers: where its last streams of stores end, the oldest first.
    struct store_streams {
        const sc_core::sc_object* hart;
        std::array<std::uint64_t, 8> ends;
    };
    ticks m_store = 0;
    std::vector<store_streams> m_streams;
};

/// PCI Express host bridge (generic ECAM): the host's side of a root complex, if there is one.
class pcie_root_bus final : public model {
public:
    pcie_window ecam{"ecam", pcie_window::space::configuration};
    pcie_window pio{"pio", pcie_window::space::io};
    pcie_window mmio32{"mmio32", pcie_window::space::memory};
    pcie_window mmio64{"mmio64", pcie_window::space::memory};

    explicit pcie_root_bus(const sc_core::sc_module_name& name) : model(name) {}
};

}  // namespace fabricvp::host
