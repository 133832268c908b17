// SPDX-License-Identifier: Apache-2.0
#include "platform/config/renamed_names.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>
#include <vector>

#include <fnmatch.h>

#include <fmt/format.h>

#include "fabric/stage_kind.h"

namespace fabricvp {

namespace {

/// An element of a path: a key of a configuration, a block, a statistic.
struct renamed_element {
    const char* old_name;
    const char* new_name;
    const char* parent;  ///< glob over the present name of the element before it
};

/// An old name may have become several new ones. Where it is known which paths exist, the one that exists counts; else
/// the first one whose parent fits.
constexpr std::array<renamed_element, 67> elements{{
    // GPUs
    {"front", "host_interface", "gpu*"},
    {"pieces", "chunks", "sdma"},
    {"turn_branches", "divergence_quantum", "*"},
    {"answer_latency", "response_latency", "*"},
    {"past_l1", "outstanding_bypasses", "unit"},
    {"past_l1", "l1_bypass", "unit?*"},
    {"sharing", "compute_units_per_scalar_cache", "gpu*"},
    {"refused", "failed", "commands"},
    {"refused", "rejected", "*"},
    {"served_page_table_reads", "incoming_page_table_reads", "*"},
    {"served_reads", "incoming_reads", "*"},
    {"served_writes", "incoming_writes", "*"},
    {"served", "incoming_requests", "gpu*"},
    {"transactions_in_all", "transactions_total", "*"},
    {"l1_transactions_in_all", "l1_transactions_total", "*"},
    {"wavefront_instructions_in_all", "wavefront_instructions_total", "*"},
    {"demands", "demand_faults", "gmmu"},
    {"lock_refusals", "lock_rejections", "*"},
    {"order_waits", "ordering_stalls", "*"},
    // RDMA adapters
    {"contexts", "icm", "hca*"},
    {"records", "doorbell_records", "hca*"},
    {"events", "event_queues", "hca*"},
    {"completions", "completion_queues", "hca*"},
    {"shared_receives", "shared_receive_queues", "hca*"},
    {"pairs", "queue_pairs", "hca*"},
    {"data", "data_mover", "hca*"},
    {"sends", "send_queues", "hca*"},
    {"receives", "receive_queues", "hca*"},
    {"lost", "dropped", "completion_queues"},
    {"lost", "dropped", "event_queues"},
    {"taken", "consumed", "receive_queues"},
    {"held_up", "doorbell_queue_full", "send_queues"},
    {"loop", "loopback", "network"},
    {"looped", "loopback_packets", "network"},
    {"nobody", "absent_peer", "network"},
    {"room", "transmit_queue", "network"},
    {"turn", "scheduling", "requester"},
    {"answer", "response", "responder"},
    {"answer", "response", "bank*"},
    {"answer", "completion", "root"},
    {"entry", "receive_wqe", "responder"},
    {"unwanted", "multicast_unattached", "hca*"},
    // links, fabric, network, PCIe
    {"lanes_there", "forward_lanes", "*"},
    {"turns", "reversals", "lanes_*"},
    {"turns", "arbitration_weight", "*"},
    {"turns_from_above", "upstream_arbitration_weight", "*"},
    {"returns", "restored_lanes", "lanes_*"},
    {"turning_time", "reversal_time", "lanes_*"},
    {"spoilt", "corrupted", "*"},
    {"damaged", "corrupted", "*"},
    {"went_first", "prioritized", "*"},
    {"packets_under_way", "packets_in_flight", "*"},
    {"under_way", "in_flight", "*"},
    {"passed_on", "forwarded", "agent"},
    {"of_16_mib_l2", "bytes", ""},  // below nothing: these were ratios
    {"of_64_mib_switch", "bytes", ""},
    {"managed", "local_packets", "*"},
    {"refused_atomics", "rejected_atomics", "*"},
    {"frames_at_once", "max_frames_in_flight", "*"},
    {"requests_at_once", "max_requests_in_flight", "*"},
    // energy
    {"awake_w", "active_w", "*"},
    {"host_memory_pj_a_bit", "host_memory_pj_per_bit", "energy"},
    {"gpu_l1_pj_a_bit", "gpu_l1_pj_per_bit", "energy"},
    {"gpu_l2_pj_a_bit", "gpu_l2_pj_per_bit", "energy"},
    {"gpu_memory_pj_a_bit", "gpu_memory_pj_per_bit", "energy"},
    {"pcie_pj_a_bit", "pcie_pj_per_bit", "energy"},
    {"network_pj_a_bit", "network_pj_per_bit", "energy"},
}};

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
    for (const auto& [old_name, new_name, parent] : elements)
        if (parts[at] == old_name)
            if (auto found = with(new_name, true); !found.empty()) return found;
    return with(parts[at], changed);
}

}  // namespace

std::string renamed_key(const std::string& old_key, const std::vector<std::string>& known) {
    for (const auto& [old_name, new_name, parent] : elements)
        if (old_key == old_name && std::find(known.begin(), known.end(), new_name) != known.end()) return new_name;
    // A mechanism at links had a key of its own, before its name became a kind of stage.
    if (std::find(known.begin(), known.end(), "stage") != known.end())
        for (const auto& k : fabric::stage_settings::kinds())
            if (old_key == k.name) return fmt::format("stage: {{kind: {}, …}}", k.name);
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

std::string current_path(const std::string& old_path) {
    std::string path, parent;
    for (auto& part : split(old_path)) {
        const auto found = std::find_if(elements.begin(), elements.end(), [&](const auto& e) {
            return part == e.old_name && fnmatch(e.parent, parent.c_str(), 0) == 0;
        });
        if (found != elements.end()) part = found->new_name;
        path += path.empty() ? part : '.' + part;
        parent = std::move(part);
    }
    return path;
}

bool has_earlier_names(const std::string& version) {
    unsigned major = 0, minor = 0;
    return std::sscanf(version.c_str(), "%u.%u", &major, &minor) != 2 || std::pair(major, minor) < std::pair(0u, 3u);
}

std::string now_called(const std::string& old_name, const std::string& new_name) {
    return fmt::format("{} is now called {}", old_name, new_name);
}

}  // namespace fabricvp
