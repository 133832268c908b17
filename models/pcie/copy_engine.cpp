// SPDX-License-Identifier: Apache-2.0
#include "pcie/copy_engine.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"

namespace fabricvp::pcie {

void copy_engine_params::describe(parameter_visitor& v) {
    v.group("endpoint", endpoint, "link, requests and completions");
    v.field("memory", memory, between{4096, 64.0 * (1ull << 30)}, "the device's own memory (BAR 2); a power of two");
    v.field("chunk", chunk, between{128, 1 << 20}, "bytes handed to the link at a time");
    v.field("reads_ahead", reads_ahead, between{1, 256}, "chunks that are read before the first of them is written");
}

copy_engine::copy_engine(const sc_core::sc_module_name& name, const copy_engine_params& p)
    : endpoint(name, p.endpoint, {COPY_ENGINE_VENDOR, COPY_ENGINE_DEVICE, COPY_ENGINE_CLASS, 1, COPY_ENGINE_VENDOR, 1}),
      params(p),
      memory(p.memory) {
    config.add_bar(COPY_ENGINE_BAR_REGISTERS, COPY_ENGINE_REGISTERS_SIZE, false, false);
    add_memory_bar(COPY_ENGINE_BAR_MEMORY, p.memory);
    config.set_interrupt_pin(1);
    add_common_capabilities();
    add_msi_x(COPY_ENGINE_VECTORS, COPY_ENGINE_BAR_REGISTERS, COPY_ENGINE_MSIX_TABLE);
    memory_size.set(p.memory);
    control.on_write([this](std::size_t, std::uint64_t) {
        if (!(control() & COPY_ENGINE_CONTROL_ENABLE)) function_reset();
        kick();
    });
    doorbell.on_write([this](std::size_t, std::uint64_t) { kick(); });
    interrupt.on_write([this](std::size_t, std::uint64_t) { set_intx(interrupt() != 0); });
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

void copy_engine::kick() {
    if (!(control() & COPY_ENGINE_CONTROL_ENABLE) || status() & COPY_ENGINE_STATUS_FAILED || m_fetching || !m_jobs.empty()) return;
    if (doorbell() == completed()) {
        status.set(status() & ~std::uint64_t{COPY_ENGINE_STATUS_BUSY});
        return;
    }
    const auto size = ring_size();
    if (size < 2 || size > 32768 || size & (size - 1) || ring_base() % 64 || ((doorbell() - completed()) & 0xffffffff) > size) {
        fail();
        return;
    }
    status.set(status() | COPY_ENGINE_STATUS_BUSY);
    fetch_descriptor();
}

void copy_engine::fetch_descriptor() {
    m_fetching = true;
    const auto slice = allocate_slice(sizeof(copy_engine_descriptor));
    const auto at = ring_base() + (completed() % ring_size()) * sizeof(copy_engine_descriptor);
    dma.read(at, slice, [this, slice, epoch = m_epoch](request_status s) {
        if (epoch != m_epoch) return;
        m_fetching = false;
        if (s != request_status::ok) {
            fail();
            return;
        }
        copy_engine_descriptor d;
        std::memcpy(&d, slice.data(), sizeof d);
        execute(d);
    });
}

void copy_engine::fail() {
    log(log_level::warning, *this, "stops: the ring registers are wrong or a descriptor could not be fetched");
    status.set((status() | COPY_ENGINE_STATUS_FAILED) & ~std::uint64_t{COPY_ENGINE_STATUS_BUSY});
    notify(COPY_ENGINE_VECTOR_ERROR);
}

void copy_engine::notify(unsigned vector) {
    interrupt.set(interrupt() | 1u << vector);  // causes are numbered like vectors
    set_intx(true);
    if (msi_x_enabled()) raise(vector);
}

void copy_engine::execute(const copy_engine_descriptor& d) {
    job j;
    j.source = d.source;
    j.destination = d.destination;
    j.length = d.length;
    std::uint64_t offset = 0;
    if (own_memory(d.source, d.length, offset)) {
        j.local_source = true;
        j.source = offset;
    }
    j.finished = [this, d](bool ok) { complete_descriptor(d, ok); };
    m_jobs.push_back(std::move(j));
    advance();
}

void copy_engine::push(std::uint64_t offset, std::uint64_t bus_address, std::uint64_t bytes, std::function<void()> handed_over) {
    job j;
    j.source = offset;
    j.destination = bus_address;
    j.length = bytes;
    j.local_source = true;
    j.finished = [handed_over = std::move(handed_over)](bool) { if (handed_over) handed_over(); };
    m_jobs.push_back(std::move(j));
    if (m_jobs.size() == 1) advance();
}

void copy_engine::deliver(std::uint64_t address, const buffer_slice& data) {
    std::uint64_t offset = 0;
    if (own_memory(address, data.length, offset)) memory.write(offset, data.data(), data.length);
    else dma.write(address, data);
}

void copy_engine::read_ahead() {
    auto& j = m_jobs.front();
    while (!j.failed && j.requested < j.length && j.reading + j.ready.size() < params.reads_ahead) {
        const auto bytes = std::min<std::uint64_t>(params.chunk, j.length - j.requested);
        const auto slice = allocate_slice(bytes);
        j.ready.push_back(slice);
        j.ready.back().length = 0;  // not there yet
        ++j.reading;
        const auto index = j.requested / params.chunk;
        const auto from = j.source + j.requested;
        j.requested += bytes;
        dma.read(from, slice, [this, slice, index, epoch = m_epoch](request_status s) {
            if (epoch != m_epoch || m_jobs.empty()) return;
            auto& job = m_jobs.front();
            --job.reading;
            if (s != request_status::ok) job.failed = true;
            const auto first = job.written / params.chunk;
            if (index >= first && index - first < job.ready.size()) job.ready[index - first].length = slice.length;
            advance();
        });
    }
}

void copy_engine::advance() {
    if (m_advancing) return;  // a copy inside own memory comes back here at once
    m_advancing = true;
    while (!m_jobs.empty() && outbox_is_empty()) {
        auto& j = m_jobs.front();
        if (j.failed) {
            if (j.reading) break;  // their answers must not meet the next job
        } else if (j.written < j.length) {
            const auto bytes = std::min<std::uint64_t>(params.chunk, j.length - j.written);
            buffer_slice data;
            if (j.local_source) {
                data = allocate_slice(bytes);
                memory.read(j.source + j.written, data.data(), bytes);
            } else {
                read_ahead();
                if (j.failed || j.ready.empty() || j.ready.front().length == 0) break;
                data = j.ready.front();
                j.ready.pop_front();
            }
            const auto to = j.destination + j.written;
            j.written += bytes;
            bytes_copied += bytes;
            deliver(to, data);
            continue;
        }
        const auto finished = std::move(j.finished);
        const bool ok = !j.failed;
        m_jobs.pop_front();
        finished(ok);
    }
    m_advancing = false;
}

void copy_engine::complete_descriptor(const copy_engine_descriptor& d, bool ok) {
    ++descriptors;
    auto answer = allocate_slice(4);
    const std::uint32_t code = ok ? COPY_ENGINE_DONE : COPY_ENGINE_READ_ERROR;
    std::memcpy(answer.data(), &code, 4);
    const auto at = ring_base() + (completed() % ring_size()) * sizeof(copy_engine_descriptor);
    dma.write(at + offsetof(copy_engine_descriptor, status), answer);
    completed.set((completed() + 1) & 0xffffffff);
    if (!ok) notify(COPY_ENGINE_VECTOR_ERROR);
    else if (d.flags & COPY_ENGINE_FLAG_INTERRUPT) notify(COPY_ENGINE_VECTOR_DONE);
    kick();
}

void copy_engine::function_reset() {
    ++m_epoch;
    m_jobs.clear();
    m_fetching = false;
    registers.reset();
    set_intx(false);
    memory_size.set(params.memory);
}

}  // namespace fabricvp::pcie
