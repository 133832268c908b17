// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <elf.h>
#include <catch2/catch.hpp>

#include "abi/gpu_apertures.h"

namespace fabricvp::test {

/// Calls `put(offset, bytes, size)` for every loaded segment of an ELF file; offsets count from `base`, where an image
/// starts.
template <class F>
void load_kernel(const std::string& path, F put, std::uint64_t base = GPU_CODE_BASE) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file.good());
    const std::vector<char> contents{std::istreambuf_iterator<char>(file), {}};
    Elf64_Ehdr header;
    std::memcpy(&header, contents.data(), sizeof header);
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        std::memcpy(&segment, contents.data() + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD)
            put(segment.p_vaddr - base, contents.data() + segment.p_offset, segment.p_filesz);
    }
}

}  // namespace fabricvp::test
