// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/sdma_engine.h"

#include <algorithm>
#include <utility>

#include "base/counted_warning.h"
#include "base/log.h"
#include "gpu/control/fault_number.h"
#include "gpu/memory/translation.h"

namespace fabricvp::gpu {

namespace {
constexpr std::uint64_t page_bytes = std::uint64_t{1} << small_page_bits;
constexpr std::uint64_t epochs = std::uint64_t{1} << 24;
constexpr std::uint32_t known_flags =
    COPY_ENGINE_FLAG_INTERRUPT | COPY_ENGINE_FLAG_SOURCE_VIRTUAL | COPY_ENGINE_FLAG_DESTINATION_VIRTUAL;
}  // namespace

void sdma_engine_params::describe(parameter_visitor& v) {
    v.field("channels", channels, between{1, COPY_ENGINE_MAX_CHANNELS}, "DMA channels, each with a descriptor ring");
    v.field("chunks", chunks, between{1, 256},
            "pieces of a descriptor, of a page at most, that a channel moves at a time");
    v.field("fetches", fetches, between{1, 64}, "descriptors that a channel fetches at a time");
    v.group("memory", memory, "what the channels reach memories of GPUs by");
}

sdma_engine::sdma_engine(const sc_core::sc_module_name& name, const sdma_engine_params& p, const clock_domain& clock,
                         line_target& lines, translator& translations, transfer_port& system)
    : model(name),
      params(p),
      channels(registers, p.channels, p.fetches, *this),
      memory("memory", p.memory, clock, lines),
      m_translations(translations),
      m_system(system),
      m_channels(p.channels) {}

void sdma_engine::fetch(std::size_t c, std::uint64_t address, const buffer_slice& into, std::uint32_t ticket) {
    port_to(address).read(address, into, *this, cookie_of(cookie_kind::fetch, c, ticket));
}

void sdma_engine::store(std::size_t c, std::uint64_t address, const buffer_slice& status, std::uint32_t ticket) {
    port_to(address).write(address, status, *this, cookie_of(cookie_kind::store, c, ticket));
}

bool sdma_engine::well_formed(const copy_engine_descriptor& d) {
    const auto physical = [](std::uint64_t address) { return address >> (GPU_PA_APERTURE_SHIFT + 8) == 0; };
    return (d.flags & ~known_flags) == 0 && d.space < GPU_ADDRESS_SPACES &&
           (d.flags & COPY_ENGINE_FLAG_SOURCE_VIRTUAL || physical(d.source)) &&
           (d.flags & COPY_ENGINE_FLAG_DESTINATION_VIRTUAL || physical(d.destination));
}

void sdma_engine::perform(std::size_t c, const copy_engine_descriptor& d) {
    auto& ch = m_channels[c];
    ch = {};
    ch.work = d;
    ch.busy = true;
    ch.began = now();
    if (!well_formed(d)) return finish(c, GPU_FAULT_PACKET);
    advance(c);
}

void sdma_engine::advance(std::size_t c) {
    auto& ch = m_channels[c];
    while (ch.fault == memory_fault::none && ch.begun < ch.work.length && ch.chunks < params.chunks) {
        const auto left = [&](std::uint64_t address) { return page_bytes - (address + ch.begun) % page_bytes; };
        begin_chunk(
            c, std::min<std::uint64_t>({ch.work.length - ch.begun, left(ch.work.source), left(ch.work.destination)}));
    }
    if (ch.busy && ch.chunks == 0 && (ch.done == ch.work.length || ch.fault != memory_fault::none))
        finish(c, fault_number(ch.fault));
}

void sdma_engine::begin_chunk(std::size_t c, std::uint64_t bytes) {
    auto& ch = m_channels[c];
    const auto number = m_chunks.insert({});
    auto& p = m_chunks[number];
    p.channel = c;
    p.source = ch.work.source + ch.begun;
    p.destination = ch.work.destination + ch.begun;
    p.data = allocate_slice(bytes);
    ch.begun += bytes;
    ++ch.chunks;
    const bool from = ch.work.flags & COPY_ENGINE_FLAG_SOURCE_VIRTUAL,
               to = ch.work.flags & COPY_ENGINE_FLAG_DESTINATION_VIRTUAL;
    p.untranslated = (from ? 1u : 0u) + (to ? 1u : 0u);
    if (from && !is_mappable(page_of(p.source))) p.fault = memory_fault::unmapped;
    if (to && !is_mappable(page_of(p.destination))) p.fault = memory_fault::unmapped;
    if (p.fault != memory_fault::none) {  // asks nothing else; the copy ends with its other chunks, or now
        ch.fault = p.fault;
        m_chunks.remove(number);
        --ch.chunks;
        return;
    }
    if (from) translate(number, cookie_kind::source, p.source);
    if (to) translate(number, cookie_kind::destination, p.destination);
    if (!from && !to) read_chunk(number);
}

void sdma_engine::translate(std::uint32_t number, cookie_kind side, std::uint64_t address) {
    const auto& p = m_chunks[number];
    m_translations.translate(m_channels[p.channel].work.space, address & ~(page_bytes - 1),
                             side == cookie_kind::source ? GPU_PTE_READ : GPU_PTE_WRITE, *this,
                             cookie_of(side, p.channel, number));
}

void sdma_engine::translated(std::uint64_t, std::uint64_t physical, memory_fault fault, std::uint64_t cookie) {
    if (cookie >> 40 != m_epoch) return;
    const auto number = static_cast<std::uint32_t>(cookie >> 8);
    auto& p = m_chunks[number];
    auto& address = static_cast<cookie_kind>(cookie & 7) == cookie_kind::source ? p.source : p.destination;
    address = physical | address % page_bytes;
    if (p.fault == memory_fault::none) p.fault = fault;
    if (--p.untranslated) return;
    if (p.abandoned || p.fault != memory_fault::none) return end_chunk(number, p.fault);
    read_chunk(number);
}

void sdma_engine::read_chunk(std::uint32_t number) {
    const auto& p = m_chunks[number];
    port_to(p.source).read(p.source, p.data, *this, cookie_of(cookie_kind::chunk, p.channel, number));
}

void sdma_engine::transfer_done(std::uint64_t cookie, memory_fault fault) {
    if (cookie >> 40 != m_epoch) return;
    const auto number = static_cast<std::uint32_t>(cookie >> 8);
    const std::size_t c = cookie >> 3 & 31;
    switch (static_cast<cookie_kind>(cookie & 7)) {
        case cookie_kind::fetch: return channels.fetched(c, number, fault == memory_fault::none);
        case cookie_kind::store: return channels.stored(c, number);
        default: break;
    }
    auto& p = m_chunks[number];
    if (p.abandoned || fault != memory_fault::none || !p.reading) return end_chunk(number, fault);
    p.reading = false;
    port_to(p.destination).write(p.destination, p.data, *this, cookie);
}

void sdma_engine::end_chunk(std::uint32_t number, memory_fault fault) {
    const auto p = m_chunks.remove(number);
    if (p.abandoned) return;
    auto& ch = m_channels[p.channel];
    --ch.chunks;
    if (fault == memory_fault::none) {
        ch.done += p.data.length;
        bytes_copied += p.data.length;
    } else if (ch.fault == memory_fault::none) {
        ch.fault = fault;
    }
    advance(p.channel);
}

void sdma_engine::finish(std::size_t c, std::uint32_t fault) {
    auto& ch = m_channels[c];
    ch.busy = false;
    if (fault != GPU_FAULT_NONE)
        count_warning(faults, *this, "channel {}: copy of {} bytes from {:#x} to {:#x} failed (fault {})", c,
                      ch.work.length, ch.work.source, ch.work.destination, fault);
    ++descriptors;
    latency.add(now() - ch.began);
    std::uint32_t code = COPY_ENGINE_DONE;
    if (fault != GPU_FAULT_NONE) code = COPY_ENGINE_READ_ERROR | fault << 8;
    channels.finished(c, code);
}

void sdma_engine::stopped(std::size_t c) {
    count_warning(stops, *this, "channel {} stops: the ring registers are wrong or a descriptor could not be fetched",
                  c);
}

void sdma_engine::abandon(std::size_t c) {
    m_chunks.for_each([c](chunk& p) { p.abandoned = p.abandoned || p.channel == c; });
    m_channels[c] = {};
}

void sdma_engine::reset() {
    m_epoch = (m_epoch + 1) % epochs;
    channels.reset();
    registers.reset();
    m_chunks.clear();
    model::reset();
}

}  // namespace fabricvp::gpu
