// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "base/model.h"
#include "gpu/memory/transfer_port.h"

namespace fabricvp::test {

/// Memory of a host that no bus leads to: 1 µs after it was asked, one range after the other. Beyond its end is
/// nothing.
class host_port final : public model, public gpu::transfer_port {
public:
    std::vector<std::uint8_t> bytes;
    std::size_t max_waiting = 0;
    unsigned reads = 0, writes = 0;

    host_port(const sc_core::sc_module_name& name, std::size_t size) : model(name), bytes(size) {}

    void read(std::uint64_t physical, const buffer_slice& data, gpu::transfer_client& client,
              std::uint64_t cookie) override {
        ++reads;
        add({physical, data, &client, cookie, false});
    }
    void write(std::uint64_t physical, const buffer_slice& data, gpu::transfer_client& client,
               std::uint64_t cookie) override {
        ++writes;
        add({physical, data, &client, cookie, true});
    }
    template <class T>
    void poke(std::uint64_t at, const T& value) {
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }
    template <class T>
    T peek(std::uint64_t at) const {
        T value;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        return value;
    }

private:
    struct transfer {
        std::uint64_t at;
        buffer_slice data;
        gpu::transfer_client* client;
        std::uint64_t cookie;
        bool write;
    };
    void add(transfer t) {
        m_waiting.push_back(std::move(t));
        max_waiting = std::max(max_waiting, m_waiting.size());
        if (!m_next.scheduled()) schedule_in(m_next, 1'000'000);
    }
    void next() {
        const auto t = m_waiting.front();
        m_waiting.pop_front();
        if (!m_waiting.empty()) schedule_in(m_next, 1'000'000);
        const bool there = t.at <= bytes.size() && t.data.length <= bytes.size() - t.at;
        if (there)
            std::memcpy(t.write ? bytes.data() + t.at : t.data.data(), t.write ? t.data.data() : bytes.data() + t.at,
                        t.data.length);
        t.client->transfer_done(t.cookie, there ? gpu::memory_fault::none : gpu::memory_fault::bus_error);
    }
    std::deque<transfer> m_waiting;
    calendar_event m_next{method<&host_port::next>, this};
};

}  // namespace fabricvp::test
