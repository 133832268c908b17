// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "abi/marker.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "host/register_target.h"

namespace fabricvp::host {

struct marker_params {
    std::string scope;
    std::string scope_origin;  ///< where it is written
    byte_size region_memory{512 << 20};
    void describe(parameter_visitor& v);
};

/// Marker device: firmware opens and closes regions of interest. Dumped regions are kept with their statistics.
class marker final : public register_target {
public:
    enum class kind { reset, dump, note };
    struct region {
        std::string label;
        ticks from;
        ticks to;
        statistics_snapshot values;
    };

    const marker_params params;

    device_register id;
    device_register command;
    device_register label;
    device_register regions_dumped;
    counter unknown_commands{*this, "unknown_commands", "1", "commands that mean nothing, and were ignored"};
    counter regions_lost{*this, "regions_lost", "1", "regions that there was no memory for (region_memory)"};

    /// Called inside the calendar callback of the guest's access, after the device has done its part.
    std::function<void(kind, const std::string& label)> on_mark;

    marker(const sc_core::sc_module_name& name, const marker_params& params);

    /// What firmware does by commands: a region begins, and ends with a label.
    void begin() { execute(MARKER_COMMAND_RESET); }
    void end(const std::string& label);

    void reset() override;
    const std::vector<region>& regions() const { return m_regions; }

private:
    void keep_region();
    void execute(std::uint64_t command);
    void add_to_label(char c);

    std::string m_label;
    ticks m_from = 0;
    std::vector<region> m_regions;
    std::uint64_t m_region_bytes = 0;  ///< that m_regions take, about
};

}  // namespace fabricvp::host
