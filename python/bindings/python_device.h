// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "base/bus.h"
#include "platform/machine.h"

namespace fabricvp::python {

class session;

/// A Python object as a target on a node's bus. It is no SystemC module, so that it can join a machine that has run.
class python_device final : private tlm::tlm_fw_transport_if<> {
public:
    /// \param interrupt source of `host` that set_interrupt() drives, 0: none
    python_device(session& owner, pybind11::object object, std::string name, host::host_complex& host,
                  unsigned interrupt);

    tlm::tlm_fw_transport_if<>& target() { return *this; }

    void set_interrupt(bool level);
    bool interrupt_level() const { return m_level; }
    const std::string& name() const { return m_name; }

private:
    tlm::tlm_sync_enum nb_transport_fw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    void b_transport(bus_payload& payload, sc_core::sc_time& delay) override;
    bool get_direct_mem_ptr(bus_payload& payload, tlm::tlm_dmi& dmi) override;
    /// A debugger cannot ask Python code for a value without side effects: no bytes.
    unsigned transport_dbg(bus_payload& payload) override;

    void perform(bus_payload& payload);
    void read(bus_payload& payload);
    void write(bus_payload& payload);

    session& m_session;
    pybind11::object m_object;
    std::string m_name;
    host::host_complex& m_host;
    unsigned m_interrupt;
    bool m_level = false;
};

}  // namespace fabricvp::python
