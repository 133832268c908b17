// SPDX-License-Identifier: Apache-2.0
// Profiles and coverage of guests: which programs the machine has, and where their ELF files are.
#include <string_view>

#include <fmt/format.h>

#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/loader/image_paths.h"
#include "platform/platform_state.h"
#include "platform/profile/debug_file.h"
#include "platform/profile/flame_graph.h"

namespace fabricvp {
namespace {

constexpr std::string_view ending = ".html";

std::string folded_file(const std::string& page) { return page.substr(0, page.size() - ending.size()) + ".folded"; }

std::vector<std::string> processor_files(const gpu::command_processor_params& p) {
    const auto own = firmware_folder() + "/cp.elf";
    return p.firmware.empty() ? std::vector<std::string>{own}
                              : std::vector<std::string>{find_image(p.firmware, {}), own};
}

}  // namespace

guest_profile& platform::implementation::profiler() {
    if (profile) return *profile;
    std::vector<guest_profile::program> programs;
    std::vector<guest_profile::gpu> gpus;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        if (!hardware->nodes[i]) continue;  // another rank's
        auto& n = *hardware->nodes[i];
        guest_profile::program host_program;
        for (auto& h : n.host.harts) host_program.harts.push_back(h.get());
        host_program.files = [&a = contexts[i]] {
            std::vector<std::string> files;
            for (const auto& extra : a.extras) files = extra->elf_files();
            if (a.loaded)
                for (const auto& file : a.loaded->elf_files()) files.push_back(file);
            return files;
        };
        programs.push_back(std::move(host_program));
        for (auto& g : n.devices.gpus) {
            guest_profile::program firmware;
            for (auto& h : g->core.processor.harts) firmware.harts.push_back(h.get());
            firmware.files = [files = processor_files(g->core.processor.params)] { return files; };
            const auto processor = std::string(g->core.processor.name());
            gpus.push_back({&g->core, processor.substr(0, processor.rfind('.'))});
            programs.push_back(std::move(firmware));
        }
    }
    profile = std::make_unique<guest_profile>(std::move(programs), gpus);
    for (const auto& file : symbol_files) profile->add_symbols(file);
    return *profile;
}

void platform::add_symbols(const std::string& file) {
    if (m->profile) return m->profile->add_symbols(file);
    const debug_file readable(file);
    m->symbol_files.push_back(file);
}

void platform::start_profile(ticks period) {
    if (period == 0) throw input_error("the period of a profile's samples must be above 0");
    m->profiler().start_samples(period, now());
}

void platform::start_coverage() { m->profiler().count_executions(); }

std::map<std::string, std::uint64_t> platform::profile_stacks() {
    if (!m->profile || !m->profile->samples()) throw input_error("no profile was started");
    if (m->rank_parts.empty()) return m->profile->stacks(now());
    std::map<std::string, std::uint64_t> all;
    for (const auto& part : m->rank_parts)
        for (const auto& [stack, samples] : part.stacks) all[stack] += samples;
    return all;
}

std::string platform::profile_page() {
    const auto stacks = profile_stacks();
    return flame_graph_page(stacks, "FabricVP: profile of guests", m->profile->period());
}

std::string platform::folded_stacks() {
    std::string text;
    for (const auto& [stack, samples] : profile_stacks()) text += fmt::format("{} {}\n", stack, samples);
    return text;
}

std::string platform::coverage() {
    if (!m->profile || !m->profile->counts_executions()) throw input_error("coverage was not started");
    std::vector<const execution_table*> others;
    for (std::size_t r = 1; r < m->rank_parts.size(); ++r) others.push_back(&m->rank_parts[r].executions);
    return m->profile->executions(others).tracefile();
}

void platform::check_profile_name(const std::string& page) {
    if (page.size() <= ending.size() || page.compare(page.size() - ending.size(), ending.size(), ending) != 0)
        throw input_error(fmt::format("{}: the name of a profile's page must end in .html", quoted(page)));
    for (const auto& file : {page, folded_file(page)}) check_writable(file);
}

void platform::write_profile(const std::string& page) {
    check_profile_name(page);
    write_file(folded_file(page), folded_stacks());
    write_file(page, profile_page());
}

}  // namespace fabricvp
