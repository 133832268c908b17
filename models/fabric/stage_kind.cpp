// SPDX-License-Identifier: Apache-2.0
#include "fabric/stage_kind.h"

#include <stdexcept>

#include <fmt/format.h>

#include "base/described_blocks.h"
#include "base/kind_registry.h"
#include "fabric/netcrafter/settings.h"

namespace fabricvp::fabric {

namespace {

struct no_stage final : stage_settings_of<no_stage> {
    void describe(parameter_visitor&) override {}
    bool enabled() const override { return false; }
};

}  // namespace

std::vector<stage_kind>& stage_settings::kinds() {
    static std::vector<stage_kind> all = {
        make_stage_kind<no_stage>("none", "packets wait in a plain queue"),
        make_stage_kind<netcrafter::settings>("netcrafter", "NetCrafter's controller, at links to other clusters"),
    };
    return all;
}

void add_stage_kind(const stage_kind& kind) {
    if (!is_block_name(kind.name))
        throw std::invalid_argument(
            fmt::format("'{}' is no name for a kind of stage: give letters, digits and _", kind.name));
    add_kind(kind, "stages");
}

}  // namespace fabricvp::fabric
