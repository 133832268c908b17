// SPDX-License-Identifier: Apache-2.0
// What the debugger wants to know: features, threads, descriptions, monitor commands.
#include <algorithm>

#include <fmt/format.h>

#include "platform/gdb/hex.h"
#include "platform/gdb/packet_parser.h"
#include "platform/gdb/session.h"
#include "platform/gdb/target_description.h"

namespace fabricvp::gdb {

void session::query(field_reader fields) {
    const auto name = fields.rest().substr(0, fields.rest().find_first_of(":,"));
    fields.take(name);
    if (name == "Supported") return negotiate(fields);
    if (name == "Xfer") return transfer(fields);
    if (name == "fThreadInfo") return list_threads(true);
    if (name == "sThreadInfo") return list_threads(false);
    if (name == "ThreadExtraInfo") return extra_info(fields);
    if (name == "Attached") return reply("1");
    if (name == "C") return reply(m_run.attached() ? "QC" + id_text(m_selected) : "");
    if (name == "Rcmd") return fields.take(',') ? command(fields.rest()) : reply_ok(false);
    if (name == "Symbol") return reply_ok();
    reply("");
}

void session::set(field_reader fields) {
    if (fields.rest() != "StartNoAckMode") return reply("");
    reply_ok();
    m_no_acknowledge = true;
}

void session::negotiate(field_reader features) {
    features.take(':');
    while (!features.done()) {
        const auto feature = features.until(';');
        if (feature == "multiprocess+") m_multiprocess = true;
        if (feature == "swbreak+") m_knows_swbreak = true;
        if (feature == "hwbreak+") m_knows_hwbreak = true;
    }
    reply(
        fmt::format("PacketSize={:x};qXfer:features:read+;{}vContSupported+;multiprocess+;swbreak+;hwbreak+;"
                    "QStartNoAckMode+",
                    packet_parser::max_payload, m_process.memory.empty() ? "" : "qXfer:memory-map:read+;"));
}

void session::transfer(field_reader fields) {
    std::string document;
    auto& target = *m_process.threads[m_selected];
    if (fields.take(":features:read:")) {
        if (!fields.take("target.xml:")) return reply("E00");
        document = describe_target(target, m_process.threads);
    } else if (!m_process.memory.empty() && fields.take(":memory-map:read::")) {
        document = describe_memory(target, m_process.memory);
    } else {
        return reply("");
    }
    std::uint64_t offset = 0, size = 0;
    if (!fields.number(offset) || !fields.take(',') || !fields.number(size) || !fields.done()) return reply_ok(false);
    if (offset > document.size()) return reply_ok(false);
    // XML holds none of the characters that need an escape.
    size = std::min<std::uint64_t>(size, packet_parser::max_payload - 8);
    const bool more = document.size() - offset > size;
    reply((more ? "m" : "l") + document.substr(offset, size));
}

void session::list_threads(bool first) {
    if (first) m_listed = 0;
    const std::size_t count = m_run.attached() ? m_process.threads.size() : 0;
    std::string text;
    for (; m_listed < count && text.size() < packet_parser::max_payload - 64; ++m_listed)
        if (m_process.threads[m_listed]->alive()) text += (text.empty() ? "m" : ",") + id_text(m_listed);
    reply(text.empty() ? "l" : text);
}

void session::extra_info(field_reader fields) {
    thread_id id;
    if (!fields.take(',') || !fields.thread(id)) return reply_ok(false);
    const auto thread = find(id);
    if (!thread || id.thread == thread_id::all) return reply_ok(false);
    const auto& target = *m_process.threads[*thread];
    reply(to_hex(target.debug_name() + " " + target.debug_state()));
}

void session::command(std::string_view hex) {
    std::string line;
    if (!from_hex(hex, line)) return reply_ok(false);
    const std::string text = m_monitor.execute(line);
    constexpr std::size_t chunk = packet_parser::max_payload / 2 - 64;
    for (std::size_t at = 0; at < text.size(); at += chunk) reply("O" + to_hex(text.substr(at, chunk)));
    reply_ok();
}

std::string session::id_text(std::size_t thread) const {
    const auto id = thread + 1 + m_process.threads.size() * m_process.threads[thread]->incarnation();
    return m_multiprocess ? fmt::format("p{:x}.{:x}", m_process.id, id) : hex_number(id);
}

std::optional<std::size_t> session::find(thread_id id) const {
    if (id.process > 0 && id.process != static_cast<std::int64_t>(m_process.id)) return std::nullopt;
    if (id.thread == thread_id::any) return m_selected;
    if (id.thread == thread_id::all) return 0;
    const auto number = static_cast<std::uint64_t>(id.thread - 1), count = std::uint64_t{m_process.threads.size()};
    const auto& target = *m_process.threads[number % count];
    if (!target.alive() || target.incarnation() != number / count) return std::nullopt;
    return static_cast<std::size_t>(number % count);
}

}  // namespace fabricvp::gdb
