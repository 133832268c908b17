// SPDX-License-Identifier: Apache-2.0
#include "platform/config/renamed_names.h"

#include <algorithm>
#include <array>
#include <tuple>

#include <fmt/format.h>

namespace fabricvp {

namespace {

using name_pair = std::pair<const char*, const char*>;

/// Elements of paths: keys of configurations, blocks, statistics. An old name may have become several new ones: the
/// one that exists at that place counts.
const std::vector<name_pair> elements = {
    // GPUs
    {"front", "host_interface"},
    {"pieces", "chunks"},
    {"turn_branches", "divergence_quantum"},
    {"answer_latency", "response_latency"},
    {"past_l1", "outstanding_bypasses"},
    {"past_l1", "l1_bypass"},
    {"sharing", "compute_units_per_scalar_cache"},
    {"refused", "rejected"},
    {"served_page_table_reads", "incoming_page_table_reads"},
    {"served_reads", "incoming_reads"},
    {"served_writes", "incoming_writes"},
    {"served", "incoming_requests"},
    {"transactions_in_all", "transactions_total"},
    {"l1_transactions_in_all", "l1_transactions_total"},
    {"wavefront_instructions_in_all", "wavefront_instructions_total"},
    {"demands", "demand_faults"},
    {"lock_refusals", "lock_rejections"},
    {"order_waits", "ordering_stalls"},
    // RDMA adapters
    {"contexts", "icm"},
    {"records", "doorbell_records"},
    {"events", "event_queues"},
    {"completions", "completion_queues"},
    {"shared_receives", "shared_receive_queues"},
    {"pairs", "queue_pairs"},
    {"data", "data_mover"},
    {"sends", "send_queues"},
    {"receives", "receive_queues"},
    {"lost", "dropped"},
    {"taken", "consumed"},
    {"held_up", "doorbell_queue_full"},
    {"refused", "failed"},
    {"loop", "loopback"},
    {"looped", "loopback_packets"},
    {"nobody", "absent_peer"},
    {"room", "transmit_queue"},
    {"turn", "scheduling"},
    {"answer", "response"},
    {"answer", "completion"},
    {"entry", "receive_wqe"},
    {"unwanted", "multicast_unattached"},
    // links, fabric, network, PCIe
    {"lanes_there", "forward_lanes"},
    {"turns", "reversals"},
    {"turns", "arbitration_weight"},
    {"turns_from_above", "upstream_arbitration_weight"},
    {"returns", "restored_lanes"},
    {"turning_time", "reversal_time"},
    {"spoilt", "corrupted"},
    {"damaged", "corrupted"},
    {"went_first", "prioritized"},
    {"packets_under_way", "packets_in_flight"},
    {"under_way", "in_flight"},
    {"passed_on", "forwarded"},
    {"managed", "local_packets"},
    {"refused_atomics", "rejected_atomics"},
    {"frames_at_once", "max_frames_in_flight"},
    {"requests_at_once", "max_requests_in_flight"},
    // energy
    {"awake_w", "active_w"},
    {"host_memory_pj_a_bit", "host_memory_pj_per_bit"},
    {"gpu_l1_pj_a_bit", "gpu_l1_pj_per_bit"},
    {"gpu_l2_pj_a_bit", "gpu_l2_pj_per_bit"},
    {"gpu_memory_pj_a_bit", "gpu_memory_pj_per_bit"},
    {"pcie_pj_a_bit", "pcie_pj_per_bit"},
    {"network_pj_a_bit", "network_pj_per_bit"},
};

/// Key, old value, new value.
constexpr std::array<std::tuple<const char*, const char*, const char*>, 1> values{{
    {"policy", "published", "milic2017"},
}};

/// What stood on the command line.
constexpr std::array<std::pair<const char*, const char*>, 7> options{{
    {"--tiles", "--replica-placement"},
    {"--tiles beside", "--replica-placement contiguous"},
    {"--tiles across", "--replica-placement interleaved"},
    {"--form published", "--form martinasso2016"},
    {"--replica-placement beside", "--replica-placement contiguous"},
    {"--replica-placement across", "--replica-placement interleaved"},
    {"--kept", "--result-cache"},
}};

std::vector<std::string> split(const std::string& path) {
    std::vector<std::string> parts{""};
    for (const char c : path) {
        if (c == '.')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

/// Tries names for the element `at` and all behind it.
std::string replace(const std::vector<std::string>& parts, std::size_t at, const std::string& before, bool changed,
                    const std::function<bool(const std::string&)>& exists) {
    if (at == parts.size()) return changed && exists(before) ? before : "";
    const auto with = [&](const std::string& name, bool now_changed) {
        return replace(parts, at + 1, before.empty() ? name : before + '.' + name, now_changed, exists);
    };
    for (const auto& [old_name, new_name] : elements)
        if (parts[at] == old_name)
            if (auto found = with(new_name, true); !found.empty()) return found;
    return with(parts[at], changed);
}

}  // namespace

std::string renamed_key(const std::string& old_key, const std::vector<std::string>& known) {
    for (const auto& [old_name, new_name] : elements)
        if (old_key == old_name && std::find(known.begin(), known.end(), new_name) != known.end()) return new_name;
    return "";
}

std::string renamed_value(const std::string& key, const std::string& old_value) {
    for (const auto& [of, old_name, new_name] : values)
        if (key == of && old_value == old_name) return new_name;
    return "";
}

std::string renamed_option(const std::string& old_option) {
    for (const auto& [old_name, new_name] : options)
        if (old_option == old_name) return new_name;
    return "";
}

std::string renamed_path(const std::string& old_path, const std::function<bool(const std::string&)>& exists) {
    return replace(split(old_path), 0, "", false, exists);
}

const std::vector<std::pair<const char*, const char*>>& renamed_elements() { return elements; }

std::string now_called(const std::string& old_name, const std::string& new_name) {
    return fmt::format("{} is now called {}", old_name, new_name);
}

}  // namespace fabricvp
