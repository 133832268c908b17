// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "fabric/netcrafter/parameters.h"
#include "fabric/stage_kind.h"

namespace fabricvp::fabric::netcrafter {

/// NetCrafter as a kind of stage: the controller stitches before the lanes, the ingress stage takes apart behind them.
class settings final : public stage_settings_of<settings> {
public:
    parameters parts;

    void describe(parameter_visitor& v) override { parts.describe(v); }
    bool enabled() const override { return parts.on(); }
    bool fits(const stage_place& at) const override { return at.crosses_clusters; }
    const char* required_link() const override { return "link to another cluster"; }
    std::string problem(const packet_format& f) const override;
    std::string format_problem(const packet_format& f) const override;
    std::unique_ptr<egress_stage> make_egress(const char* name, const stage_place& at) const override;
    std::unique_ptr<ingress_stage> make_ingress(const char* name, const stage_place& at) const override;
    hold longest_hold(ticks cycle) const override;
    const char* changes_requests() const override { return parts.trimming ? "trimming" : nullptr; }
};

/// Chooses this kind unless it is chosen already. \returns its parameters
parameters& use(chosen_stage& stage);

}  // namespace fabricvp::fabric::netcrafter
