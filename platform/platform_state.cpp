// SPDX-License-Identifier: Apache-2.0
#include "platform/platform_state.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "abi/finisher.h"
#include "base/log.h"
#include "pcie/port.h"
#include "platform/apps.h"
#include "platform/common/input_error.h"
#include "platform/loader/image_paths.h"
#include "platform/node_disks.h"
#include "platform/renamed_statistics.h"
#include "riscv/slicing.h"

namespace fabricvp {
namespace {

std::string failure_text(const std::string& node, int status) {
    auto text = fmt::format("{} reported failure {}", node, status);
    if (status > 255)  // more than an exit status has: where it comes from is not to be guessed
        text += fmt::format(" (its guest wrote {:#x} to the finisher, whose upper half that is)",
                            static_cast<unsigned>(status) << 16 | FINISHER_FAIL);
    return text;
}

bool has_timed_memory(const machine_params& p) {
    return std::any_of(p.nodes.begin(), p.nodes.end(),
                       [](const node_params& n) { return n.host.memory_timing == host::memory_timing_kind::caches; });
}

}  // namespace

platform::implementation::implementation(const machine_params& p, std::string image_base, ranks::communicator* comm)
    : params(p),
      communicator(comm),
      partition(communicator ? std::make_unique<ranks::partition>(params, communicator->count()) : nullptr),
      hardware(std::make_unique<machine>(p, local_partition())),
      contexts(p.nodes.size()),
      idle(std::make_unique<idler>()) {
    set_log_threshold(params.simulation.log);
    if (!params.network.links.empty()) lookahead = network::min_propagation(params.network);
    riscv::separate_accesses(lookahead != 0);
    riscv::translate_after(static_cast<unsigned>(params.simulation.translate_after));
    riscv::skip_polls(params.simulation.skip_polls && (lookahead || !has_timed_memory(params)));
    if (communicator) create_synchronizer();
    guard = std::make_unique<watchdog>(*hardware, params.simulation.watchdog);
    planned_faults = std::make_unique<fault_plan>(*hardware, lookahead);
    if (partition)
        planned_faults->is_local = [this](const std::string& target) {
            return partition->of_block(target) == communicator->rank();
        };
    planned_faults->forward = [this](std::size_t number, ticks when) { forwarded_faults.emplace_back(number, when); };
    planned_faults->add_configured();
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        contexts[i].image_base = image_base;
        const auto& images = params.nodes[i].images;
        contexts[i].images = {images.firmware, images.kernel, images.initrd, images.append, images.tohost};
        connect(i);
    }
}

/// What marks shall reset and dump is there. Of other ranks' blocks, check_scope() of the partition tells.
void platform::implementation::check_scopes() const {
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        const auto& marker = params.nodes[i].host.marker;
        if (!hardware->nodes[i] || (partition && !partition->is_of_rank(marker.scope, communicator->rank()))) continue;
        const auto where = marker.scope_origin.empty() ? "" : marker.scope_origin + ": ";
        if (const auto why = missing_statistic(marker.scope); !why.empty())
            throw input_error(fmt::format("{}node{}.host.marker.scope: {}", where, i, why));
    }
}

platform::implementation::~implementation() {
    if (onlooker) onlooker->close();
    if (hardware->timeline.now()) planned_faults->tell_waiting();
    for (auto& a : contexts) a.gdb.reset();  // it knows the harts
}

void platform::implementation::connect(std::size_t i) {
    auto& a = contexts[i];
    const auto name = fmt::format("node{}", i);
    if (!hardware->nodes[i]) {
        a.serial = std::make_unique<line_console>(
            name, [](std::string_view) {}, [] { return ticks{0}; });
        return;
    }
    auto& h = host(i);
    a.serial = std::make_unique<line_console>(
        name,
        [&h](std::string_view text) {
            for (const char c : text) h.uart.push_input(c);
        },
        [this] { return hardware->timeline.now(); });
    a.serial->hold_piped_input(
        [this, &h, demand = input_demand()]() mutable { return demand.look(h.uart, hardware->timeline.now()); },
        [&h] { return h.uart.queued_input(); });
    h.uart.on_transmit = [&a](char c) { a.serial->printed(c); };
    h.on_power_off = [this, i, name](int status) {
        if (status == 0)
            node_ended(i, node_state::powered_off, 0, name + " powered off");
        else if (status == FINISHER_REFUSED)
            node_rejected(i);
        else
            node_ended(i, node_state::failed, status, failure_text(name, status));
    };
    hardware->nodes[i]->on_power_lost = [this, i, name] {
        node_ended(i, node_state::failed, 1, name + " has lost its power");
    };
    h.on_system_reset = [this, &a] {
        a.reset_wanted = true;
        serve_resets();
    };
}

bool platform::implementation::access_of_gpu(std::size_t i, std::uint64_t physical, void* data, std::size_t size,
                                             bool write) {
    const auto where = gpu::where(physical);
    const auto offset = gpu::offset_of(physical);
    if (where == GPU_PA_SYSTEM) {
        auto& bus = host(i).bus;
        return (write ? bus.debug_write(offset, data, size) : bus.debug_read(offset, data, size)) == size;
    }
    return hardware->nodes[i]->devices.debug_access(physical, data, size, write);
}

memory_range platform::implementation::memory(std::size_t i) const {
    if (i >= contexts.size())
        throw input_error(fmt::format("there is no node{}: this machine has {}", i, contexts.size()));
    for (const auto& r : hardware->nodes[i]->host.direct_memory)
        if (r.value.writable) return {fmt::format("node{}", i), r.base, r.size};
    throw std::logic_error("a node has no memory");
}

void platform::implementation::place(std::size_t i, const boot_plan& plan) {
    static const std::string zeros(1 << 16, '\0');
    auto& bus = host(i).bus;
    for (const auto& p : plan.load_regions()) {
        bus.debug_write(p.address, p.bytes.data(), p.bytes.size());
        for (auto at = static_cast<std::uint64_t>(p.bytes.size()); at < p.size; at += zeros.size())
            bus.debug_write(p.address + at, zeros.data(), std::min<std::uint64_t>(zeros.size(), p.size - at));
    }
    // What harts find in an empty memory is no mistake of a program.
    for (const auto& hart : host(i).harts)
        hart->warn_of_endless_exceptions(contexts[i].has_software() || !plan.load_regions().empty());
}

void platform::implementation::load(std::size_t i) {
    if (!hardware->nodes[i]) return;
    auto& a = contexts[i];
    auto& h = host(i);
    const auto& scope = params.nodes[i].host.marker.scope;
    if (partition && a.has_software()) partition->check_scope(i, scope);
    check_images(i, a.images);
    require_disk_images(*hardware->nodes[i]);
    const auto& configured = params.nodes[i].images;
    // An image that is not there is told with where it is named, if that is in the configuration.
    const auto file_of = [&](const char* key, const std::string& named, const std::string& in_configuration) {
        if (named.empty()) return named;
        try {
            return find_image(named, a.image_base);
        } catch (const input_error& why) {
            const auto& origin = configured.where.of(key);
            if (named != in_configuration || origin.empty()) throw;
            throw input_error(fmt::format("{}: node{}.images.{}: {}", origin, i, key, why.what()));
        }
    };
    const image_set images = {file_of("firmware", a.images.firmware, configured.firmware),
                              file_of("kernel", a.images.kernel, configured.kernel),
                              file_of("initrd", a.images.initrd, configured.initrd),
                              append_with_seed(a.images, params.simulation.seed), a.images.tohost};
    auto plan = std::make_unique<boot_plan>(memory(i));
    plan->add_stages(images);
    if (!images.append.empty()) h.set_bootargs(images.append);
    // The blob's size depends on whether there is a RAM disk, its place on the blob's size, the RAM disk's on both.
    if (!images.initrd.empty()) h.set_initrd(plan->memory().base, plan->memory().base + 1);
    try {
        plan->reserve("the device tree", h.device_tree_address(), h.device_tree().size());
    } catch (const std::invalid_argument& why) {
        throw input_error(fmt::format("node{}: {}", i, why.what()));
    }
    if (!images.initrd.empty()) {
        const auto disk = plan->add_initrd(images.initrd);
        h.set_initrd(disk.first, disk.second);
    }
    if (plan->entry()) h.set_entry(plan->entry());
    h.set_next_stage(plan->next_stage());

    a.tohost.reset();
    if (images.tohost) {
        const auto tohost = plan->symbol("tohost");
        if (!tohost)
            throw input_error(fmt::format("{}: has no symbol 'tohost' to watch",
                                          images.kernel.empty() ? images.firmware : images.kernel));
        a.tohost.emplace(
            *tohost, plan->symbol("fromhost"),
            [&h](auto address, void* to, std::size_t n) { return h.bus.debug_read(address, to, n); },
            [&h](auto address, const void* from, std::size_t n) { return h.bus.debug_write(address, from, n); },
            [&a](char c) { a.serial->printed(c); });
    }
    place(i, *plan);
    a.loaded = std::move(plan);
}

namespace {

/// Links that are slower than one of their ends could be, which is easily overlooked; a narrow card in a wide slot is
/// not. Once a link.
void tell_negotiated_links(const sc_core::sc_object& within) {
    for (const auto* child : within.get_child_objects()) tell_negotiated_links(*child);
    const auto* here = dynamic_cast<const pcie::port*>(&within);
    const auto* there = here ? here->partner() : nullptr;
    if (!there || std::strcmp(here->name(), there->name()) > 0) return;
    std::string could;
    for (const auto* end : {here, there}) {
        if (end->params.generation == end->generation() && end->params.width == end->lanes()) continue;
        could += fmt::format("{}{} could do generation {}, {} lanes", could.empty() ? "" : "; ", end->name(),
                             end->params.generation, end->params.width);
    }
    const bool slower =
        here->params.generation != here->generation() || there->params.generation != there->generation();
    if (slower)
        log(log_level::warning, *here, "the link runs at generation {}, {} lanes: {}", here->generation(),
            here->lanes(), could);
}

}  // namespace

void platform::implementation::start() {
    check_scopes();
    for (const auto& n : hardware->nodes)
        if (n) tell_negotiated_links(*n);
    for (std::size_t i = 0; i < contexts.size(); ++i)
        if (!contexts[i].loaded && hardware->nodes[i] && !hardware->nodes[i]->replay) load(i);
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        if (!hardware->nodes[i]) continue;
        if (hardware->nodes[i]->replay)
            start_replay(i);
        else
            hardware->nodes[i]->host.start();
    }
    started = true;
}

void platform::implementation::serve_resets() {
    if (hardware->timeline.in_callback()) {  // a reset cannot pull the ground from under the running callback
        hardware->timeline.stop();
        return;
    }
    for (std::size_t i = 0; i < contexts.size(); ++i)
        if (std::exchange(contexts[i].reset_wanted, false)) restart(i);
}

void platform::implementation::restart() {
    for (std::size_t i = 0; i < contexts.size(); ++i) contexts[i].reset_wanted = hardware->nodes[i] != nullptr;
    serve_resets();
}

void platform::implementation::restart(std::size_t i) {
    auto& a = contexts[i];
    auto& node = *hardware->nodes[i];
    if (a.outcome.state == node_state::running)
        node.reset();
    else
        node.power_up();
    if (a.loaded) place(i, *a.loaded);
    for (const auto& extra : a.extras) place(i, *extra);
    a.outcome = {};
    a.end_unreported = false;
    a.test.reset();
    if (!started) return;
    if (node.replay)
        start_replay(i);
    else
        node.host.start();
}

void platform::implementation::end(run_outcome outcome, std::string detail, int status) {
    if (!ending) ending = run_result{outcome, status, std::move(detail)};
    hardware->timeline.stop();
}

}  // namespace fabricvp
