// SPDX-License-Identifier: Apache-2.0
// The mirror image of a bus target: issues single accesses and keeps what came back.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/bus.h"
#include "base/calendar.h"

namespace fabricvp::test {

class bus_master : public sc_core::sc_module, private tlm::tlm_bw_transport_if<> {
public:
    bus_initiator_socket socket{"socket"};

    explicit bus_master(const sc_core::sc_module_name& name) : sc_module(name) {
        socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
        m_sender.initiator = this;
    }

    tlm::tlm_response_status last_status = tlm::TLM_OK_RESPONSE;
    ticks last_latency = 0;
    bool last_completed = true;      ///< false: the target answered later or not yet
    unsigned responses = 0;          ///< answers on the backward path
    std::uint64_t last_address = 0;  ///< as the payload has it after completion

    template <class T>
    T read(std::uint64_t address) {
        T value{};
        transfer(tlm::TLM_READ_COMMAND, address, &value, sizeof value);
        return value;
    }
    template <class T>
    void write(std::uint64_t address, T value) {
        transfer(tlm::TLM_WRITE_COMMAND, address, &value, sizeof value);
    }
    std::uint8_t read8(std::uint64_t a) { return read<std::uint8_t>(a); }
    std::uint32_t read32(std::uint64_t a) { return read<std::uint32_t>(a); }
    std::uint64_t read64(std::uint64_t a) { return read<std::uint64_t>(a); }
    void write8(std::uint64_t a, std::uint8_t v) { write(a, v); }
    void write32(std::uint64_t a, std::uint32_t v) { write(a, v); }
    void write64(std::uint64_t a, std::uint64_t v) { write(a, v); }

    void transfer(tlm::tlm_command command, std::uint64_t address, void* data, unsigned size) {
        send(prepare(command, address, data, size));
    }

    /// \returns the old value, if the target answered at once; `operand` is followed by `compare` for compare_swap.
    std::uint64_t atomic(atomic_extension::operation op, std::uint64_t address, unsigned size, std::uint64_t operand,
                         std::uint64_t compare = 0) {
        std::memcpy(m_operands, &operand, size);
        std::memcpy(m_operands + size, &compare, size);
        auto* payload = prepare(tlm::TLM_IGNORE_COMMAND, address, m_operands, size);
        last_atomic = atomic_extension{};
        last_atomic.op = op;
        payload->set_extension(&last_atomic);
        send(payload);
        std::uint64_t old = 0;
        std::memcpy(&old, m_operands, size);
        return old;
    }
    atomic_extension last_atomic;

    unsigned debug(tlm::tlm_command command, std::uint64_t address, void* data, unsigned size) {
        auto* payload = prepare(command, address, data, size);
        const auto done = socket->transport_dbg(*payload);
        payload->clear_extension(&m_sender);
        payload->release();
        return done;
    }

private:
    bus_payload* prepare(tlm::tlm_command command, std::uint64_t address, void* data, unsigned size) {
        auto* payload = allocate_payload();
        payload->acquire();
        payload->set_command(command);
        payload->set_address(address);
        payload->set_data_ptr(static_cast<std::uint8_t*>(data));
        payload->set_data_length(size);
        payload->set_streaming_width(size);
        payload->set_byte_enable_ptr(nullptr);
        payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        payload->set_extension(&m_sender);
        return payload;
    }

    void send(bus_payload* payload) {
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay;
        const auto result = socket->nb_transport_fw(*payload, phase, delay);
        last_completed = result == tlm::TLM_COMPLETED;
        if (last_completed) finish(*payload, delay);
    }

    void finish(bus_payload& payload, const sc_core::sc_time& delay) {
        note(payload, delay);
        payload.clear_extension(&m_sender);
        payload.clear_extension(&last_atomic);
        payload.release();
    }

    void note(const bus_payload& payload, const sc_core::sc_time& delay) {
        last_status = payload.get_response_status();
        last_latency = delay.value();
        last_address = payload.get_address();
    }

    tlm::tlm_sync_enum nb_transport_bw(bus_payload& payload, tlm::tlm_phase&, sc_core::sc_time& delay) override {
        ++responses;
        finish(payload, delay);
        return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    initiator_extension m_sender;
    std::uint8_t m_operands[16] = {};
};

/// Lets simulated time pass: a calendar without anything to do would not move.
class stopwatch {
public:
    void run_until(ticks t) {
        calendar::current().schedule(m_end, t);
        calendar::current().run_until(t);
    }
    void run_for(ticks t) { run_until(calendar::current().now() + t); }

private:
    void nothing() {}
    calendar_event m_end{method<&stopwatch::nothing>, this};
};

/// One device and one master, elaborated once a process; each test case starts with reset().
template <class Device>
struct device_bench {
    calendar cal{"calendar"};
    Device device;
    bus_master master{"master"};

    template <class... Args>
    explicit device_bench(Args&&... args) : device("device", std::forward<Args>(args)...) {
        master.socket.bind(device.bus);
        cal.run_until(0);
    }
    void run_for(ticks t) { watch.run_for(t); }
    stopwatch watch;
};

}  // namespace fabricvp::test
