// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/link_registers.h"

#include <algorithm>

namespace fabricvp::gpu {

namespace {

using fabric::netcrafter::pooling_mode;
using fabric::netcrafter::sequencing_mode;
using fabricvp::link::lane_policy_kind;

register_field present() { return {"present", 31, 1, field_access::read_only, "the link has it"}; }

std::uint32_t bits_of(const fabric::netcrafter::parameters& p) {
    std::uint32_t bits = GPU_LINK_PRESENT;
    if (p.stitching) bits |= GPU_LINK_STITCHING;
    if (p.trimming) bits |= GPU_LINK_TRIMMING;
    if (p.pooling == pooling_mode::plain) bits |= GPU_LINK_POOLING;
    if (p.pooling == pooling_mode::selective) bits |= GPU_LINK_SELECTIVE_POOLING;
    if (p.sequencing == sequencing_mode::page_tables) bits |= GPU_LINK_SEQUENCING;
    if (p.sequencing == sequencing_mode::data) bits |= GPU_LINK_DATA_FIRST;
    return bits;
}

void set_parts(fabric::netcrafter::controller& c, std::uint64_t bits) {
    c.set_parts(bits & GPU_LINK_STITCHING, bits & GPU_LINK_TRIMMING,
                bits & GPU_LINK_SELECTIVE_POOLING ? pooling_mode::selective
                : bits & GPU_LINK_POOLING         ? pooling_mode::plain
                                                  : pooling_mode::none,
                bits & GPU_LINK_SEQUENCING   ? sequencing_mode::page_tables
                : bits & GPU_LINK_DATA_FIRST ? sequencing_mode::data
                                             : sequencing_mode::none);
}

std::vector<fabric::link_control> reached(const fabric::terminal* attached) {
    auto all = attached ? fabric::controls_at(*attached) : std::vector<fabric::link_control>{};
    all.resize(std::min<std::size_t>(all.size(), GPU_MAX_LINKS));
    return all;
}

}  // namespace

link_registers::link_registers(const fabric::terminal* attached)
    : links(bank, "links", GPU_LINKS, 4, 0,
            {{"count", 0, 32, field_access::read_only, "links that these registers reach"}}),
      waits(bank, "link_waits", GPU_LINK_PENDING, 8, 0,
            {{"links", 0, 64, field_access::read_only, "that go on as before until they are empty"}}),
      netcrafter(bank, "link_netcrafter", GPU_LINK_NETCRAFTER, 4, 0,
                 {{"parts", 0, 6, field_access::read_write, "enum gpu_link_features"}, present()}, {GPU_MAX_LINKS}),
      lanes(bank, "link_lanes", GPU_LINK_LANES, 4, 0,
            {{"policy", 0, 2, field_access::read_write, "enum gpu_link_policy"}, present()}, {GPU_MAX_LINKS}),
      m_links(reached(attached)) {
    links.on_read([this](std::size_t) { return m_links.size(); });
    waits.on_read([this](std::size_t) { return waiting(); });
    netcrafter.on_read([this](std::size_t link) -> std::uint64_t {
        const auto* c = at(link).netcrafter;
        return c ? bits_of(c->parts()) : 0;
    });
    lanes.on_read([this](std::size_t link) -> std::uint64_t {
        const auto* l = at(link).lanes;
        return l ? GPU_LINK_PRESENT | static_cast<std::uint32_t>(l->kind()) : 0;
    });
    netcrafter.on_write([this](std::size_t link, std::uint64_t bits) {
        if (auto* c = at(link).netcrafter) set_parts(*c, bits);
    });
    lanes.on_write([this](std::size_t link, std::uint64_t bits) {
        if (auto* l = at(link).lanes) l->set(static_cast<lane_policy_kind>(bits & GPU_LINK_PREDICTIVE));
    });
}

std::uint64_t link_registers::waiting() const {
    std::uint64_t bits = 0;
    for (std::size_t l = 0; l < m_links.size(); ++l)
        if ((at(l).netcrafter && at(l).netcrafter->pending()) || (at(l).lanes && at(l).lanes->pending()))
            bits |= std::uint64_t{1} << l;
    return bits;
}

}  // namespace fabricvp::gpu
