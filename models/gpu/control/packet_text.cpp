// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/packet_text.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "abi/gpu.h"
#include "abi/stream_packet.h"

namespace fabricvp::gpu {

namespace {

std::string text_of(const aql_kernel_dispatch& p, const std::string& kernel) {
    const unsigned dimensions = p.dimensions & 3;
    const auto sizes = [&](const auto* size) {
        std::string text;
        for (unsigned d = 0; d < dimensions; ++d) text += fmt::format("{}{}", d ? "x" : "", size[d]);
        return text.empty() ? std::string("0") : text;
    };
    auto text = fmt::format("kernel {}, grid {} by {}, arguments at {:#x}", kernel, sizes(p.grid_size),
                            sizes(p.workgroup_size), p.kernarg_address);
    const auto first = static_cast<std::uint32_t>(p.part), count = static_cast<std::uint32_t>(p.part >> 32);
    if (p.chunk)
        text += fmt::format(", {} of every {} work-groups from {} on", p.chunk, count, first);
    else if (count)
        text += fmt::format(", work-groups {} to {}", first, std::uint64_t{first} + count - 1);
    return text;
}

std::string text_of(const aql_barrier& p) {
    std::string text;
    for (const auto signal : p.dependency)
        if (signal) text += fmt::format("{}{:#x}", text.empty() ? " for signals " : ", ", signal);
    return (p.header & AQL_HEADER_TYPE_MASK) == AQL_TYPE_BARRIER_OR ? "barrier-OR" + text : "barrier-AND" + text;
}

std::string text_of_vendor(const std::uint8_t* packet) {
    aql_vendor v;
    std::memcpy(&v, packet, sizeof v);
    switch (v.operation) {
        case AQL_VENDOR_TIMESTAMP: return fmt::format("timestamp to {:#x}", v.argument[0]);
        case AQL_VENDOR_COPY:
            return fmt::format("copy {} bytes from {:#x} to {:#x}", v.argument[2], v.argument[0], v.argument[1]);
        case AQL_VENDOR_INVALIDATE_TLB: return "invalidate TLBs";
        case AQL_STREAM_WRITE: {
            aql_stream_write w;
            std::memcpy(&w, packet, sizeof w);
            std::string text = "write";
            for (unsigned i = 0; i < std::min<std::uint32_t>(w.count, AQL_STREAM_MAX_WRITES); ++i)
                text += fmt::format("{} {:#x} to {:#x}", i ? "," : "", w.write[i].value, w.write[i].to);
            return text;
        }
        case AQL_STREAM_WAIT: {
            aql_stream_wait w;
            std::memcpy(&w, packet, sizeof w);
            return fmt::format("wait until {:#x} under {:#x} {} {:#x}", w.at, w.mask,
                               w.condition == AQL_STREAM_GEQ ? "has reached" : "is", w.value);
        }
        case AQL_STREAM_COMPLETION: {
            aql_stream_completion c;
            std::memcpy(&c, packet, sizeof c);
            return fmt::format("wait for completion {} at {:#x}", c.consumer, c.at);
        }
        default: return fmt::format("vendor operation {}", v.operation);
    }
}

const char* scope_name(unsigned scope) {
    return scope == AQL_FENCE_AGENT ? "agent" : scope == AQL_FENCE_SYSTEM ? "system" : "reserved scope";
}

}  // namespace

std::string packet_type(std::uint16_t header) {
    switch (header & AQL_HEADER_TYPE_MASK) {
        case AQL_TYPE_VENDOR: return "vendor";
        case AQL_TYPE_INVALID: return "invalid";
        case AQL_TYPE_KERNEL_DISPATCH: return "kernel dispatch";
        case AQL_TYPE_BARRIER_AND: return "barrier-AND";
        case AQL_TYPE_AGENT_DISPATCH: return "agent dispatch";
        case AQL_TYPE_BARRIER_OR: return "barrier-OR";
        default: return fmt::format("type {:#x}", header & AQL_HEADER_TYPE_MASK);
    }
}

std::string text_of_packet(const std::uint8_t* packet, const std::string& kernel) {
    std::uint16_t header;
    std::memcpy(&header, packet, sizeof header);
    std::uint64_t signal;
    std::memcpy(&signal, packet + 56, sizeof signal);
    std::string text;
    switch (header & AQL_HEADER_TYPE_MASK) {
        case AQL_TYPE_KERNEL_DISPATCH: {
            aql_kernel_dispatch p;
            std::memcpy(&p, packet, sizeof p);
            text = text_of(p, kernel);
            break;
        }
        case AQL_TYPE_BARRIER_AND:
        case AQL_TYPE_BARRIER_OR: {
            aql_barrier p;
            std::memcpy(&p, packet, sizeof p);
            text = text_of(p);
            break;
        }
        case AQL_TYPE_VENDOR: text = text_of_vendor(packet); break;
        default: text = packet_type(header);
    }
    if (signal) text += fmt::format(", signal {:#x}", signal);
    if (header & AQL_HEADER_BARRIER) text += ", after all before it";
    if (const unsigned scope = header >> AQL_HEADER_ACQUIRE_SHIFT & 3)
        text += fmt::format(", acquires {}", scope_name(scope));
    if (const unsigned scope = header >> AQL_HEADER_RELEASE_SHIFT & 3)
        text += fmt::format(", releases {}", scope_name(scope));
    return text;
}

std::string fault_text(std::uint32_t fault) {
    switch (fault) {
        GPU_FAULTS(GPU_FAULT_TEXT)
        default: return fmt::format("fault {}", fault);
    }
}

}  // namespace fabricvp::gpu
