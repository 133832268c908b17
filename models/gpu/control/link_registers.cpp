// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/link_registers.h"

#include <algorithm>

namespace fabricvp::gpu {

namespace {

using fabricvp::link::lane_policy_kind;

register_field present() { return {"present", 31, 1, field_access::read_only, "the link has it"}; }

std::vector<fabric::link_control> reached(const fabric::terminal* attached) {
    auto all = attached ? attached->link_controls() : std::vector<fabric::link_control>{};
    all.resize(std::min<std::size_t>(all.size(), GPU_MAX_LINKS));
    return all;
}

}  // namespace

link_registers::link_registers(const fabric::terminal* attached)
    : links(bank, "links", GPU_LINKS, 4, 0,
            {{"count", 0, 32, field_access::read_only, "links that these registers reach"}}),
      waits(bank, "link_waits", GPU_LINK_PENDING, 8, 0,
            {{"links", 0, 64, field_access::read_only, "that go on as before until they are empty"}}),
      stage(bank, "link_stage", GPU_LINK_STAGE, 4, 0,
            {{"settings", 0, 31, field_access::read_write, "what its kind says"}, present()}, {GPU_MAX_LINKS}),
      lanes(bank, "link_lanes", GPU_LINK_LANES, 4, 0,
            {{"policy", 0, 2, field_access::read_write, "enum gpu_link_policy"}, present()}, {GPU_MAX_LINKS}),
      m_links(reached(attached)) {
    links.on_read([this](std::size_t) { return m_links.size(); });
    waits.on_read([this](std::size_t) { return waiting(); });
    stage.on_read([this](std::size_t link) -> std::uint64_t {
        const auto* s = at(link).stage;
        return s ? GPU_LINK_PRESENT | s->settings() : 0;
    });
    lanes.on_read([this](std::size_t link) -> std::uint64_t {
        const auto* l = at(link).lanes;
        return l ? GPU_LINK_PRESENT | static_cast<std::uint32_t>(l->kind()) : 0;
    });
    stage.on_write([this](std::size_t link, std::uint64_t bits) {
        if (auto* s = at(link).stage) s->set(static_cast<std::uint32_t>(bits & ~GPU_LINK_PRESENT));
    });
    lanes.on_write([this](std::size_t link, std::uint64_t bits) {
        if (auto* l = at(link).lanes) l->set(static_cast<lane_policy_kind>(bits & GPU_LINK_PREDICTIVE));
    });
}

std::uint64_t link_registers::waiting() const {
    std::uint64_t bits = 0;
    for (std::size_t l = 0; l < m_links.size(); ++l)
        if ((at(l).stage && at(l).stage->pending()) || (at(l).lanes && at(l).lanes->pending()))
            bits |= std::uint64_t{1} << l;
    return bits;
}

}  // namespace fabricvp::gpu
