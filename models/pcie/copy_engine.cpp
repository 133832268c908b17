// SPDX-License-Identifier: Apache-2.0
#include "pcie/copy_engine.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "base/counted_warning.h"
#include "base/register_words.h"

namespace fabricvp::pcie {

namespace {

const copy_engine_params& checked(const copy_engine_params& p) {
    if (const std::uint64_t bytes = p.memory; bytes & (bytes - 1))
        throw std::invalid_argument(fmt::format("memory is {}: give a power of two", bytes));
    return p;
}

}  // namespace

void copy_engine_params::describe(parameter_visitor& v) {
    endpoint_params::describe(v);
    v.field("memory", memory, between{4096, 64.0 * (1ull << 30)}, "the device's own memory (BAR 2); a power of two");
    v.field("channels", channels, between{1, COPY_ENGINE_MAX_CHANNELS},
            "DMA channels, each with a descriptor ring; they share the link TLP by TLP");
    v.field("chunk", chunk, between{128, 1 << 20},
            "bytes that a channel fetches from the device's own memory at a time");
    v.field("reads_ahead", reads_ahead, between{1, 256},
            "chunks that a channel reads before the first of them is written");
}

copy_engine::copy_engine(const sc_core::sc_module_name& name, const copy_engine_params& p)
    : endpoint(name, checked(p), {COPY_ENGINE_VENDOR, COPY_ENGINE_DEVICE, COPY_ENGINE_CLASS, 1, COPY_ENGINE_VENDOR, 1}),
      params(p),
      memory(p.memory),
      memory_size(registers, "memory_size", COPY_ENGINE_MEMORY_SIZE, 8, p.memory,
                  {{"bytes", 0, 64, field_access::read_only, "bytes behind BAR 2"}}),
      channels(registers, p.channels, 1, *this) {
    config.add_bar(COPY_ENGINE_BAR_REGISTERS, COPY_ENGINE_REGISTERS_SIZE, false, false);
    add_memory_bar(COPY_ENGINE_BAR_MEMORY, p.memory);
    config.set_interrupt_pin(1);
    add_common_capabilities();
    add_msi_x(static_cast<unsigned>(COPY_ENGINE_VECTORS * p.channels), COPY_ENGINE_BAR_REGISTERS,
              COPY_ENGINE_MSIX_TABLE);
    for (std::uint64_t c = 0; c < p.channels; ++c)
        m_queues.push_back(
            std::make_unique<copy_queue>(dma, memory, p.chunk, p.chunk * p.reads_ahead, [this] { advance(); }));
}

void copy_engine::bar_read(const bar_hit& at, std::uint8_t* to, std::uint32_t bytes) {
    if (at.bar == COPY_ENGINE_BAR_MEMORY) {
        memory.read(at.offset, to, bytes);
        return;
    }
    std::memset(to, 0, bytes);
    for_each_word(at.offset, bytes, [&](std::uint64_t where, std::uint32_t done, std::uint32_t size) {
        registers.read(where, to + done, size);
    });
}

void copy_engine::bar_write(const bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) {
    if (at.bar == COPY_ENGINE_BAR_MEMORY) {
        memory.write(at.offset, from, bytes);
        bytes_received += bytes;
        if (!m_watched.empty()) note_arrival(at.offset, bytes);
        return;
    }
    for_each_word(at.offset, bytes, [&](std::uint64_t where, std::uint32_t done, std::uint32_t size) {
        registers.write(where, from + done, size);
    });
}

bool copy_engine::own_memory(std::uint64_t address, std::uint64_t bytes, std::uint64_t& offset) const {
    const auto base = config.bar_base(COPY_ENGINE_BAR_MEMORY);
    if (base == 0 || address < base || address - base > params.memory || bytes > params.memory - (address - base))
        return false;
    offset = address - base;
    return true;
}

void copy_engine::fetch(std::size_t c, std::uint64_t address, const buffer_slice& into, std::uint32_t ticket) {
    dma.read(address, into,
             [this, c, ticket](request_status s) { channels.fetched(c, ticket, s == request_status::ok); });
}

void copy_engine::store(std::size_t c, std::uint64_t address, const buffer_slice& status, std::uint32_t ticket) {
    dma.write(address, status);
    channels.stored(c, ticket);
}

void copy_engine::stopped(std::size_t c) {
    count_warning(stops, *this, "channel {} stops: the ring registers are wrong or a descriptor could not be fetched",
                  c);
}

void copy_engine::interrupt_message(std::size_t c, unsigned vector) {
    if (msi_x_enabled()) raise(static_cast<unsigned>(COPY_ENGINE_VECTORS * c) + vector);
}

void copy_engine::perform(std::size_t c, const copy_engine_descriptor& d) {
    copy_job j;
    j.source = d.source;
    j.destination = d.destination;
    j.length = d.length;
    std::uint64_t offset = 0;
    if (own_memory(d.source, d.length, offset)) {
        j.local_source = true;
        j.source = offset;
    }
    if (own_memory(d.destination, d.length, offset)) {
        j.local_destination = true;
        j.destination = offset;
    }
    j.finished = [this, c](bool ok) {
        ++descriptors;
        channels.finished(c, ok ? COPY_ENGINE_DONE : COPY_ENGINE_READ_ERROR);
    };
    add_job(c, std::move(j));
}

void copy_engine::push(std::uint64_t offset, std::uint64_t bus_address, std::uint64_t bytes,
                       std::function<void()> handed_over, unsigned channel) {
    copy_job j;
    j.source = offset;
    j.destination = bus_address;
    j.length = bytes;
    j.local_source = true;
    j.finished = [handed_over = std::move(handed_over)](bool) {
        if (handed_over) handed_over();
    };
    add_job(channel, std::move(j));
}

void copy_engine::add_job(std::size_t c, copy_job job) {
    m_queues[c]->add(std::move(job));
    m_working |= std::uint32_t{1} << c;
    advance();
}

void copy_engine::advance() {
    if (m_advancing) return;  // what is handed over may come back here at once
    m_advancing = true;
    auto idle = std::uint32_t{0};  // channels that had nothing to do for now
    while (m_working && outbox_is_empty()) {
        m_queues[m_last]->retire_finished();
        const auto candidates = m_working & ~idle;
        if (!candidates || !outbox_is_empty()) break;
        const auto later = candidates & (~std::uint32_t{0} << m_next_channel);
        const auto c = static_cast<unsigned>(__builtin_ctz(later ? later : candidates));
        auto& queue = *m_queues[c];
        const auto before = queue.bytes_moved;
        if (!queue.step()) idle |= std::uint32_t{1} << c;
        bytes_copied += queue.bytes_moved - before;
        if (queue.empty()) m_working &= ~(std::uint32_t{1} << c);
        m_last = c;
        m_next_channel = (c + 1) % 32;
    }
    m_advancing = false;
}

void copy_engine::watch(std::uint64_t offset, std::uint64_t bytes, std::function<void()> arrived) {
    m_watched.push_back({offset, offset + bytes, bytes, std::move(arrived)});
}

void copy_engine::note_arrival(std::uint64_t offset, std::uint64_t bytes) {
    for (std::size_t i = 0; i < m_watched.size(); ++i) {
        auto& w = m_watched[i];
        if (offset < w.begin || offset >= w.end) continue;
        w.left -= std::min(w.left, bytes);
        if (w.left) return;
        const auto arrived = std::move(w.arrived);
        m_watched.erase(m_watched.begin() + static_cast<std::ptrdiff_t>(i));
        arrived();
        return;
    }
}

void copy_engine::abandon(std::size_t c) {
    m_queues[c]->clear();
    m_working &= ~(std::uint32_t{1} << c);
}

void copy_engine::function_reset() {
    channels.reset();
    registers.reset();
}

}  // namespace fabricvp::pcie
