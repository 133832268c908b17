// SPDX-License-Identifier: Apache-2.0
#include "bindings/python_device.h"

#include <cstring>
#include <stdexcept>
#include <utility>

#include "bindings/session.h"

namespace fabricvp::python {

namespace py = pybind11;

python_device::python_device(session& owner, py::object object, std::string name, host::host_complex& host,
                             unsigned interrupt)
    : m_session(owner), m_object(std::move(object)), m_name(std::move(name)), m_host(host), m_interrupt(interrupt) {}

void python_device::set_interrupt(bool level) {
    if (!m_interrupt) throw std::logic_error("this device was added without an interrupt");
    m_level = level;
    m_host.set_interrupt_source(m_interrupt, level);
}

tlm::tlm_sync_enum python_device::nb_transport_fw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase == tlm::BEGIN_REQ) perform(payload);
    return tlm::TLM_COMPLETED;
}

void python_device::b_transport(bus_payload& payload, sc_core::sc_time&) { perform(payload); }

bool python_device::get_direct_mem_ptr(bus_payload&, tlm::tlm_dmi& dmi) {
    dmi.allow_none();
    return false;
}

unsigned python_device::transport_dbg(bus_payload&) { return 0; }

void python_device::perform(bus_payload& payload) {
    const auto size = payload.get_data_length();
    if (payload.get_byte_enable_ptr()) {
        payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        return;
    }
    if (size != 1 && size != 2 && size != 4 && size != 8) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    if (!payload.is_read() && !payload.is_write()) {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return;
    }
    py::gil_scoped_acquire gil;
    try {
        if (payload.is_read())
            read(payload);
        else
            write(payload);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    } catch (py::error_already_set&) {
        m_session.fail(std::current_exception());
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
}

void python_device::read(bus_payload& payload) {
    const auto size = payload.get_data_length();
    const py::object value = m_object.attr("read")(payload.get_address(), size);
    const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!number) throw py::error_already_set();
    const unsigned long long bits = PyLong_AsUnsignedLongLongMask(number.ptr());
    if (bits == ~0ULL && PyErr_Occurred()) throw py::error_already_set();
    std::memcpy(payload.get_data_ptr(), &bits, size);
}

void python_device::write(bus_payload& payload) {
    std::uint64_t value = 0;
    std::memcpy(&value, payload.get_data_ptr(), payload.get_data_length());
    m_object.attr("write")(payload.get_address(), payload.get_data_length(), value);
}

}  // namespace fabricvp::python
