// SPDX-License-Identifier: Apache-2.0
// What an access to memory asks for, in one struct for everything that carries it from end to end: a wavefront's
// instruction, the line requests that it becomes, and the packets that take those to another GPU. Each has it as a base
// and takes it over whole with set_operation(), so that a new field travels without a copy of its own.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/access_kind.h"
#include "base/bus.h"

namespace fabricvp {

/// How far an access must be seen. `plain` is an ordinary load or store, which L1 serves.
enum class memory_scope : std::uint8_t { plain, agent, system };

/// What an instruction asks of each of its addresses.
struct memory_operation {
    access_kind kind = access_kind::read;
    memory_scope scope = memory_scope::plain;
    std::uint8_t size = 4;  ///< bytes at an address: 1, 2, 4 or 8; a line operation has it if it is atomic
    atomic_extension::operation operation = atomic_extension::operation::add;

    void set_operation(const memory_operation& of) { *this = of; }
};

/// What is asked of one line.
struct line_operation : memory_operation {
    std::uint8_t offset = 0;            ///< in the line: of atomics, of page tables' entries
    std::uint8_t needed_sectors = 0xf;  ///< reads: bit n, sector n of 16 bytes; the requester wants it
    bool sectored = false;              ///< reads: for a sector cache, which takes the needed sectors alone
    bool read_critical = false;         ///< reads of page tables: a load or an instruction fetch waits for the walk
    std::uint8_t operands = 0;          ///< atomics: how many stand in the data, at `byte_mask`, and so come the
                                        ///< old values back; 0: one, in `operand`
    std::uint64_t line = 0;             ///< physical address, 64-byte aligned (abi/gpu_apertures.h)
    std::uint64_t byte_mask = 0;        ///< writes, exact reads, atomics with `operands`: bit n, byte n
    std::uint64_t operand = 0, compare = 0;  ///< atomics; the old value comes back in `operand`
    std::uint64_t owner = 0;                 ///< of a reservation or lock: unique in the node

    using memory_operation::set_operation;
    void set_operation(const line_operation& of) { *this = of; }
};

static_assert(std::is_trivially_copyable_v<line_operation> && sizeof(line_operation) == 56);

}  // namespace fabricvp
