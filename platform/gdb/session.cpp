// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/session.h"

#include <algorithm>
#include <utility>

#include "platform/gdb/hex.h"
#include "platform/gdb/packet_parser.h"
#include "platform/gdb/target_description.h"

namespace fabricvp::gdb {

using namespace register_number;

session::session(const gdb_process& process, const gdb_hooks& hooks, run_control& run,
                 std::function<void(std::string_view)> send)
    : m_process(process),
      m_hooks(hooks),
      m_run(run),
      m_send(std::move(send)),
      m_monitor(
          m_hooks,
          [this] {
              if (m_run.attached() && !m_run.running()) m_run.halt_all();
          },
          [this]() -> riscv::debug_target& { return *m_process.threads[m_selected]; }),
      m_last{{}, 5} {}

bool session::allowed_now(std::string_view payload) const {
    const char c = payload.front();
    const bool general = c == 'q' || c == 'Q' || c == 'v' || c == '!' || c == 'D' || c == 'k' || c == 'H' || c == 'T';
    if (!m_run.attached()) return general || c == '?';
    return general || !m_run.running();
}

void session::receive(std::string_view payload) {
    if (payload.empty()) return reply("");
    if (!allowed_now(payload)) return reply_ok(false);
    field_reader fields(payload.substr(1));
    switch (payload.front()) {
        case '!': m_extended = true; return reply_ok();
        case '?': return status();
        case 'g': return read_registers();
        case 'G': return write_registers(fields);
        case 'p': return read_register(fields);
        case 'P': return write_register(fields);
        case 'm': return read_memory(fields, false);
        case 'x': return read_memory(fields, true);
        case 'M': return write_memory(fields, false);
        case 'X': return write_memory(fields, true);
        case 'Z': return change_breakpoint(fields, true);
        case 'z': return change_breakpoint(fields, false);
        case 'H': return select(fields);
        case 'T': return alive(fields);
        case 'c': return legacy_resume(fields, false, false);
        case 'C': return legacy_resume(fields, false, true);
        case 's': return legacy_resume(fields, true, false);
        case 'S': return legacy_resume(fields, true, true);
        case 'D': return detach(fields);
        case 'k': return kill(false);
        case 'v': return verbose(fields);
        case 'q': return query(fields);
        case 'Q': return set(fields);
        default: return reply("");
    }
}

std::string session::register_text(std::size_t thread, unsigned number) const {
    std::uint64_t value = 0;
    const unsigned size = register_size(number);
    if (!m_process.threads[thread]->read_register(number, value)) return std::string(2 * size, 'x');
    return hex_little_endian(value, size);
}

// `g` and `G` carry x0 to x31 and pc; GDB asks for the others one by one.
void session::read_registers() {
    std::string text;
    for (unsigned n = 0; n <= pc; ++n) text += register_text(m_selected, n);
    reply(text);
}

void session::write_registers(field_reader fields) {
    const auto text = fields.rest();
    constexpr std::size_t digits = 16;
    if (text.empty() || text.size() % digits || text.size() > (pc + 1) * digits) return reply_ok(false);
    std::vector<std::uint64_t> values;
    for (std::size_t at = 0; at < text.size(); at += digits) {
        std::uint64_t value = 0;
        if (!parse_little_endian(text.substr(at, digits), value)) return reply_ok(false);
        values.push_back(value);
    }
    auto& target = *m_process.threads[m_selected];
    bool good = true;
    for (unsigned n = 1; n < values.size(); ++n) good = target.write_register(n, values[n]) && good;
    reply_ok(good);
}

void session::read_register(field_reader fields) {
    std::uint64_t number = 0;
    if (!fields.number(number) || !fields.done() || number > last_further) return reply_ok(false);
    // One description serves threads of several kinds: what only others have is not available, and no error.
    std::uint64_t value = 0;
    const auto n = static_cast<unsigned>(number);
    const bool alike = m_process.lockstep_threads >= m_process.threads.size();
    if (alike && !m_process.threads[m_selected]->read_register(n, value)) return reply_ok(false);
    reply(register_text(m_selected, n));
}

void session::write_register(field_reader fields) {
    std::uint64_t number = 0, value = 0;
    if (!fields.number(number) || number > last_further || !fields.take('=')) return reply_ok(false);
    const auto n = static_cast<unsigned>(number);
    if (fields.rest().size() != 2 * register_size(n) || !parse_little_endian(fields.rest(), value))
        return reply_ok(false);
    reply_ok(n == 0 || m_process.threads[m_selected]->write_register(n, value));
}

void session::read_memory(field_reader fields, bool binary) {
    std::uint64_t address = 0, size = 0;
    if (!fields.number(address) || !fields.take(',') || !fields.number(size) || !fields.done()) return reply_ok(false);
    // Both forms double a byte at worst. A short answer is allowed; GDB asks for the rest.
    size = std::min<std::uint64_t>(size, packet_parser::max_payload / 2 - 1);
    if (size) size = std::min(size - 1, ~address) + 1;
    std::string bytes(size, '\0');
    bytes.resize(m_process.threads[m_selected]->read_memory(address, bytes.data(), bytes.size()));
    if (bytes.empty() && size) return reply_ok(false);
    reply(binary ? "b" + bytes : to_hex(bytes));
}

void session::write_memory(field_reader fields, bool binary) {
    std::uint64_t address = 0, size = 0;
    if (!fields.number(address) || !fields.take(',') || !fields.number(size) || !fields.take(':'))
        return reply_ok(false);
    std::string bytes;
    if (binary)
        bytes = fields.rest();
    else if (!from_hex(fields.rest(), bytes))
        return reply_ok(false);
    if (bytes.size() != size || (size && address + (size - 1) < address)) return reply_ok(false);
    reply_ok(size == 0 || m_process.threads[m_selected]->write_memory(address, bytes.data(), size) == size);
}

void session::change_breakpoint(field_reader fields, bool insert) {
    std::uint64_t type = 0, address = 0, size = 0;
    if (!fields.number(type) || type > 4) return reply("");
    if (!fields.take(',') || !fields.number(address) || !fields.take(',') || !fields.number(size))
        return reply_ok(false);
    if (!fields.done()) return reply_ok(false);  // conditions and commands were not offered
    const auto kind = static_cast<breakpoint_table::kind>(type);
    // To remove what is not there is no error: GDB may repeat itself after a reconnection.
    if (!insert) m_run.breakpoints.remove(kind, address, size);
    reply_ok(!insert || m_run.breakpoints.insert(kind, address, size));
}

}  // namespace fabricvp::gdb
