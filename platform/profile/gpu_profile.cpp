// SPDX-License-Identifier: Apache-2.0
#include "platform/profile/gpu_profile.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "abi/gpu.h"
#include "gpu/control/kernel_name.h"
#include "platform/loader/image_paths.h"

namespace fabricvp {
namespace {

using gpu::wavefront_state;

const char* note_of(wavefront_state s) {
    switch (s) {
        case wavefront_state::ready: return "[waits for the SIMD unit]";
        case wavefront_state::memory: return "[waits for data]";
        case wavefront_state::queue: return "[waits for the memory unit]";
        case wavefront_state::fetch: return "[waits for instructions]";
        case wavefront_state::fence: return "[waits at a fence]";
        case wavefront_state::barrier: return "[waits at a barrier]";
        case wavefront_state::draining: return "[waits for its last accesses]";
        case wavefront_state::starting: return "[starts]";
        default: return "";
    }
}

/// Images of kernels that were built with the platform, by name.
std::vector<std::string> own_images() {
    std::vector<std::string> all;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(firmware_folder(), ignored))
        if (entry.path().extension() == ".elf") all.push_back(entry.path().string());
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

gpu_profile::gpu_profile(gpu::gpu_core& core, std::string name, debug_files& files, stack_counts& stacks)
    : m_core(core), m_name(std::move(name)), m_files(files), m_stacks(stacks) {
    for (auto& unit : m_core.compute_units) unit->attach_probe(this, nullptr);
}

gpu_profile::~gpu_profile() {
    for (auto& unit : m_core.compute_units) unit->attach_probe(nullptr, nullptr);
}

void gpu_profile::count_executions() {
    for (auto& unit : m_core.compute_units) unit->attach_probe(this, this);
}

/// The file that has the bytes which lie at the kernel's entry. One of the kernel's name is looked at first.
debug_file* gpu_profile::find_file(const gpu::dispatch& what, const std::string& name) {
    constexpr std::uint64_t page = 4096;
    std::array<char, 64> code{};
    const auto at = what.image + (what.entry - GPU_CODE_BASE);
    const auto size = std::min<std::uint64_t>(code.size(), page - at % page);
    if (!m_core.memory.debug_read(what.address_space, at, code.data(), size)) return nullptr;
    const auto is_it = [&](const debug_file& f) {
        const auto own = f.bytes(what.entry, size);
        return !own.empty() && std::memcmp(own.data(), code.data(), size) == 0;
    };
    for (auto* const f : m_files.named())
        if (is_it(*f)) return f;
    auto images = own_images();
    std::stable_partition(images.begin(), images.end(),
                          [&](const std::string& path) { return std::filesystem::path(path).stem().string() == name; });
    for (const auto& path : images)
        if (auto* const f = m_files.find(path); f && is_it(*f)) return f;
    return nullptr;
}

gpu_profile::kernel& gpu_profile::kernel_of(const gpu::dispatch_run& run) {
    auto& known = m_dispatches[run.number];
    if (known) return *known;
    const auto name = gpu::kernel_name(m_core.memory, run.what);
    auto* const file = find_file(run.what, name);
    auto& k = m_kernels[{name, file ? file->path() : ""}];
    if (!k) k = std::make_unique<kernel>(kernel{name, file, {}});
    known = k.get();
    return *k;
}

void gpu_profile::leaves(const gpu::wavefront& w, std::uint64_t pc, ticks now) {
    if (!w.group) return;
    auto& k = kernel_of(*w.group->run);
    if (w.state == wavefront_state::free) return;
    if (const auto samples = m_when.between(w.since, now)) add(m_stacks, k, w.state, pc, samples);
}

void gpu_profile::add(stack_counts& to, const kernel& k, wavefront_state state, std::uint64_t pc,
                      std::uint64_t samples) const {
    stack_counts::stack s;
    s.root = m_name + ";kernel " + k.name;
    s.note = note_of(state);
    if (k.file && state != wavefront_state::starting) s.frames.push_back({k.file, pc});
    to.add(s, samples);
}

void gpu_profile::add_present(stack_counts& to, ticks now) const {
    for (const auto& unit : m_core.compute_units)
        for (unsigned i = 0; i < unit->slots(); ++i) {
            const auto& w = unit->slot(i);
            if (!w.group || w.state == wavefront_state::free) continue;
            const auto known = m_dispatches.find(w.group->run->number);
            const auto samples = m_when.between(w.since, now);
            if (known != m_dispatches.end() && samples) add(to, *known->second, w.state, w.probed_pc, samples);
        }
}

std::uint64_t* gpu_profile::counters(const gpu::lane_context& c, std::uint64_t pc) {
    const auto known = m_dispatches.find(c.identity.dispatch);
    if (known == m_dispatches.end() || !known->second->file) return nullptr;
    auto& counts = known->second->counts;
    const auto first = (pc - GPU_CODE_BASE) / 64 * gpu::line_instructions;
    if (counts.size() < first + gpu::line_instructions) counts.resize(first + gpu::line_instructions);
    return counts.data() + first;
}

void gpu_profile::report(execution_counts& to) const {
    for (const auto& [name, k] : m_kernels) {
        if (!k->file) continue;
        to.add_file(*k->file);
        for (std::size_t i = 0; i < k->counts.size(); ++i)
            if (k->counts[i]) to.add(*k->file, GPU_CODE_BASE + i * 4, k->counts[i]);
    }
}

}  // namespace fabricvp
