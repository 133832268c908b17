// SPDX-License-Identifier: Apache-2.0
#include "base/registers.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace fabricvp {

namespace {

std::uint64_t bits(unsigned low, unsigned width) {
    const std::uint64_t ones = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    return ones << low;
}

}  // namespace

device_register::device_register(register_bank& bank, const char* name, std::uint64_t offset, unsigned bytes,
                                 std::uint64_t reset, std::vector<register_field> fields, register_array array)
    : m_name(name),
      m_offset(offset),
      m_bytes(bytes),
      m_reset(reset),
      m_stride(array.stride ? array.stride : bytes),
      m_fields(std::move(fields)),
      m_values(array.count, reset) {
    const auto fail = [name](const char* why) { throw std::logic_error(std::string("register ") + name + ": " + why); };
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) fail("size is not 1, 2, 4 or 8 bytes");
    if (array.count == 0 || m_stride < bytes) fail("array is empty or its elements overlap");
    const std::uint64_t all = bits(0, bytes * 8);
    if (reset & ~all) fail("reset value is wider than the register");
    m_writable = m_fields.empty() ? all : 0;
    m_clearable = 0;
    m_readable = all;
    std::uint64_t named = 0;
    for (const auto& f : m_fields) {
        if (f.width == 0 || f.low + f.width > bytes * 8) fail("field lies outside");
        const std::uint64_t mask = bits(f.low, f.width);
        if (named & mask) fail("fields overlap");
        named |= mask;
        if (f.access == field_access::read_write || f.access == field_access::write_only) m_writable |= mask;
        if (f.access == field_access::write_only) m_readable &= ~mask;
        if (f.access == field_access::write_one_to_clear) m_clearable |= mask;
    }
    bank.add(*this);
}

void device_register::reset() { std::fill(m_values.begin(), m_values.end(), m_reset); }

std::uint64_t device_register::bus_read(std::size_t index, bool debug) {
    if (debug) return m_on_debug_read ? m_on_debug_read(index) : m_values[index] & m_readable;
    return m_on_read ? m_on_read(index) : m_values[index] & m_readable;
}

void device_register::bus_write(std::size_t index, std::uint64_t value, bool debug) {
    if (debug) {
        m_values[index] = value & bits(0, m_bytes * 8);
        return;
    }
    const std::uint64_t kept = m_values[index] & ~m_writable & ~(value & m_clearable);
    m_values[index] = kept | (value & m_writable);
    if (m_on_write) m_on_write(index, value);
}

void register_bank::add(device_register& added) {
    const std::uint64_t end = added.offset() + (added.count() - 1) * added.stride() + added.bytes();
    if (end > m_size) throw std::logic_error(std::string("register ") + added.name() + " lies outside its bank");
    hit h;
    for (std::size_t i = 0; i < added.count(); ++i)
        for (unsigned byte = 0; byte < added.bytes(); ++byte)
            if (locate(added.offset() + i * added.stride() + byte, h))
                throw std::logic_error(std::string("registers ") + added.name() + " and " + h.reg->name() + " overlap");
    const auto at = std::upper_bound(m_registers.begin(), m_registers.end(), added.offset(),
                                     [](std::uint64_t o, const device_register* r) { return o < r->offset(); });
    m_registers.insert(at, &added);
    // Arrays may interleave, so a search looks backwards as long as an earlier register reaches this far.
    m_reach.clear();
    std::uint64_t reach = 0;
    for (const auto* r : m_registers) {
        reach = std::max(reach, r->offset() + (r->count() - 1) * r->stride() + r->bytes());
        m_reach.push_back(reach);
    }
}

bool register_bank::locate(std::uint64_t offset, hit& h) const {
    const auto after = std::upper_bound(m_registers.begin(), m_registers.end(), offset,
                                        [](std::uint64_t o, const device_register* r) { return o < r->offset(); });
    for (auto i = static_cast<std::size_t>(after - m_registers.begin()); i-- > 0 && m_reach[i] > offset;) {
        device_register* r = m_registers[i];
        const std::uint64_t index = (offset - r->offset()) / r->stride();
        const std::uint64_t byte = (offset - r->offset()) % r->stride();
        if (index < r->count() && byte < r->bytes()) {
            h = {r, static_cast<std::size_t>(index), static_cast<unsigned>(byte)};
            return true;
        }
    }
    return false;
}

bool register_bank::admits(std::uint64_t offset, unsigned size) const {
    if (size == 0 || offset > m_size || size > m_size - offset) return false;
    if (m_gaps == gaps::ignored) return true;
    hit h;
    for (unsigned i = 0; i < size; ++i)
        if (!locate(offset + i, h)) return false;
    return true;
}

bool register_bank::read(std::uint64_t offset, void* to, unsigned size, bool debug) {
    if (!admits(offset, size)) return false;
    auto* bytes = static_cast<std::uint8_t*>(to);
    bool gap = false;
    for (unsigned done = 0; done < size;) {
        hit h;
        if (!locate(offset + done, h)) {
            gap = true;
            bytes[done++] = 0;
            continue;
        }
        const std::uint64_t value = h.reg->bus_read(h.index, debug) >> (8 * h.byte);
        const unsigned n = std::min(size - done, h.reg->bytes() - h.byte);
        std::memcpy(bytes + done, &value, n);
        done += n;
    }
    if (gap && !debug) ++m_gap_accesses;
    return true;
}

bool register_bank::write(std::uint64_t offset, const void* from, unsigned size, bool debug) {
    if (!admits(offset, size)) return false;
    const auto* bytes = static_cast<const std::uint8_t*>(from);
    bool gap = false;
    for (unsigned done = 0; done < size;) {
        hit h;
        if (!locate(offset + done, h)) {
            gap = true;
            ++done;
            continue;
        }
        const unsigned n = std::min(size - done, h.reg->bytes() - h.byte);
        // Bytes that were not written keep their value, and clear nothing.
        std::uint64_t value = debug ? h.reg->get(h.index) : h.reg->get(h.index) & ~h.reg->m_clearable;
        std::memcpy(reinterpret_cast<std::uint8_t*>(&value) + h.byte, bytes + done, n);
        h.reg->bus_write(h.index, value, debug);
        done += n;
    }
    if (gap && !debug) ++m_gap_accesses;
    return true;
}

void register_bank::reset() {
    for (auto* r : m_registers) r->reset();
}

device_register* register_bank::find(const std::string& name) const {
    for (auto* r : m_registers)
        if (name == r->name()) return r;
    return nullptr;
}

}  // namespace fabricvp
