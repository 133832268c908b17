// SPDX-License-Identifier: Apache-2.0
#include "pcie/device_kind.h"

#include "base/described_blocks.h"
#include "pcie/copy_engine.h"
#include "pcie/virtio_blk.h"

namespace fabricvp::pcie {

namespace {

std::vector<device_kind>& kinds() {
    static std::vector<device_kind> all = {
        make_device_kind<copy_engine, copy_engine_params>("copy_engine", "a DMA copy engine"),
        make_device_kind<virtio_blk, virtio_blk_params>("virtio_blk", "a virtio block device"),
    };
    return all;
}

}  // namespace

const std::vector<device_kind>& device_kinds() { return kinds(); }

void add_device_kind(const device_kind& kind) { kinds().push_back(kind); }

chosen_device::chosen_device() : m_kind(kinds().front().name), m_settings(kinds().front().settings()) {}

chosen_device& chosen_device::operator=(const chosen_device& other) {
    m_kind = other.m_kind;
    m_settings = other.m_settings->copy();
    return *this;
}

void chosen_device::describe(parameter_visitor& v) {
    std::vector<std::string> names;
    for (const auto& k : kinds()) names.emplace_back(k.name);
    const auto before = m_kind;
    v.choice("kind", m_kind, names, "what it is; the keys of that kind stand beside");
    for (const auto& k : kinds())
        if (m_kind == k.name && m_kind != before) m_settings = k.settings();
    auto* all = dynamic_cast<block_visitor*>(&v);
    if (!all || !all->wants_kinds()) return m_settings->describe(v);
    for (const auto& k : kinds()) {
        all->enter_kind(k.name, k.help);
        k.settings()->describe(v);
        all->leave_kind();
    }
}

}  // namespace fabricvp::pcie
