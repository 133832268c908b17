// SPDX-License-Identifier: Apache-2.0
// Which register of abi an access fell into.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "abi/aplic.h"
#include "abi/clint.h"
#include "abi/finisher.h"
#include "abi/goldfish_rtc.h"
#include "abi/imsic.h"
#include "abi/marker.h"
#include "abi/plic.h"
#include "abi/registers.h"
#include "abi/uart16550.h"

namespace fabricvp::test {

inline const std::map<std::string, std::vector<abi_register>>& abi_registers() {
    static const std::map<std::string, std::vector<abi_register>> all = {
        {"clint", {CLINT_REGISTERS(ABI_ROW)}},   {"finisher", {FINISHER_REGISTERS(ABI_ROW)}},
        {"marker", {MARKER_REGISTERS(ABI_ROW)}}, {"plic", {PLIC_REGISTERS(ABI_ROW)}},
        {"aplic_m", {APLIC_REGISTERS(ABI_ROW)}}, {"aplic_s", {APLIC_REGISTERS(ABI_ROW)}},
        {"imsic_m", {IMSIC_REGISTERS(ABI_ROW)}}, {"imsic_s", {IMSIC_REGISTERS(ABI_ROW)}},
        {"rtc", {RTC_REGISTERS(ABI_ROW)}},       {"uart", {UART_REGISTERS(ABI_ROW)}},
    };
    return all;
}

/// Name of the register that holds all bytes of the access; empty if there is none.
inline std::string abi_register_at(const std::string& device, std::uint64_t offset, unsigned size) {
    const auto registers = abi_registers().find(device);
    if (registers == abi_registers().end()) return {};
    for (const auto& r : registers->second) {
        if (offset < r.offset) continue;
        const auto index = (offset - r.offset) / r.stride, byte = (offset - r.offset) % r.stride;
        if (index < r.count && byte + size <= r.bytes) return r.name;
    }
    return {};
}

using touched_map = std::map<std::string, std::set<std::pair<std::uint64_t, unsigned>>>;

/// "device+0xoffset/size" for each access that no register of abi explains.
inline std::vector<std::string> unexplained(const touched_map& touched) {
    std::vector<std::string> list;
    for (const auto& [device, accesses] : touched)
        for (const auto& [offset, size] : accesses)
            if (abi_register_at(device, offset, size).empty())
                list.push_back(fmt::format("{}+{:#x}/{}", device, offset, size));
    return list;
}

}  // namespace fabricvp::test
