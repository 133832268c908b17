// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "fabric/interconnect.h"

namespace fabricvp::fabric {

/// Which stages a description puts at which directions of its links. A link's own comes before that of the switch or
/// device that sends.
class stage_plan {
public:
    /// A stage that was chosen and is on.
    struct use {
        std::string path, origin;  ///< "cluster0.stage", and where it is written
        const chosen_stage& stage;
        ticks cycle;                        ///< of the switch that sends by it
        bool of_link;                       ///< a link has it for its own
        bool at_device = false;             ///< a device sends by it
        std::vector<stage_place> places{};  ///< the ports that send by it
        const stage_settings& settings() const { return stage.settings(); }
    };

    /// \param p must outlive the plan
    explicit stage_plan(const interconnect_params& p);

    const std::vector<use>& uses() const& { return m_uses; }
    const std::vector<use>& uses() && = delete;  // a loop over a temporary's would outlive it
    /// \throws std::invalid_argument if a stage cannot be where it is
    void check() const;

    /// Of what is sent by a link. \param forward from its `from` to its `to` \returns null if there is none
    const use* of(std::size_t link, bool forward) const;
    /// At its far end: as the stage there says, if it is of the same kind, otherwise as the sender's.
    const stage_settings* ingress(std::size_t link, bool forward) const;

private:
    static constexpr std::size_t none = ~std::size_t{0};

    const interconnect_params& m_params;
    std::vector<use> m_uses;
    std::vector<std::array<std::size_t, 2>> m_of;  // by link and direction: number of the use
};

}  // namespace fabricvp::fabric
