// SPDX-License-Identifier: Apache-2.0
// Recordings of what GPUs send to each other, and machines that play them.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "base/log.h"
#include "base/quantity.h"
#include "fabric/stage_plan.h"
#include "gpu/replay/recording_file.h"
#include "platform/apps.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/config/machine_reader.h"
#include "platform/config/renamed_names.h"
#include "platform/loader/image_paths.h"
#include "platform/platform_state.h"
#include "platform/results/outcome.h"

namespace fabricvp {
namespace {

using gpu::replay::recording;
using gpu::replay::recording_error;

/// Parameters as "path value", one a line.
class flat_parameters final : public parameter_visitor {
public:
    std::string text;

protected:
    void visit(parameter& p) override {
        for (const auto& e : m_path) text += e + '.';
        text += fmt::format("{} {}\n", p.name, p.text());
    }
    bool enter(const char* name, const char*) override {
        m_path.emplace_back(name);
        return true;
    }
    void leave() override { m_path.pop_back(); }
    std::size_t enter_list(const char* name, const char*, std::size_t size) override {
        m_path.emplace_back(name);
        return size;
    }
    void enter_item(std::size_t index) override { m_path.push_back(std::to_string(index)); }
    void leave_list() override { m_path.pop_back(); }

private:
    std::vector<std::string> m_path;
};

std::string machine_text(const node_params& n) {
    flat_parameters flat;
    auto cores = n.devices.gpu_cores();
    flat.list("gpus", cores, "");
    return flat.text;
}

/// The key of a stage by which it changes what GPUs ask for; empty if none does.
std::string request_changer(const node_params& n) {
    const fabric::stage_plan plan(n.fabric);
    for (const auto& u : plan.uses())
        if (const auto* key = u.settings().changes_requests()) return fmt::format("{}.{}", u.path, key);
    return {};
}

/// Of text as machine_text() writes it: a GPU's parameters each, without its number.
std::vector<std::vector<std::string>> by_gpu(const std::string& text) {
    std::vector<std::vector<std::string>> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto number = line.find('.') + 1, name = line.find('.', number) + 1;
        const auto last = std::to_string(all.size() - 1), next = std::to_string(all.size());
        const auto gpu = name > number ? line.substr(number, name - number - 1) : std::string();
        if (gpu == next)
            all.emplace_back();
        else if (all.empty() || gpu != last)
            throw recording_error("is corrupted: the GPUs that it was made with are not numbered from 0 on");
        all.back().push_back(line.substr(name));
    }
    return all;
}

/// Values by name, of lines of one GPU.
std::map<std::string, std::string> by_name(const std::vector<std::string>& lines) {
    std::map<std::string, std::string> all;
    for (const auto& line : lines) {
        const auto end = std::min(line.size(), line.find(' '));
        all[line.substr(0, end)] = line.substr(std::min(line.size(), end + 1));
    }
    return all;
}

/// How lanes were scheduled before they reconverged where control flow joins: nothing that playing needs.
bool is_schedule_of_0_2(const std::string& name, const std::string& value) {
    return name == "compute_unit.divergence_quantum" && value == "64";
}

/// \returns how many GPUs the recording is of \throws input_error with what is the matter first
unsigned check_fit(const recording& r, const node_params& n, const std::string& file,
                   const std::string& configuration) {
    const auto reject = [&](const std::string& why) {
        throw input_error(fmt::format("{} does not fit {}: {}", file, configuration, why));
    };
    const auto then = by_gpu(r.head.machine), now = by_gpu(machine_text(n));
    if (n.fabric.empty()) reject("it links no GPUs");
    if (then.empty() || now.empty() || now.size() % then.size())
        reject(fmt::format("it has {} GPU{}, the recording is of {}; a multiple of them would do", now.size(),
                           now.size() == 1 ? "" : "s", then.size()));
    for (std::size_t g = 0; g < now.size(); ++g) {
        const auto mine = by_name(now[g]);
        // Parameters that are younger than the recording change nothing as they stand by themselves.
        for (const auto& [recorded_name, value] : by_name(then[g % then.size()])) {
            const auto renamed = renamed_path(recorded_name, [&](const auto& path) { return mine.count(path) != 0; });
            const auto& name = renamed.empty() ? recorded_name : renamed;
            const auto here = mine.find(name);
            if (here != mine.end() && (here->second == value || is_schedule_of_0_2(name, value))) continue;
            reject(
                fmt::format("node.gpus.{}.{} is {}, the recording was made with {}: that changes what GPUs ask for, so "
                            "run the software itself",
                            g, name, here == mine.end() ? "unknown" : here->second, value));
        }
    }
    if (const auto key = request_changer(n); !key.empty())
        reject(key + " changes what GPUs ask for, so run the software itself");
    if (!n.fabric.generators.empty()) reject("traffic generators send to GPUs, which are not there");
    return static_cast<unsigned>(then.size());
}

gpu::replay::replica_placement replica_placement_of(const std::string& word, unsigned replicas) {
    if (!word.empty() && replicas == 1)
        throw input_error(
            fmt::format("--replica-placement {}: the machine has as many GPUs as the recording: there is one replica",
                        quoted(word)));
    if (word.empty() || word == "contiguous") return gpu::replay::replica_placement::contiguous;
    if (word == "interleaved") return gpu::replay::replica_placement::interleaved;
    throw input_error(
        fmt::format("--replica-placement: no arrangement is called {}: give contiguous or interleaved", quoted(word)));
}

}  // namespace

std::unique_ptr<platform> platform::from_recording(const std::string& recorded, const std::string& path,
                                                   const overrides& set, const std::string& replica_placement) {
    const auto file = find_config(path);
    auto params = read_machine_params(read_file(file, 1 << 24), file, set);
    if (params.nodes.size() != 1)
        throw input_error(fmt::format("{}: has {} nodes: a recording is of one", file, params.nodes.size()));
    try {
        const auto what = std::make_shared<recording>(gpu::replay::read_recording(recorded));
        for (auto* text : {&what->head.software, &what->head.label}) *text = input_error(*text).what();  // printable
        auto& node = params.nodes[0];
        const auto gpus = check_fit(*what, node, recorded, path);
        node.replay = {
            what, gpus,
            replica_placement_of(replica_placement, static_cast<unsigned>(node.fabric.devices.size()) / gpus)};
        auto made = from_params(params, file);
        if (what->head.software.find("first_touch") != std::string::npos)
            log(log_level::warning, *made->m->hardware->nodes[0]->replay,
                "pages stay where the first touch put them on the recorded machine; on this fabric others might have "
                "been first");
        made->m->contexts[0].images = {};
        return made;
    } catch (const recording_error& e) {
        throw input_error(fmt::format("{}: {}", recorded, e.what()));
    }
}

void platform::implementation::start_replay(std::size_t i) {
    auto& n = *hardware->nodes[i];
    for (auto& hart : n.host.harts) hart->halt();
    n.host.marker.begin();
    n.replay->on_end = [this, i, &n] {
        n.host.marker.end(n.replay->what().head.label);
        const auto wrong = n.replay->integrity_error();
        if (wrong.empty())
            node_ended(i, node_state::powered_off, 0,
                       fmt::format("node{}: the recording of {} has ended", i, n.replay->what().head.software));
        else
            node_ended(i, node_state::failed, 1, fmt::format("node{}: {}", i, wrong));
    };
    n.replay->start();
}

std::optional<double> platform::replay_progress() const {
    const auto& player = m->hardware->nodes[0]->replay;
    return player ? std::optional<double>(player->progress()) : std::nullopt;
}

void platform::record(const std::string& file, std::uint64_t max_bytes) {
    auto& n = *m->hardware->nodes[0];
    if (!n.fabric || n.devices.gpus.size() < 2) throw input_error("--record: node0 has no GPUs that are linked");
    if (const auto key = request_changer(n.params); !key.empty())
        throw input_error(fmt::format("--record: {} changes what GPUs ask for: record without it", key));
    std::vector<ticks> cycles;
    std::size_t caches = 0;
    for (const auto& g : n.devices.gpus) {
        cycles.push_back(g->core.clock.span(1));
        caches = std::max<std::size_t>(caches, g->core.memory.units.size() + g->core.memory.scalar_caches.size() +
                                                   g->core.instruction_caches.size());
    }
    try {
        m->recorder = std::make_unique<gpu::replay::recorder>(file, cycles, static_cast<unsigned>(caches), max_bytes);
    } catch (const recording_error& e) {
        throw input_error(fmt::format("--record {}: {}", fabricvp::quoted(file), e.what()));
    }
    m->recorder_path = file;
    m->services.push_back([this] {  // between slices, since the recorder writes amid callbacks
        if (m->recorder && m->recorder->error())
            throw input_error(fmt::format("--record {}: cannot be written: {}", fabricvp::quoted(m->recorder_path),
                                          std::strerror(m->recorder->error())));
    });
    m->services.push_back([this, max_bytes, told = false]() mutable {
        if (told || !m->recorder || !m->recorder->is_full()) return;
        told = true;
        log_message(log_level::warning, "recording",
                    fmt::format("{} has reached its limit of {}; work-groups that begin from now on are not in it",
                                m->recorder_path, quantity_text(parameter_kind::byte_size, max_bytes)));
    });
    n.host.marker.on_mark = [this, next = std::move(n.host.marker.on_mark)](host::marker::kind k,
                                                                            const std::string& label) {
        auto& r = *m->recorder;
        if (k == host::marker::kind::reset && !r.began())
            r.begin(now());
        else if (k == host::marker::kind::dump && r.began() && !r.ended())
            r.end(now(), label);
        if (next) next(k, label);
    };
}

std::string platform::finish_recording() {
    if (!m->recorder) throw input_error("nothing is being recorded");
    auto& r = *m->recorder;
    if (!r.ended()) {
        m->recorder.reset();
        throw input_error(fmt::format("--record {}: nothing was recorded, since no measured part has ended",
                                      fabricvp::quoted(m->recorder_path)));
    }
    gpu::replay::recording_head head;
    head.machine = machine_text(m->hardware->nodes[0]->params);
    head.software = m->contexts[0].images.append;
    try {
        const auto transactions = r.transactions();
        r.finish(head);
        auto told = fmt::format("{}: {} transactions in {} bytes", m->recorder_path, transactions, r.bytes());
        if (const auto others = r.unattributed())
            told += fmt::format("; {} requests of instruction caches and command processors are left out", others);
        return told;
    } catch (const recording_error& e) {
        throw input_error(fmt::format("--record {}: {}", fabricvp::quoted(m->recorder_path), e.what()));
    }
}

}  // namespace fabricvp
