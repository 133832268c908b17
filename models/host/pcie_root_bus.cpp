// SPDX-License-Identifier: Apache-2.0
#include "host/pcie_root_bus.h"

#include <algorithm>
#include <cstring>

namespace fabricvp::host {

void pcie_window::attach(pcie::root_complex& root, std::uint64_t base, ticks store) {
    m_root = &root;
    m_base = base;
    m_store = store;
}

/// Whether a store goes on where one of its hart's last streams of stores ends. It makes that stream the latest.
bool pcie_window::combines(const bus_payload& payload) {
    constexpr auto unused = ~std::uint64_t{0};
    const auto* from = payload.get_extension<initiator_extension>();
    const auto* hart = from ? from->initiator : nullptr;
    auto streams = std::find_if(m_streams.begin(), m_streams.end(), [&](const auto& s) { return s.hart == hart; });
    if (streams == m_streams.end()) {
        streams = m_streams.insert(streams, {hart, {}});
        streams->ends.fill(unused);
    }
    auto& ends = streams->ends;
    const auto stream = std::find(ends.begin(), ends.end(), payload.get_address());
    const bool combined = stream != ends.end();
    const auto replaced = combined ? stream : ends.begin();
    std::move(replaced + 1, ends.end(), replaced);
    ends.back() = payload.get_address() + payload.get_data_length();
    return combined;
}

bus_target::outcome pcie_window::unclaimed(bus_payload& payload) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (payload.is_read()) {
        ++unclaimed_reads;
        std::memset(payload.get_data_ptr(), 0xff, payload.get_data_length());
    } else if (payload.is_write()) {
        ++unclaimed_writes;
    } else {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    }
    return outcome::done;
}

bus_target::outcome pcie_window::access(bus_payload& payload, ticks& latency) {
    if (!m_root || m_space == space::io) return unclaimed(payload);
    if (m_space == space::configuration) return configuration(payload);
    const auto address = m_base + payload.get_address();
    if (payload.is_write()) {  // posted: done as soon as the root complex has it
        if (m_store && !combines(payload)) latency += m_store;
        const auto data = allocate_slice(payload.get_data_length());
        std::memcpy(data.data(), payload.get_data_ptr(), data.length);
        m_root->host_write(address, data);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return outcome::done;
    }
    if (payload.is_read()) {
        const auto data = allocate_slice(payload.get_data_length());
        m_pending.push_back(&payload);
        m_root->host_read(address, data, [this, &payload, data](pcie::request_status s) { finish(payload, data, s); });
        return outcome::pending;
    }
    auto* what = payload.get_extension<atomic_extension>();
    return what ? atomic(payload, *what) : unclaimed(payload);
}

bus_target::outcome pcie_window::configuration(bus_payload& payload) {
    const auto offset = payload.get_address();
    const auto bytes = payload.get_data_length();
    if ((!payload.is_read() && !payload.is_write()) || bytes > 4 || offset % bytes) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return outcome::done;
    }
    const auto data = allocate_slice(bytes);
    if (payload.is_write()) std::memcpy(data.data(), payload.get_data_ptr(), bytes);
    m_pending.push_back(&payload);
    m_root->host_configuration(offset, payload.is_write(), data,
                               [this, &payload, data](pcie::request_status s) { finish(payload, data, s); });
    return outcome::pending;
}

bus_target::outcome pcie_window::atomic(bus_payload& payload, atomic_extension& what) {
    using operation = atomic_extension::operation;
    const auto bytes = payload.get_data_length();
    // What the protocol has no AtomicOp for is refused, as hardware does.
    if ((what.op != operation::swap && what.op != operation::add && what.op != operation::compare_swap) ||
        (bytes != 4 && bytes != 8)) {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return outcome::done;
    }
    std::uint64_t operand = 0, compare = 0;
    std::memcpy(&operand, payload.get_data_ptr(), bytes);
    if (what.op == operation::compare_swap) std::memcpy(&compare, payload.get_data_ptr() + bytes, bytes);
    const auto kind = what.op == operation::swap  ? pcie::tlp_kind::swap
                      : what.op == operation::add ? pcie::tlp_kind::fetch_add
                                                  : pcie::tlp_kind::compare_swap;
    const auto data = allocate_slice(bytes);
    m_pending.push_back(&payload);
    m_root->host_atomic(kind, m_base + payload.get_address(), bytes, operand, compare, data,
                        [this, &payload, &what, data](pcie::request_status s) {
                            what.performed = s == pcie::request_status::ok;
                            finish(payload, data, s);
                        });
    return outcome::pending;
}

void pcie_window::finish(bus_payload& payload, const buffer_slice& data, pcie::request_status status) {
    m_pending.erase(std::find(m_pending.begin(), m_pending.end(), &payload));
    if (!payload.is_write()) {
        if (status == pcie::request_status::ok) {
            std::memcpy(payload.get_data_ptr(), data.data(), data.length);
        } else {
            ++unclaimed_reads;
            std::memset(payload.get_data_ptr(), 0xff, data.length);
        }
    } else if (status != pcie::request_status::ok) {
        ++unclaimed_writes;
    }
    // A hart cannot tell a missing function from one that reads all ones; a failed atomic has no such value.
    const bool failed = status != pcie::request_status::ok && payload.get_command() == tlm::TLM_IGNORE_COMMAND;
    payload.set_response_status(failed ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
    complete(payload);
}

unsigned pcie_window::debug_access(bus_payload& payload) {
    const auto length = payload.get_data_length();
    if (m_root && m_space == space::memory) return 0;  // functions are reached by TLPs alone, which take time
    auto* data = payload.get_data_ptr();
    if (payload.is_read()) std::memset(data, 0xff, length);
    if (!m_root || m_space != space::configuration) return length;
    for (unsigned done = 0; done < length;) {
        const auto at = payload.get_address() + done;
        const auto lane = static_cast<unsigned>(at & 3), bytes = std::min(4 - lane, length - done);
        std::uint32_t word = ~std::uint32_t{0};
        auto* part = reinterpret_cast<std::uint8_t*>(&word) + lane;
        if (payload.is_read()) {
            m_root->debug_configuration(at - lane, &word);
            std::memcpy(data + done, part, bytes);
        } else {
            std::memcpy(part, data + done, bytes);
            m_root->debug_configure(at - lane, word, static_cast<std::uint8_t>(((1u << bytes) - 1) << lane));
        }
        done += bytes;
    }
    return length;
}

void pcie_window::reset() {
    for (auto* p : m_pending) abandon(*p);
    m_pending.clear();
    m_streams.clear();
    bus_target::reset();
}

}  // namespace fabricvp::host
