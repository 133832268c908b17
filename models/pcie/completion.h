// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "pcie/tlp.h"

namespace fabricvp::pcie {

/// Answers a non-posted request without data.
tlp_ptr make_completion(const tlp& request, std::uint16_t completer, completion_status status);

/// Answers a memory read with `data` (request.bytes long), in completions of at most `max_payload` bytes that end on
/// multiples of the read completion boundary (64 or 128 bytes), in order.
void make_read_completions(const tlp& request, std::uint16_t completer, const buffer_slice& data,
                           std::uint32_t max_payload, std::uint32_t boundary,
                           const std::function<void(const tlp_ptr&)>& send);

/// Answers an atomic or a configuration read with `data` in one completion.
tlp_ptr make_data_completion(const tlp& request, std::uint16_t completer, const buffer_slice& data);

}  // namespace fabricvp::pcie
