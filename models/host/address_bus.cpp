// SPDX-License-Identifier: Apache-2.0
#include "host/address_bus.h"

#include <algorithm>

#include "base/log.h"

namespace fabricvp::host {

namespace {
/// What came of an access, for people.
const char* text_of(tlm::tlm_response_status status) {
    switch (status) {
        case tlm::TLM_ADDRESS_ERROR_RESPONSE: return "reaches nothing";
        case tlm::TLM_COMMAND_ERROR_RESPONSE: return "is none that its target takes";
        case tlm::TLM_BURST_ERROR_RESPONSE: return "has a size or an alignment that its target does not take";
        case tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE: return "has byte enables, which its target does not take";
        default: return "failed";
    }
}
}  // namespace

void address_bus_params::describe(parameter_visitor& v) {
    v.field("latency", latency, between{0, 1e9},
            "time an access takes on the interconnect, request and response together");
}

address_bus::address_bus(const sc_core::sc_module_name& name, const address_bus_params& p)
    : model(name), params(p), m_latency(sc_core::sc_time::from_value(p.latency)) {
    from_harts.register_nb_transport_fw(this, &address_bus::hart_request);
    from_harts.register_b_transport(this, &address_bus::hart_blocking);
    from_harts.register_transport_dbg(this, &address_bus::debug);
    from_devices.register_nb_transport_fw(this, &address_bus::device_request);
    from_devices.register_b_transport(this, &address_bus::device_blocking);
    from_devices.register_transport_dbg(this, &address_bus::debug);
    to_targets.register_nb_transport_bw(this, &address_bus::response);
}

void address_bus::check_free(const std::string& name, std::uint64_t base, std::uint64_t size) const {
    if (size == 0 || base + (size - 1) < base)
        throw std::invalid_argument(
            fmt::format("address range of {} ({:#x}, {:#x} bytes) is empty or wraps", name, base, size));
    for (const auto& r : m_ranges)
        if (base <= r.last() && r.base <= base + (size - 1))
            throw std::invalid_argument(
                fmt::format("address range of {} ({:#x}, {:#x} bytes) overlaps that of {} ({:#x}, {:#x} bytes)", name,
                            base, size, r.value.name, r.base, r.size));
}

void address_bus::map(const std::string& name, std::uint64_t base, std::uint64_t size, bus_target_socket& target,
                      sparse_memory* memory) {
    check_free(name, base, size);
    to_targets.bind(target);
    m_ranges.add(base, size, target_range{name, m_targets++, &target.get_base_interface(), memory});
}

void address_bus::map(const std::string& name, std::uint64_t base, std::uint64_t size,
                      tlm::tlm_fw_transport_if<>& target) {
    check_free(name, base, size);
    m_ranges.add(base, size, target_range{name, m_targets++, &target, nullptr});
}

tlm::tlm_sync_enum address_bus::hart_request(int id, bus_payload& payload, tlm::tlm_phase& phase,
                                             sc_core::sc_time& delay) {
    return request(side::hart, id, payload, phase, delay);
}

tlm::tlm_sync_enum address_bus::device_request(int id, bus_payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
    return request(side::device, id, payload, phase, delay);
}

void address_bus::hart_blocking(int id, bus_payload& payload, sc_core::sc_time& delay) {
    blocking(side::hart, id, payload, delay);
}

void address_bus::device_blocking(int id, bus_payload& payload, sc_core::sc_time& delay) {
    blocking(side::device, id, payload, delay);
}

const address_map<address_bus::target_range>::range* address_bus::decode(side from, int id, bus_payload& payload) {
    const auto address = payload.get_address();
    const auto length = payload.get_data_length();
    const auto* range = m_ranges.find(address);
    if (!range || length == 0 || length - 1 > range->last() - address) {
        if (m_recording && from == side::hart) m_touched["unmapped"].emplace(address, length);
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        note_response(from, id, payload, address);
        return nullptr;
    }
    const auto offset = address - range->base;
    if (payload.is_read())
        ++reads;
    else if (payload.is_write())
        ++writes;
    else
        ++atomics;
    bytes += length;
    if (range->value.memory) {
        if (from == side::device) {
            range->value.memory->touch_by_device(offset, length);
            if (on_device_write && !payload.is_read()) on_device_write(address, length);
        } else {
            range->value.memory->reached_by_hart(offset);
        }
    } else if (m_recording && from == side::hart) {
        m_touched[range->value.name].emplace(offset, length);
    }
    payload.set_address(offset);
    return range;
}

tlm::tlm_sync_enum address_bus::request(side from, int id, bus_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;  // END_RESP of initiators that insist on it
    const auto address = payload.get_address();
    const auto* range = decode(from, id, payload);
    if (!range) {
        delay += m_latency;
        return tlm::TLM_COMPLETED;
    }
    // Registered before the call, since a target may answer within it.
    m_in_flight.push_back({&payload, address, from, id});
    const auto result = range->value.target->nb_transport_fw(payload, phase, delay);
    if (result == tlm::TLM_ACCEPTED || (result == tlm::TLM_UPDATED && phase == tlm::END_REQ)) return tlm::TLM_ACCEPTED;

    const auto entry =
        std::find_if(m_in_flight.begin(), m_in_flight.end(), [&](const in_flight& f) { return f.payload == &payload; });
    if (entry != m_in_flight.end()) m_in_flight.erase(entry);
    payload.set_address(address);
    delay += m_latency;
    note_response(from, id, payload, address);
    return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum address_bus::response(int, bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    const auto entry =
        std::find_if(m_in_flight.begin(), m_in_flight.end(), [&](const in_flight& f) { return f.payload == &payload; });
    if (entry == m_in_flight.end()) return tlm::TLM_COMPLETED;  // completed twice: harmless
    const auto f = *entry;
    m_in_flight.erase(entry);
    payload.set_address(f.address);
    delay += m_latency;
    note_response(f.from, f.id, payload, f.address);
    auto* up = f.from == side::hart ? from_harts[f.id] : from_devices[f.id];
    up->nb_transport_bw(payload, phase, delay);
    return tlm::TLM_COMPLETED;
}

void address_bus::blocking(side from, int id, bus_payload& payload, sc_core::sc_time& delay) {
    const auto address = payload.get_address();
    const auto* range = decode(from, id, payload);
    if (range) {
        range->value.target->b_transport(payload, delay);
        payload.set_address(address);
        note_response(from, id, payload, address);
    }
    delay += m_latency;
}

void address_bus::note_response(side from, int id, const bus_payload& payload, std::uint64_t address) {
    const auto status = payload.get_response_status();
    if (status == tlm::TLM_OK_RESPONSE || status == tlm::TLM_INCOMPLETE_RESPONSE)
        return;  // incomplete: ended by a reset
    ++errors;
    const auto* sender = payload.get_extension<initiator_extension>();
    const std::string initiator = sender && sender->initiator
                                      ? sender->initiator->name()
                                      : fmt::format("{}[{}]", from == side::hart ? "from_harts" : "from_devices", id);
    if (!m_reported.emplace(initiator, payload.get_command(), status).second) return;
    const char* what = payload.is_read() ? "read" : payload.is_write() ? "write" : "atomic access";
    log(log_level::warning, *this, "{}: {} of {} bytes at {:#x} {}; its further ones are only counted ({}.errors)",
        initiator, what, payload.get_data_length(), address, text_of(status), name());
}

unsigned address_bus::debug(int, bus_payload& payload) { return debug_transport(payload); }

unsigned address_bus::debug_transport(bus_payload& payload) {
    const auto address = payload.get_address();
    const auto length = payload.get_data_length();
    const auto* range = m_ranges.find(address);
    if (!range) return 0;
    const std::uint64_t room = range->last() - address;  // one less than the bytes there are
    payload.set_address(address - range->base);
    payload.set_data_length(static_cast<unsigned>(length == 0 || length - 1 <= room ? length : room + 1));
    const auto done = range->value.target->transport_dbg(payload);
    payload.set_address(address);
    payload.set_data_length(length);
    return done;
}

std::size_t address_bus::debug_transfer(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data,
                                        std::size_t size) {
    bus_payload payload;
    std::size_t done = 0;
    while (done < size) {
        payload.set_command(command);
        payload.set_address(address + done);
        payload.set_data_ptr(data + done);
        payload.set_data_length(static_cast<unsigned>(std::min<std::size_t>(size - done, 1u << 30)));
        payload.set_streaming_width(payload.get_data_length());
        const auto step = debug_transport(payload);
        if (step == 0) break;
        done += step;
    }
    return done;
}

std::size_t address_bus::debug_read(std::uint64_t address, void* to, std::size_t size) {
    return debug_transfer(tlm::TLM_READ_COMMAND, address, static_cast<std::uint8_t*>(to), size);
}

std::size_t address_bus::debug_write(std::uint64_t address, const void* from, std::size_t size) {
    // A write command only reads through the pointer.
    return debug_transfer(tlm::TLM_WRITE_COMMAND, address,
                          const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(from)), size);
}

void address_bus::reset() {
    // What is under way stays known: its target ends it, at its own reset or later.
    m_reported.clear();
    model::reset();
}

}  // namespace fabricvp::host
