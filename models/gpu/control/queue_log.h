// SPDX-License-Identifier: Apache-2.0
// What a command processor does with its queues, in words: doorbells, packets fetched and retired, kernels, signals
// (`--log-bus gpu`). The hardware knows nothing of queues: they are recognised by the table that host and firmware
// share (abi/gpu.h) and by the accesses of the harts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "abi/gpu.h"
#include "base/bus_log.h"
#include "base/time.h"
#include "gpu/lanes/dispatch.h"
#include "gpu/memory/gpu_memory_system.h"

namespace fabricvp::gpu {

class command_processor;

/// GPUs tell of doorbells, packets, kernels and signals.
inline bus_log::channel bus_log_channel{"gpu", "queue"};

/// An access of a hart to an address space of kernels that has succeeded.
struct cp_access {
    unsigned hart;
    std::uint32_t space;
    std::uint64_t address;      ///< virtual
    const std::uint8_t* bytes;  ///< what was read or written; of an atomic the old value
    unsigned size;
    enum class kind { read, write, atomic } what;
};

/// Hears of everything while it is on().
class queue_log {
public:
    queue_log(const command_processor& processor, const gpu_memory_system& memory);

    /// While `bus_log_channel` is open, or a debugger watches.
    bool on() const { return m_watchers || bus_log_channel.open(); }
    /// Keeps account of packets without lines, for a debugger.
    void watch(bool begins) { m_watchers += begins ? 1 : -1; }
    /// Index of the packet at the head of a queue, as far as it was on when the queue was opened.
    std::uint64_t read_index(unsigned queue) const { return m_queues[queue].next; }

    void doorbell(std::uint64_t queue, std::uint64_t value);
    /// The host has written to the processor's memory.
    void table_written(std::uint64_t offset, std::size_t size);
    void accessed(const cp_access& a);
    void launched(unsigned hart, std::uint32_t cookie, const dispatch& what);
    void rejected(unsigned hart, const char* why);
    /// \param since when the kernel was launched
    void ended(std::uint64_t cookie, std::uint32_t fault, ticks since, ticks now);
    void interrupt(unsigned vector);

private:
    struct known_queue {
        std::uint64_t next = 0;           ///< index of the packet at the head
        std::uint64_t announced = ~0ull;  ///< the one that was logged last
        std::string kernel;               ///< of the packet at the head
        std::uint32_t state = GPU_QUEUE_FREE;
    };
    struct packet_name {
        unsigned queue;
        std::uint64_t index;
        std::string kernel;
    };

    gpu_queue table(unsigned queue) const;
    void loaded(const cp_access& a, unsigned queue, const gpu_queue& t);
    void retired(unsigned queue);
    void signalled(const cp_access& a);

    template <class... Args>
    void tell(const bus_log::subject& about, fmt::format_string<Args...> format, Args&&... args) const;

    const command_processor& m_processor;
    const gpu_memory_system& m_memory;
    int m_watchers = 0;
    std::array<known_queue, GPU_QUEUES> m_queues;
    std::array<std::array<std::uint8_t, 64>, 16> m_fetched{};                  // by hart: the packet that it loads
    std::array<unsigned, 16> m_current{};                                      // by hart: the queue of its last packet
    std::map<std::uint64_t, packet_name> m_launches;                           // by hart and cookie
    std::map<std::pair<std::uint32_t, std::uint64_t>, packet_name> m_signals;  // by address space and address
};

}  // namespace fabricvp::gpu
