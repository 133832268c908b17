// SPDX-License-Identifier: Apache-2.0
#include "bindings/pages_in_use.h"

#include <fcntl.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "abi/memory_map.h"
#include "base/sparse_memory.h"
#include "bindings/session.h"
#include "platform/machine.h"

namespace fabricvp::python {
namespace {

/// Whether the system backs each page of this process's, from an address on; all of them where it does not say.
std::vector<bool> backed(const std::uint8_t* from, std::size_t pages) {
    constexpr std::uint64_t present = std::uint64_t{1} << 63, swapped = std::uint64_t{1} << 62;
    std::vector<std::uint64_t> entries(pages);
    const auto bytes = pages * sizeof entries[0];
    const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const auto at = reinterpret_cast<std::uintptr_t>(from) / sparse_memory::page_size * sizeof entries[0];
    const auto got = file < 0 || sysconf(_SC_PAGESIZE) != static_cast<long>(sparse_memory::page_size)
                         ? 0
                         : pread(file, entries.data(), bytes, static_cast<off_t>(at));
    if (file >= 0) close(file);
    std::vector<bool> all(pages, true);
    for (std::size_t page = 0; got > 0 && page < static_cast<std::size_t>(got) / sizeof entries[0]; ++page)
        all[page] = entries[page] & (present | swapped);
    return all;
}

/// Offsets of pages with a byte that is not zero. A page that was never touched is not read, which would touch it.
std::vector<std::uint64_t> pages_in_use(const sparse_memory& memory) {
    constexpr auto page_size = sparse_memory::page_size;
    const auto count = static_cast<std::size_t>(memory.size() / page_size);
    const auto is_backed = backed(memory.data(), count);
    std::vector<std::uint64_t> found;
    for (std::size_t page = 0; page < count; ++page) {
        const auto* bytes = memory.data() + page * page_size;
        if (is_backed[page] && std::any_of(bytes, bytes + page_size, [](std::uint8_t byte) { return byte != 0; }))
            found.push_back(page * page_size);
    }
    return found;
}

std::vector<std::uint64_t> of_host(session& s, std::size_t node) {
    const auto& bus = std::as_const(s.machine().hardware().nodes.at(node)->host.bus);
    return pages_in_use(*bus.ranges().find(VIRT_DRAM_BASE)->value.memory);
}

std::vector<std::uint64_t> of_gpu(session& s, std::size_t node, std::size_t gpu) {
    return pages_in_use(s.machine().hardware().nodes.at(node)->devices.gpus.at(gpu)->core.memory.memory.bytes);
}

}  // namespace

void bind_pages_in_use(pybind11::module_& m) {
    m.def("pages_in_use", &of_host);
    m.def("gpu_pages_in_use", &of_gpu);
}

}  // namespace fabricvp::python
