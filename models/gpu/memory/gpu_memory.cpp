// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/gpu_memory.h"

#include "gpu/memory/line_bytes.h"

namespace fabricvp::gpu {

void gpu_memory::write_line(std::uint64_t line, const std::uint8_t* from, std::uint64_t mask) {
    const unsigned marks = bytes.marks(line >> sparse_memory::page_bits);
    if (!(marks & (sparse_memory::decoded | sparse_memory::reserved)))
        return copy_bytes(bytes.data() + line, from, mask);
    while (mask) {  // run by run, of which observers are told
        const unsigned first = static_cast<unsigned>(__builtin_ctzll(mask));
        const std::uint64_t rest = ~(mask >> first);
        const unsigned length = rest ? static_cast<unsigned>(__builtin_ctzll(rest)) : line_bytes;
        bytes.write(line + first, from + first, length);
        if (first + length >= line_bytes) return;
        mask &= ~std::uint64_t{0} << (first + length);
    }
}

std::uint64_t gpu_memory::atomic(std::uint64_t offset, unsigned size, atomic_extension::operation operation,
                                 std::uint64_t operand, std::uint64_t compare) {
    const std::uint64_t old = perform_atomic(operation, bytes.data() + offset, size, operand, compare);
    bytes.written(offset, size);
    return old;
}

std::uint64_t gpu_memory::load(std::uint64_t offset, unsigned size) const {
    std::uint64_t value = 0;
    bytes.read(offset, &value, size);
    return value;
}

}  // namespace fabricvp::gpu
