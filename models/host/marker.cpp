// SPDX-License-Identifier: Apache-2.0
#include "host/marker.h"

#include "abi/memory_map.h"
#include "base/counted_warning.h"
#include "base/quantity.h"
#include "base/trace.h"

namespace fabricvp::host {

void marker_params::describe(parameter_visitor& v) {
    v.field(
        "scope", scope,
        "path of the block whose statistics marks reset and dump; empty: the machine, or of several nodes the own one");
    v.field("region_memory", region_memory,
            "memory of the simulator for dumped regions, about; those that it has no room for are lost, and counted");
    if (!scope.empty()) scope_origin = v.origin_of("scope");
}

marker::marker(const sc_core::sc_module_name& name, const marker_params& p)
    : register_target(name, VIRT_MARKER_SIZE),
      params(p),
      id(registers, "id", MARKER_ID, 4, MARKER_MAGIC, {{"magic", 0, 32, field_access::read_only, "\"FPVM\""}}),
      command(registers, "command", MARKER_COMMAND, 4, 0,
              {{"command", 0, 32, field_access::write_only, "1 reset, 2 dump, 3 note"}}),
      label(registers, "label", MARKER_LABEL, 1, 0,
            {{"character", 0, 8, field_access::write_only, "appended to the label; 0 clears it"}}),
      regions_dumped(registers, "regions_dumped", MARKER_REGIONS, 4, 0,
                     {{"count", 0, 32, field_access::read_only, "regions dumped since reset"}}) {
    command.on_write([this](std::size_t, std::uint64_t c) { execute(c); });
    label.on_write([this](std::size_t, std::uint64_t c) { add_to_label(static_cast<char>(c & 0xff)); });
}

void marker::reset() {
    m_label.clear();
    m_regions.clear();
    m_region_bytes = 0;
    m_from = now();
    fabricvp::trace::region_ends(*this, m_from);
    register_target::reset();
}

void marker::add_to_label(char c) {
    label.set(0);
    if (c == 0)
        m_label.clear();
    else if (m_label.size() < MARKER_LABEL_LENGTH)
        m_label += c >= 0x20 && c < 0x7f ? c : '?';
}

void marker::end(const std::string& text) {
    m_label = text;
    execute(MARKER_COMMAND_DUMP);
}

/// Each region holds all statistics of the scope: a guest that dumps in a loop would fill the host's memory.
void marker::keep_region() {
    constexpr std::uint64_t node_bytes = 96;  // of a map's node with its key and value, beside a long key's characters
    region r{m_label, m_from, now(), {}};
    std::uint64_t bytes = sizeof r + m_label.size();
    if (m_region_bytes + bytes <= params.region_memory) {
        r.values = snapshot_statistics(params.scope);
        for (const auto& value : r.values) bytes += node_bytes + value.first.size();
    }
    if (m_region_bytes + bytes > params.region_memory) {
        count_warning(regions_lost, *this, "a region is lost: dumped regions fill their memory (region_memory {})",
                      quantity_text(parameter_kind::byte_size, params.region_memory));
        return;
    }
    m_region_bytes += bytes;
    m_regions.push_back(std::move(r));
    regions_dumped.set(m_regions.size());
}

void marker::execute(std::uint64_t written) {
    command.set(0);
    switch (written) {
        case MARKER_COMMAND_RESET:
            restart_statistics(params.scope);
            m_from = now();
            fabricvp::trace::region_begins(*this, m_label, m_from);
            if (on_mark) on_mark(kind::reset, m_label);
            break;
        case MARKER_COMMAND_DUMP:
            keep_region();
            fabricvp::trace::region_ends(*this, now());
            if (on_mark) on_mark(kind::dump, m_label);
            break;
        case MARKER_COMMAND_NOTE:
            if (on_mark) on_mark(kind::note, m_label);
            break;
        default: count_warning(unknown_commands, *this, "unknown command {:#x} ignored", written);
    }
}

}  // namespace fabricvp::host
