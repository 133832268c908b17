// SPDX-License-Identifier: Apache-2.0
#include "base/copy_channels.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace fabricvp {

namespace {
/// The registers that every channel has.
register_array blocks(std::size_t count) { return {count, COPY_ENGINE_CHANNEL_STRIDE}; }
}  // namespace

copy_channels::copy_channels(register_bank& registers, std::size_t count, std::size_t fetches, copy_engine_core& core)
    : channels(registers, "channels", COPY_ENGINE_CHANNELS, 4, count,
               {{"count", 0, 32, field_access::read_only, "DMA channels"}}),
      pending(registers, "pending", COPY_ENGINE_PENDING, 4, 0,
              {{"channels", 0, 32, field_access::read_only, "bit c: channel c has an interrupt cause"}}),
      control(registers, "control", COPY_ENGINE_CONTROL, 4, 0,
              {{"enable", 0, 1, field_access::read_write, "fetch and execute descriptors"}}, blocks(count)),
      status(registers, "status", COPY_ENGINE_STATUS, 4, 0,
             {{"busy", 0, 1, field_access::read_only, "descriptors are being executed"},
              {"failed", 1, 1, field_access::read_only, "stopped: a descriptor could not be fetched"}},
             blocks(count)),
      ring_base(registers, "ring_base", COPY_ENGINE_RING_BASE, 8, 0, {}, blocks(count)),
      ring_size(registers, "ring_size", COPY_ENGINE_RING_SIZE, 4, 0, {}, blocks(count)),
      doorbell(registers, "doorbell", COPY_ENGINE_DOORBELL, 4, 0, {}, blocks(count)),
      completed(registers, "completed", COPY_ENGINE_COMPLETED, 4, 0,
                {{"count", 0, 32, field_access::read_only, "descriptors ever completed"}}, blocks(count)),
      interrupt(registers, "interrupt", COPY_ENGINE_INTERRUPT, 4, 0,
                {{"done", 0, 1, field_access::write_one_to_clear, "a descriptor that asked for it is done"},
                 {"error", 1, 1, field_access::write_one_to_clear, "a copy failed, or the channel has stopped"}},
                blocks(count)),
      m_core(core),
      m_fetches(fetches),
      m_channels(count) {
    control.on_write([this](std::size_t c, std::uint64_t) {
        if (!(control.get(c) & COPY_ENGINE_CONTROL_ENABLE)) reset_channel(c);
        kick(c);
    });
    doorbell.on_write([this](std::size_t c, std::uint64_t) { kick(c); });
    interrupt.on_write([this](std::size_t, std::uint64_t) { update_line(); });
}

bool copy_channels::ring_is_good(std::size_t c) const {
    const auto size = ring_size.get(c);
    const auto posted = (doorbell.get(c) - completed.get(c)) & 0xffffffff;
    return size >= 2 && size <= 32768 && (size & (size - 1)) == 0 && ring_base.get(c) % 64 == 0 && posted <= size;
}

void copy_channels::kick(std::size_t c) {
    auto& ch = m_channels[c];
    if (!(control.get(c) & COPY_ENGINE_CONTROL_ENABLE) || status.get(c) & COPY_ENGINE_STATUS_FAILED) return;
    if (!ch.performing && !ch.ready.empty()) {
        ch.present = ch.ready.front();
        ch.ready.pop_front();
        ch.performing = true;
        m_core.perform(c, ch.present);
    }
    if (ch.fetching || !ch.ready.empty() || (ch.performing && m_fetches == 1) ||
        status.get(c) & COPY_ENGINE_STATUS_FAILED)
        return;
    if (doorbell.get(c) == completed.get(c)) {
        status.set(status.get(c) & ~std::uint64_t{COPY_ENGINE_STATUS_BUSY}, c);
        return;
    }
    if (!ring_is_good(c)) return fail(c);
    if (doorbell.get(c) == ch.consumed) return;
    status.set(status.get(c) | COPY_ENGINE_STATUS_BUSY, c);
    fetch(c);
}

void copy_channels::fetch(std::size_t c) {
    auto& ch = m_channels[c];
    ch.base = ring_base.get(c);
    ch.size = static_cast<std::uint32_t>(ring_size.get(c));
    const std::uint32_t place = ch.consumed % ch.size,
                        posted = static_cast<std::uint32_t>(doorbell.get(c)) - ch.consumed;
    const auto count = std::min<std::size_t>({posted, ch.size - place, m_fetches});
    ch.fetching = true;
    ch.fetched = allocate_slice(count * sizeof(copy_engine_descriptor));
    m_core.fetch(c, ch.base + place * sizeof(copy_engine_descriptor), ch.fetched, ch.epoch);
}

void copy_channels::fetched(std::size_t c, std::uint32_t ticket, bool ok) {
    auto& ch = m_channels[c];
    if (ticket != ch.epoch) return;
    ch.fetching = false;
    const auto data = std::exchange(ch.fetched, {});
    if (!ok) return fail(c);
    for (std::size_t at = 0; at < data.length; at += sizeof(copy_engine_descriptor), ++ch.consumed) {
        copy_engine_descriptor d;
        std::memcpy(&d, data.data() + at, sizeof d);
        ch.ready.push_back(d);
    }
    kick(c);
}

void copy_channels::finished(std::size_t c, std::uint32_t code) {
    auto& ch = m_channels[c];
    const auto status_word = allocate_slice(4);
    std::memcpy(status_word.data(), &code, 4);
    const auto at =
        ch.base + ch.performed++ % ch.size * sizeof(copy_engine_descriptor) + offsetof(copy_engine_descriptor, status);
    ch.stores.push_back({code != COPY_ENGINE_DONE, (ch.present.flags & COPY_ENGINE_FLAG_INTERRUPT) != 0});
    ch.performing = false;
    m_core.store(c, at, status_word, ch.epoch);
}

void copy_channels::stored(std::size_t c, std::uint32_t ticket) {
    auto& ch = m_channels[c];
    if (ticket != ch.epoch) return;
    const auto last = ch.stores.front();
    ch.stores.pop_front();
    completed.set((completed.get(c) + 1) & 0xffffffff, c);
    if (last.error)
        notify(c, COPY_ENGINE_VECTOR_ERROR);
    else if (last.wanted)
        notify(c, COPY_ENGINE_VECTOR_DONE);
    kick(c);
}

void copy_channels::fail(std::size_t c) {
    status.set((status.get(c) | COPY_ENGINE_STATUS_FAILED) & ~std::uint64_t{COPY_ENGINE_STATUS_BUSY}, c);
    m_core.stopped(c);
    notify(c, COPY_ENGINE_VECTOR_ERROR);
}

void copy_channels::notify(std::size_t c, unsigned vector) {
    interrupt.set(interrupt.get(c) | 1u << vector, c);  // causes are numbered like vectors
    update_line();
    m_core.interrupt_message(c, vector);
}

void copy_channels::update_line() {
    std::uint64_t causes = 0;
    for (std::size_t c = 0; c < m_channels.size(); ++c)
        if (interrupt.get(c)) causes |= std::uint64_t{1} << c;
    pending.set(causes);
    m_core.interrupt_line(causes != 0);
}

void copy_channels::reset_channel(std::size_t c) {
    const auto epoch = m_channels[c].epoch + 1;
    m_channels[c] = {};
    m_channels[c].epoch = epoch;
    m_core.abandon(c);
    for (auto* r : {&control, &status, &ring_base, &ring_size, &doorbell, &completed, &interrupt}) r->set(0, c);
    update_line();
}

void copy_channels::reset() {
    for (std::size_t c = 0; c < m_channels.size(); ++c) reset_channel(c);
}

}  // namespace fabricvp
