// SPDX-License-Identifier: Apache-2.0
#include "pcie/copy_engine.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"

namespace fabricvp::pcie {

namespace {

/// The registers that every channel has.
register_array blocks(const copy_engine_params& p) { return {p.channels, COPY_ENGINE_CHANNEL_STRIDE}; }

}  // namespace

void copy_engine_params::describe(parameter_visitor& v) {
    v.group("endpoint", endpoint, "link, requests and completions");
    v.field("memory", memory, between{4096, 64.0 * (1ull << 30)}, "the device's own memory (BAR 2); a power of two");
    v.field("channels", channels, between{1, COPY_ENGINE_MOST_CHANNELS}, "DMA channels, each with a descriptor ring; they share the link TLP by TLP");
    v.field("chunk", chunk, between{128, 1 << 20}, "bytes that a channel fetches from the device's own memory at a time");
    v.field("reads_ahead", reads_ahead, between{1, 256}, "chunks that a channel reads before the first of them is written");
}

copy_engine::copy_engine(const sc_core::sc_module_name& name, const copy_engine_params& p)
    : endpoint(name, p.endpoint, {COPY_ENGINE_VENDOR, COPY_ENGINE_DEVICE, COPY_ENGINE_CLASS, 1, COPY_ENGINE_VENDOR, 1}),
      params(p),
      memory(p.memory),
      control(registers, "control", COPY_ENGINE_CONTROL, 4, 0,
              {{"enable", 0, 1, field_access::read_write, "fetch and execute descriptors"}}, blocks(p)),
      status(registers, "status", COPY_ENGINE_STATUS, 4, 0,
             {{"busy", 0, 1, field_access::read_only, "descriptors are being executed"},
              {"failed", 1, 1, field_access::read_only, "stopped: a descriptor could not be fetched"}}, blocks(p)),
      ring_base(registers, "ring_base", COPY_ENGINE_RING_BASE, 8, 0, {}, blocks(p)),
      ring_size(registers, "ring_size", COPY_ENGINE_RING_SIZE, 4, 0, {}, blocks(p)),
      doorbell(registers, "doorbell", COPY_ENGINE_DOORBELL, 4, 0, {}, blocks(p)),
      completed(registers, "completed", COPY_ENGINE_COMPLETED, 4, 0,
                {{"count", 0, 32, field_access::read_only, "descriptors ever completed"}}, blocks(p)),
      interrupt(registers, "interrupt", COPY_ENGINE_INTERRUPT, 4, 0,
                {{"done", 0, 1, field_access::write_one_to_clear, "a descriptor that asked for it is done"},
                 {"error", 1, 1, field_access::write_one_to_clear, "a copy failed, or the channel has stopped"}}, blocks(p)),
      m_channels(p.channels) {
    config.add_bar(COPY_ENGINE_BAR_REGISTERS, COPY_ENGINE_REGISTERS_SIZE, false, false);
    add_memory_bar(COPY_ENGINE_BAR_MEMORY, p.memory);
    config.set_interrupt_pin(1);
    add_common_capabilities();
    add_msi_x(static_cast<unsigned>(COPY_ENGINE_VECTORS * p.channels), COPY_ENGINE_BAR_REGISTERS, COPY_ENGINE_MSIX_TABLE);
    for (auto& c : m_channels)
        c.queue = std::make_unique<copy_queue>(dma, memory, p.chunk, p.chunk * p.reads_ahead, [this] { advance(); });
    memory_size.set(p.memory);
    channels.set(p.channels);
    control.on_write([this](std::size_t c, std::uint64_t) {
        if (!(control.get(c) & COPY_ENGINE_CONTROL_ENABLE)) reset_channel(c);
        kick(c);
    });
    doorbell.on_write([this](std::size_t c, std::uint64_t) { kick(c); });
    interrupt.on_write([this](std::size_t, std::uint64_t) { update_interrupt(); });
}

void copy_engine::bar_read(const bar_hit& at, std::uint8_t* to, std::uint32_t bytes) {
    if (at.bar == COPY_ENGINE_BAR_MEMORY) {
        memory.read(at.offset, to, bytes);
        return;
    }
    std::memset(to, 0, bytes);
    for (std::uint32_t i = 0; i < bytes;) {
        const auto size = std::min<std::uint32_t>(bytes - i, 8u - static_cast<std::uint32_t>((at.offset + i) % 8));
        const auto part = size == 8 || size == 4 || size == 2 || size == 1 ? size : 1;
        registers.read(at.offset + i, to + i, part);
        i += part;
    }
}

void copy_engine::bar_write(const bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) {
    if (at.bar == COPY_ENGINE_BAR_MEMORY) {
        memory.write(at.offset, from, bytes);
        bytes_received += bytes;
        if (!m_watched.empty()) note_arrival(at.offset, bytes);
        return;
    }
    for (std::uint32_t i = 0; i < bytes;) {
        const auto size = std::min<std::uint32_t>(bytes - i, 8u - static_cast<std::uint32_t>((at.offset + i) % 8));
        const auto part = size == 8 || size == 4 || size == 2 || size == 1 ? size : 1;
        registers.write(at.offset + i, from + i, part);
        i += part;
    }
}

bool copy_engine::own_memory(std::uint64_t address, std::uint64_t bytes, std::uint64_t& offset) const {
    const auto base = config.bar_base(COPY_ENGINE_BAR_MEMORY);
    if (base == 0 || address < base || address - base > params.memory || bytes > params.memory - (address - base)) return false;
    offset = address - base;
    return true;
}

void copy_engine::kick(std::size_t c) {
    auto& ch = m_channels[c];
    if (!(control.get(c) & COPY_ENGINE_CONTROL_ENABLE) || status.get(c) & COPY_ENGINE_STATUS_FAILED || ch.fetching || !ch.queue->empty())
        return;
    if (doorbell.get(c) == completed.get(c)) {
        status.set(status.get(c) & ~std::uint64_t{COPY_ENGINE_STATUS_BUSY}, c);
        return;
    }
    const auto size = ring_size.get(c);
    const auto posted = (doorbell.get(c) - completed.get(c)) & 0xffffffff;
    if (size < 2 || size > 32768 || size & (size - 1) || ring_base.get(c) % 64 || posted > size) {
        fail(c);
        return;
    }
    status.set(status.get(c) | COPY_ENGINE_STATUS_BUSY, c);
    fetch_descriptor(c);
}

void copy_engine::fetch_descriptor(std::size_t c) {
    m_channels[c].fetching = true;
    const auto slice = allocate_slice(sizeof(copy_engine_descriptor));
    const auto at = ring_base.get(c) + (completed.get(c) % ring_size.get(c)) * sizeof(copy_engine_descriptor);
    dma.read(at, slice, [this, c, slice, epoch = m_channels[c].epoch](request_status s) {
        if (epoch != m_channels[c].epoch) return;
        m_channels[c].fetching = false;
        if (s != request_status::ok) {
            fail(c);
            return;
        }
        copy_engine_descriptor d;
        std::memcpy(&d, slice.data(), sizeof d);
        execute(c, d);
    });
}

void copy_engine::fail(std::size_t c) {
    log(log_level::warning, *this, "channel {} stops: the ring registers are wrong or a descriptor could not be fetched", c);
    status.set((status.get(c) | COPY_ENGINE_STATUS_FAILED) & ~std::uint64_t{COPY_ENGINE_STATUS_BUSY}, c);
    notify(c, COPY_ENGINE_VECTOR_ERROR);
}

void copy_engine::notify(std::size_t c, unsigned vector) {
    interrupt.set(interrupt.get(c) | 1u << vector, c);  // causes are numbered like vectors
    update_interrupt();
    if (msi_x_enabled()) raise(static_cast<unsigned>(COPY_ENGINE_VECTORS * c) + vector);
}

void copy_engine::update_interrupt() {
    std::uint64_t causes = 0;
    for (std::size_t c = 0; c < m_channels.size(); ++c)
        if (interrupt.get(c)) causes |= std::uint64_t{1} << c;
    pending.set(causes);
    set_intx(causes != 0);
}

void copy_engine::execute(std::size_t c, const copy_engine_descriptor& d) {
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
    j.finished = [this, c, d](bool ok) { complete_descriptor(c, d, ok); };
    add_job(c, std::move(j));
}

void copy_engine::push(std::uint64_t offset, std::uint64_t bus_address, std::uint64_t bytes, std::function<void()> handed_over,
                       unsigned channel) {
    copy_job j;
    j.source = offset;
    j.destination = bus_address;
    j.length = bytes;
    j.local_source = true;
    j.finished = [handed_over = std::move(handed_over)](bool) { if (handed_over) handed_over(); };
    add_job(channel, std::move(j));
}

void copy_engine::add_job(std::size_t c, copy_job job) {
    m_channels[c].queue->add(std::move(job));
    m_working |= std::uint32_t{1} << c;
    advance();
}

void copy_engine::advance() {
    if (m_advancing) return;  // what is handed over may come back here at once
    m_advancing = true;
    auto idle = std::uint32_t{0};  // channels that had nothing to do for now
    while (m_working && outbox_is_empty()) {
        m_channels[m_last].queue->settle();
        const auto candidates = m_working & ~idle;
        if (!candidates || !outbox_is_empty()) break;
        const auto later = candidates & (~std::uint32_t{0} << m_turn);
        const auto c = static_cast<unsigned>(__builtin_ctz(later ? later : candidates));
        auto& queue = *m_channels[c].queue;
        const auto before = queue.bytes_moved;
        if (!queue.step()) idle |= std::uint32_t{1} << c;
        bytes_copied += queue.bytes_moved - before;
        if (queue.empty()) m_working &= ~(std::uint32_t{1} << c);
        m_last = c;
        m_turn = (c + 1) % 32;
    }
    m_advancing = false;
}

void copy_engine::complete_descriptor(std::size_t c, const copy_engine_descriptor& d, bool ok) {
    ++descriptors;
    auto answer = allocate_slice(4);
    const std::uint32_t code = ok ? COPY_ENGINE_DONE : COPY_ENGINE_READ_ERROR;
    std::memcpy(answer.data(), &code, 4);
    const auto at = ring_base.get(c) + (completed.get(c) % ring_size.get(c)) * sizeof(copy_engine_descriptor);
    dma.write(at + offsetof(copy_engine_descriptor, status), answer);
    completed.set((completed.get(c) + 1) & 0xffffffff, c);
    if (!ok) notify(c, COPY_ENGINE_VECTOR_ERROR);
    else if (d.flags & COPY_ENGINE_FLAG_INTERRUPT) notify(c, COPY_ENGINE_VECTOR_DONE);
    kick(c);
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

void copy_engine::reset_channel(std::size_t c) {
    ++m_channels[c].epoch;
    m_channels[c].queue->clear();
    m_channels[c].fetching = false;
    m_working &= ~(std::uint32_t{1} << c);
    for (auto* r : {&control, &status, &ring_base, &ring_size, &doorbell, &completed, &interrupt}) r->set(0, c);
    update_interrupt();
}

void copy_engine::function_reset() {
    for (std::size_t c = 0; c < m_channels.size(); ++c) reset_channel(c);
    registers.reset();
    memory_size.set(params.memory);
    channels.set(params.channels);
}

}  // namespace fabricvp::pcie
