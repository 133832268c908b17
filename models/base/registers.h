// SPDX-License-Identifier: Apache-2.0
// Registers are declared, not decoded by hand: name, offset, reset value, and a field table with the datasheet's words.
// Read-only, write-1-to-clear and reserved bits follow from the table; side effects are on_read and on_write handlers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fabricvp {

enum class field_access { read_write, read_only, write_only, write_one_to_clear, reserved };

struct register_field {
    const char* name;
    unsigned low;
    unsigned width;
    field_access access;
    const char* help;
};

class register_bank;

/// Shape of an array of equal registers.
struct register_array {
    std::size_t count = 1;
    std::uint64_t stride = 0;  ///< bytes; 0: the register's size
};

/// One register, or an array of equal ones `stride` bytes apart, of 1, 2, 4 or 8 bytes each.
class device_register {
public:
    using read_handler = std::function<std::uint64_t(std::size_t index)>;
    using write_handler = std::function<void(std::size_t index, std::uint64_t written)>;

    /// Without fields every bit is read-write.
    device_register(register_bank& bank, const char* name, std::uint64_t offset, unsigned bytes, std::uint64_t reset,
                    std::vector<register_field> fields = {}, register_array array = {});
    device_register(const device_register&) = delete;
    device_register& operator=(const device_register&) = delete;

    /// Called on a bus read; gives the value the guest sees.
    device_register& on_read(read_handler h) {
        m_on_read = std::move(h);
        return *this;
    }
    /// Value for a debugger or loader, without side effect; without this handler it is the stored value.
    device_register& on_debug_read(read_handler h) {
        m_on_debug_read = std::move(h);
        return *this;
    }
    /// Called after the stored value has been updated by a bus write; `written` is the raw value from the bus.
    device_register& on_write(write_handler h) {
        m_on_write = std::move(h);
        return *this;
    }

    std::uint64_t get(std::size_t index = 0) const { return m_values[index]; }
    void set(std::uint64_t value, std::size_t index = 0) { m_values[index] = value; }
    std::uint64_t operator()() const { return m_values[0]; }
    void reset();

    const char* name() const { return m_name; }
    std::uint64_t offset() const { return m_offset; }
    unsigned bytes() const { return m_bytes; }
    std::size_t count() const { return m_values.size(); }
    std::uint64_t stride() const { return m_stride; }
    const std::vector<register_field>& fields() const { return m_fields; }

    /// Bus side. `debug` has no side effect.
    std::uint64_t bus_read(std::size_t index, bool debug);
    void bus_write(std::size_t index, std::uint64_t value, bool debug);

private:
    friend class register_bank;
    const char* m_name;
    std::uint64_t m_offset;
    unsigned m_bytes;
    std::uint64_t m_reset;
    std::uint64_t m_stride;
    std::vector<register_field> m_fields;
    std::uint64_t m_writable, m_clearable, m_readable;
    std::vector<std::uint64_t> m_values;
    read_handler m_on_read;
    read_handler m_on_debug_read;
    write_handler m_on_write;
};

/// The registers of a device, in offset order. Unmapped offsets read as zero and ignore writes (and are counted),
/// unless strict, where they are bus errors.
class register_bank {
public:
    enum class gaps { ignored, errors };
    explicit register_bank(std::uint64_t size, gaps g = gaps::ignored) : m_size(size), m_gaps(g) {}

    /// Little-endian access of 1, 2, 4 or 8 bytes; narrower or wider ones than a register are merged from its bytes.
    /// \returns false on a bus error (outside, or in a gap of a strict bank).
    bool read(std::uint64_t offset, void* to, unsigned size, bool debug = false);
    bool write(std::uint64_t offset, const void* from, unsigned size, bool debug = false);
    void reset();

    /// Accesses so far that touched unmapped offsets (guests that probe, or a register that is missing).
    std::uint64_t gap_accesses() const { return m_gap_accesses; }
    std::uint64_t size() const { return m_size; }
    const std::vector<device_register*>& registers() const { return m_registers; }
    device_register* find(const std::string& name) const;

private:
    friend class device_register;
    struct hit {
        device_register* reg;
        std::size_t index;
        unsigned byte;
    };
    bool locate(std::uint64_t offset, hit& h) const;
    bool admits(std::uint64_t offset, unsigned size) const;
    void add(device_register& added);

    std::uint64_t m_size;
    gaps m_gaps;
    std::uint64_t m_gap_accesses = 0;
    std::vector<device_register*> m_registers;  // sorted by offset
    std::vector<std::uint64_t> m_reach;         // end of the farthest register up to each of these
};

}  // namespace fabricvp
