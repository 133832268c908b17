// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "abi/memory_errors.h"
#include "abi/memory_map.h"
#include "host/register_target.h"

namespace fabricvp::host {

/// What software can read of errors of the host's memory (abi/memory_errors.h).
class memory_error_record final : public register_target {
public:
    device_register corrected{
        registers, "corrected", MEMORY_ERRORS_CORRECTED,
        8,         0,           {{"words", 0, 64, field_access::read_only, "with one wrong bit"}}};
    device_register uncorrected{registers,
                                "uncorrected",
                                MEMORY_ERRORS_UNCORRECTED,
                                8,
                                0,
                                {{"words", 0, 64, field_access::read_only, "with two that were reached"}}};
    device_register status{registers,
                           "status",
                           MEMORY_ERRORS_STATUS,
                           8,
                           0,
                           {{"CORRECTED", 0, 1, field_access::write_one_to_clear, "a word was corrected"},
                            {"UNCORRECTED", 1, 1, field_access::write_one_to_clear, "one could not be read"},
                            {"reserved", 2, 62, field_access::reserved, ""}}};
    device_register address{registers, "address", MEMORY_ERRORS_ADDRESS,
                            8,         0,         {{"address", 0, 64, field_access::read_only, "of the word"}}};

    explicit memory_error_record(const sc_core::sc_module_name& name)
        : register_target(name, VIRT_MEMORY_ERRORS_SIZE) {}

    void note(std::uint64_t physical, bool was_corrected) {
        if (!(status() & MEMORY_ERRORS_STATUS_UNCORRECTED)) address.set(physical);
        auto& count = was_corrected ? corrected : uncorrected;
        count.set(count() + 1);
        status.set(status() | (was_corrected ? MEMORY_ERRORS_STATUS_CORRECTED : MEMORY_ERRORS_STATUS_UNCORRECTED));
    }
};

}  // namespace fabricvp::host
