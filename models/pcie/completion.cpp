// SPDX-License-Identifier: Apache-2.0
#include "pcie/completion.h"

#include <algorithm>

namespace fabricvp::pcie {

tlp_ptr make_completion(const tlp& request, std::uint16_t completer, completion_status status) {
    auto c = make_tlp();
    c->kind = tlp_kind::completion;
    c->status = status;
    c->requester = request.requester;
    c->completer = completer;
    c->tag = request.tag;
    c->relaxed_ordering = request.relaxed_ordering;
    c->inherit_access(request);
    c->byte_count = static_cast<std::uint16_t>(request.kind == tlp_kind::memory_read ? request.bytes & 0xfff : 4);
    return c;
}

tlp_ptr make_data_completion(const tlp& request, std::uint16_t completer, const buffer_slice& data) {
    auto c = make_completion(request, completer, completion_status::successful);
    c->kind = tlp_kind::completion_with_data;
    c->data = data;
    c->bytes = static_cast<std::uint32_t>(data.length);
    c->byte_count = static_cast<std::uint16_t>(data.length);
    return c;
}

void make_read_completions(const tlp& request, std::uint16_t completer, const buffer_slice& data,
                           std::uint32_t max_payload, std::uint32_t boundary,
                           const std::function<void(const tlp_ptr&)>& send) {
    for (std::uint32_t at = 0; at < request.bytes;) {
        const auto address = request.address + at;
        auto bytes = std::min<std::uint64_t>(request.bytes - at, payload_room(address, max_payload));
        if (bytes < request.bytes - at) bytes -= (address + bytes) % boundary;
        auto c = make_data_completion(request, completer, data.part(at, bytes));
        c->byte_count = static_cast<std::uint16_t>((request.bytes - at) & 0xfff);
        c->lower_address = static_cast<std::uint8_t>(address & 0x7f);
        send(c);
        at += static_cast<std::uint32_t>(bytes);
    }
}

}  // namespace fabricvp::pcie
