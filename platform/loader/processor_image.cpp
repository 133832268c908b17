// SPDX-License-Identifier: Apache-2.0
#include "platform/loader/processor_image.h"

#include <fmt/format.h>

#include "abi/gpu.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/loader/elf_image.h"
#include "platform/loader/image_paths.h"

namespace fabricvp {

gpu::processor_firmware read_processor_firmware(const std::string& named) {
    constexpr std::size_t max_file_bytes = 64 << 20;  // symbols included
    const auto path = find_image(named, {});
    const auto contents = read_file(path, max_file_bytes);
    const elf_image elf(contents, path);
    gpu::processor_firmware firmware;
    const auto begin = GPU_LOCAL(GPU_SRAM_FIRMWARE);
    for (const auto& s : elf.segments()) {
        if (s.physical < begin)
            throw input_error(fmt::format(
                "{}: no firmware of a command processor: {:#x} … {:#x} lies below {:#x}, where firmware/cp/cp.ld "
                "begins",
                path, s.physical, s.last(), begin));
        firmware.segments.push_back({s.physical - GPU_LOCAL(0), s.memory_size, std::string(s.bytes)});
    }
    firmware.entry = elf.entry() - GPU_LOCAL(0);
    return firmware;
}

}  // namespace fabricvp
