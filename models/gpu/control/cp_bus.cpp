// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/cp_bus.h"

#include <algorithm>
#include <cstring>

#include "abi/gpu.h"
#include "gpu/control/queue_log.h"
#include "gpu/memory/line_bytes.h"

namespace fabricvp::gpu {

namespace {
access_kind kind_of(const bus_payload& payload, const atomic_extension* atomic) {
    if (atomic) {
        if (atomic->op == atomic_extension::operation::load_reserved) return access_kind::load_reserved;
        if (atomic->op == atomic_extension::operation::store_conditional) return access_kind::store_conditional;
        return access_kind::atomic;
    }
    return payload.is_read() ? access_kind::read : access_kind::write;
}

/// A line of this GPU's memory, or of memory that an APU shares with its host. L2 acknowledges stores to it and
/// performs them in front of later loads of the same hart.
bool is_behind_l2(const memory_router& memory, std::uint64_t physical) {
    const coherent_port* shared = memory.shared();
    return memory.holds(physical) || (shared && shared->holds(physical));
}
}  // namespace

void cp_bus_params::describe(parameter_visitor& v) {
    v.field("register_latency", register_latency, between{0, 1e9}, "access to a register of the command processor");
    v.field("memory_latency", memory_latency, between{0, 1e9},
            "access to the processor's memory that cannot be made in place");
    v.field("tlb", tlb, between{1, 4096}, "translations that a hart holds");
    v.group("data_cache", data_cache, "what a hart holds of the GPU's memory");
}

cp_bus::cp_bus(const sc_core::sc_module_name& name, const cp_bus_params& p, const cp_bus_wiring& to)
    : bus_target(name),
      params(p),
      data_cache("data_cache", p.data_cache, to.clock),
      m_local(to.local),
      m_registers(to.registers),
      m_memory(to.router),
      m_translations(to.translations),
      m_tlb(1, p.tlb),
      m_owner(to.owner),
      m_debug(to.debug) {}

void cp_bus::reset() {
    ++m_epoch;
    address_space = 0;
    last_fault = memory_fault::none;
    m_tlb.clear();
    m_stores = 0;
    m_waits = waits_for::nothing;
    m_spans.clear();
    cancel(m_respond);
    if (m_payload) abandon(*std::exchange(m_payload, nullptr));
    if (m_completing) abandon(*std::exchange(m_completing, nullptr));
    bus_target::reset();
}

void cp_bus::invalidate_translations(std::uint32_t space) {
    m_tlb.clear(space);
    ++m_generation;
}

bool cp_bus::access_local(bus_payload& payload, std::uint64_t offset, ticks& latency) {
    const unsigned size = payload.get_data_length();
    atomic_extension* atomic = nullptr;
    payload.get_extension(atomic);
    if (m_local.contains(offset, size)) {
        latency += params.memory_latency.value;
        if (atomic)
            return false;  // harts do these in place; what comes here is marked, and LR/SC over the bus is not offered
        if (payload.is_read() && !m_local.readable(offset, size)) return false;
        if (payload.is_read())
            m_local.read(offset, payload.get_data_ptr(), size);
        else
            m_local.write(offset, payload.get_data_ptr(), size);
        return true;
    }
    if (offset < GPU_CP_REGISTERS_BASE || offset - GPU_CP_REGISTERS_BASE >= GPU_CP_REGISTERS_SIZE || atomic)
        return false;
    ++register_accesses;
    latency += params.register_latency.value;
    const auto at = offset - GPU_CP_REGISTERS_BASE;
    if (m_recording) m_touched.insert({at, size});
    return payload.is_read() ? m_registers.read(at, payload.get_data_ptr(), size)
                             : m_registers.write(at, payload.get_data_ptr(), size);
}

bus_target::outcome cp_bus::access(bus_payload& payload, ticks& delay) {
    const auto address = payload.get_address();
    const auto* order = payload.get_extension<riscv::order_extension>();
    m_order = order ? *order : riscv::order_extension();
    if (!m_order.fence && where(address) == GPU_PA_LOCAL) {
        const bool ok = access_local(payload, offset_of(address), delay);
        if (!ok) {
            ++errors;
            last_fault = memory_fault::bad_aperture;
        }
        payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return outcome::done;
    }
    m_payload = &payload;
    payload.get_extension(m_atomic);
    m_done = 0;
    m_begin = now();
    m_elapsed = 0;
    m_inside = true;
    if (m_order.fence) {
        m_waits = waits_for::stores;
        m_waiting_since = now();
        if (m_order.release && m_stores)
            ++data_cache.drains;
        else
            stores_ended();
    } else {
        ++line_accesses;
        next_chunk();
    }
    m_inside = false;
    if (m_payload) return outcome::pending;
    delay += m_elapsed;
    return outcome::done;
}

void cp_bus::next_chunk() {
    const auto address = m_payload->get_address() + m_done;
    m_chunk = std::min<unsigned>(m_payload->get_data_length() - m_done, line_bytes - address % line_bytes);
    if (where(address) != GPU_PA_VIRTUAL) return reach(address, true);
    const auto page = page_of(offset_of(address));
    translation t;
    if (is_mappable(page) && m_tlb.find(address_space, page, t)) return found(t);
    ++tlb_misses;
    m_waiting_since = now() + m_elapsed;
    m_translations.request(address_space, page, false, *this, m_epoch << 32 | m_generation, m_waiting_since);
}

void cp_bus::page_translated(std::uint32_t space, std::uint64_t page, const translation& t, std::uint64_t cookie) {
    if (cookie >> 32 != (m_epoch & 0xffffffff) || !m_payload) return;
    m_elapsed = 0;
    m_translations.explain(m_spans, m_waiting_since, t);
    if (t.fault == memory_fault::none && (cookie & 0xffffffff) == m_generation) m_tlb.insert(space, page, t);
    found(t);
}

void cp_bus::found(const translation& t) {
    const auto fault = t.check(m_payload->is_read() ? GPU_PTE_READ : GPU_PTE_WRITE);
    if (fault != memory_fault::none) return finish(fault);
    reach(t.at(offset_of(m_payload->get_address() + m_done)), t.type == GPU_PTE_TYPE_CACHED);
}

void cp_bus::reach(std::uint64_t physical, bool cached) {
    m_physical = physical;
    const unsigned offset = physical % line_bytes;
    m_fills = false;
    if (m_atomic) {
        data_cache.drop(physical - offset);
        if (!m_order.release || !m_stores)
            return send(kind_of(*m_payload, m_atomic), sectors_of(bytes_of(offset, m_chunk)));
        ++data_cache.drains;
        m_waits = waits_for::stores;
        m_waiting_since = now();
        return;
    }
    if (!cached || !data_cache.present() || !is_behind_l2(m_memory, physical))
        return send(kind_of(*m_payload, nullptr), sectors_of(bytes_of(offset, m_chunk)));
    if (m_payload->is_write()) {
        if (m_stores < data_cache.params.stores) return post();
        ++data_cache.store_stalls;
        m_waits = waits_for::store_slot;
        m_waiting_since = now();
        return;
    }
    const ticks begin = now() + m_elapsed;
    m_elapsed += data_cache.latency();
    m_spans.add(data_cache.lookup_span, span_kind::service, begin, now() + m_elapsed);
    if (data_cache.load(physical, bytes(), m_chunk)) return chunk_done();
    m_fills = true;
    send(access_kind::read, (1u << line_sectors) - 1);
}

void cp_bus::send(access_kind kind, unsigned sectors) {
    auto request = m_lines.make();
    const unsigned offset = m_physical % line_bytes;
    request->kind = kind;
    request->scope = memory_scope::system;
    request->line = m_physical - offset;
    request->offset = static_cast<std::uint8_t>(offset);
    request->size = static_cast<std::uint8_t>(m_chunk);
    request->needed_sectors = static_cast<std::uint8_t>(sectors);
    request->owner = m_owner;
    request->client = this;
    request->cookie = m_epoch;
    request->issued = now() + m_elapsed;
    if (kind == access_kind::write) {
        request->byte_mask = bytes_of(offset, m_chunk);
        std::memcpy(request->data.data() + offset, bytes(), m_chunk);
        data_cache.update(request->line, request->data.data(), request->byte_mask);
    } else if (m_atomic) {
        request->operation = m_atomic->op;
        request->operand = request->compare = 0;
        std::memcpy(&request->operand, bytes(), m_chunk);
        if (m_atomic->op == atomic_extension::operation::compare_swap)
            std::memcpy(&request->compare, bytes() + m_chunk, m_chunk);
    }
    if (m_posts) request->context = this;
    m_memory.send_at(request, request->issued);
}

/// A store that the hart does not wait for; the fault it might have was seen before.
void cp_bus::post() {
    ++data_cache.stores;
    ++m_stores;
    m_posts = true;
    send(access_kind::write, sectors_of(bytes_of(m_physical % line_bytes, m_chunk)));
    m_posts = false;
    chunk_done();
}

/// What waited for stores to arrive goes on.
void cp_bus::stores_ended() {
    m_waits = waits_for::nothing;
    m_spans.add(data_cache.stores_span, span_kind::queueing, m_waiting_since, now());
    if (!m_order.fence)
        return send(kind_of(*m_payload, m_atomic), sectors_of(bytes_of(m_physical % line_bytes, m_chunk)));
    if (m_order.acquire) data_cache.invalidate();
    finish(memory_fault::none);
}

void cp_bus::line_done(line_request& request) {
    if (request.cookie != m_epoch) return;
    if (request.context == this) {
        --m_stores;
        if (request.fault != memory_fault::none) ++errors;
        if (m_waits == waits_for::stores && !m_stores) {
            m_elapsed = 0;
            stores_ended();
        } else if (m_waits == waits_for::store_slot) {
            m_elapsed = 0;
            m_waits = waits_for::nothing;
            m_spans.add(data_cache.stores_span, span_kind::queueing, m_waiting_since, now());
            post();
        }
        return;
    }
    if (!m_payload) return;
    m_elapsed = 0;
    if (span_recorder::on()) m_spans.append(request.spans);
    if (request.fault != memory_fault::none) return finish(request.fault);
    if (m_atomic) {
        m_atomic->performed = true;
        m_atomic->succeeded = request.succeeded;
        if (request.kind != access_kind::store_conditional) std::memcpy(bytes(), &request.operand, m_chunk);
        if (m_order.acquire) data_cache.invalidate();
    } else if (request.kind == access_kind::read) {
        if (m_fills) data_cache.fill(request.line, request.data.data());
        std::memcpy(bytes(), request.data.data() + request.offset, m_chunk);
    }
    chunk_done();
}

void cp_bus::chunk_done() {
    m_done += m_chunk;
    if (m_done < m_payload->get_data_length()) return next_chunk();
    finish(memory_fault::none);
}

void cp_bus::finish(memory_fault fault) {
    const bool ok = fault == memory_fault::none;
    if (!ok) {
        ++errors;
        last_fault = fault;
    }
    const ticks end = now() + m_elapsed;
    auto& payload = *std::exchange(m_payload, nullptr);
    if (!m_order.fence) {
        if (ok && log && log->on()) tell(payload);
        latency.add(end - m_begin);
        if (span_recorder::on())
            span_recorder::current().finish(m_spans, m_begin, end, this,
                                            m_atomic            ? "hart atomic"
                                            : payload.is_read() ? "read"
                                                                : "write",
                                            payload.get_address());
    }
    m_spans.clear();
    payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (m_inside) return;
    if (!m_elapsed) return complete(payload);
    m_completing = &payload;
    schedule(m_respond, end);
}

void cp_bus::tell(const bus_payload& payload) {
    if (where(payload.get_address()) != GPU_PA_VIRTUAL) return;
    log->accessed({hart, address_space, offset_of(payload.get_address()), payload.get_data_ptr(),
                   payload.get_data_length(),
                   m_atomic            ? cp_access::kind::atomic
                   : payload.is_read() ? cp_access::kind::read
                                       : cp_access::kind::write});
}

void cp_bus::respond() { complete(*std::exchange(m_completing, nullptr)); }

unsigned cp_bus::debug_access(bus_payload& payload) {
    const auto address = payload.get_address();
    const auto size = payload.get_data_length();
    const bool reading = payload.is_read();
    bool ok = false;
    if (where(address) == GPU_PA_LOCAL) {
        const auto offset = offset_of(address);
        if (m_local.contains(offset, size)) {
            reading ? m_local.read(offset, payload.get_data_ptr(), size)
                    : m_local.write(offset, payload.get_data_ptr(), size);
            ok = true;
        } else if (offset >= GPU_CP_REGISTERS_BASE && offset - GPU_CP_REGISTERS_BASE < GPU_CP_REGISTERS_SIZE) {
            const auto at = offset - GPU_CP_REGISTERS_BASE;
            ok = reading ? m_registers.read(at, payload.get_data_ptr(), size, true)
                         : m_registers.write(at, payload.get_data_ptr(), size, true);
        }
    } else if (m_debug) {
        ok = m_debug(address, payload.get_data_ptr(), size, !reading);
        if (ok)
            reading ? data_cache.peek(address, payload.get_data_ptr(), size)
                    : data_cache.poke(address, payload.get_data_ptr(), size);
    }
    payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return ok ? size : 0;
}

}  // namespace fabricvp::gpu
