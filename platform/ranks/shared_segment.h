// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <boost/interprocess/mapped_region.hpp>

#include "platform/ranks/window_exchange.h"

namespace fabricvp::ranks {

/// Memory that the ranks of one computer share: a ring from each of them to each other one, where they sleep, and what
/// they know of each other's time. It has no name, so nothing is left of it when the last of them has ended, however
/// that was. Processes get it by fork().
class shared_segment {
public:
    /// \param ring_bytes a power of two, at least 128; 0: what suits so many ranks
    /// \param processors that the ranks have; 0: those that this process may use
    /// \throws input_error where there is no memory for it
    explicit shared_segment(unsigned count, std::size_t ring_bytes = 0, unsigned processors = 0);

    static constexpr std::uint32_t for_all = ~0u, for_window = for_all - 1;
    /// What all know of one rank, in a cache line of its own.
    struct alignas(64) rank_state {
        /// 1 + the rank whose next step it sleeps for; `for_all`: until all ranks have sent; `for_window`: until it
        /// takes part in a window; 0: it is awake
        std::atomic<std::uint32_t> sleeps_for{0};
        std::atomic<std::int32_t> core{-1};  ///< where it was when it last began to exchange
        std::atomic<bool> finished{false}, results_written{false};
    };
    struct alignas(64) arrivals {
        std::atomic<std::uint64_t> begun{0}, sent{0};  ///< one for each rank and exchange
        std::atomic<std::uint32_t> last{0};            ///< the rank that was the last to begin the latest exchange
    };

    /// What a rank has said at the end of its latest window. The last rank of a window reads it, and takes the work
    /// out of it.
    struct alignas(64) report : window_report {};
    /// When it is a rank's turn. The rank that opens a window writes it.
    struct alignas(64) turn {
        std::atomic<std::uint32_t> window{0};  ///< the latest that it takes part in; stands for what is below
        std::uint32_t opened_by = 0;
        window_bounds bounds{};
        std::atomic<ticks> due{never};        ///< when the earliest message counts that it has not been told of
        std::atomic<std::uint32_t> begun{0};  ///< the latest window that the rank itself has begun
    };
    /// Of the ranks that share a processor: processor_seat.h.
    struct alignas(64) seat {
        std::atomic<std::uint32_t> holder{0};  ///< 1 + the rank that has it
    };
    struct alignas(64) windows {
        std::atomic<std::uint32_t> at_work;  ///< ranks that have not done what the present window allows
        std::atomic<bool> for_all{false};    ///< all take part in the next one
        std::uint32_t number = 0;            ///< of the present one; this and the work are the opening rank's
        parallel_work work;
    };

    unsigned count() const { return m_count; }
    /// Processors that share the ranks out among them, in contiguous blocks; 0: each rank may have one of its own.
    unsigned seats() const { return m_seats; }
    unsigned seat_number(unsigned rank) const { return rank * m_seats / m_count; }
    std::size_t ring_bytes() const { return m_ring_bytes; }
    arrivals& all() const { return shared().exchanges; }
    windows& all_windows() const { return shared().window; }
    rank_state& state(unsigned rank) const { return of(rank).state; }
    report& report_of(unsigned rank) const { return of(rank).latest; }
    turn& turn_of(unsigned rank) const { return of(rank).next; }
    seat& seat_of(unsigned rank) const { return of(seat_number(rank)).of_processor; }
    /// Where the ring from one rank to another one is.
    void* ring(unsigned from, unsigned to) const;

private:
    struct of_all {
        arrivals exchanges;
        windows window;
    };
    struct of_rank {
        rank_state state;
        report latest;
        turn next;
        seat of_processor;  ///< of that number
    };
    static std::size_t bytes_needed(unsigned count, std::size_t ring_bytes);
    of_all& shared() const { return *static_cast<of_all*>(m_region.get_address()); }
    of_rank& of(unsigned rank) const { return reinterpret_cast<of_rank*>(&shared() + 1)[rank]; }

    unsigned m_count, m_seats;
    std::size_t m_ring_bytes;
    boost::interprocess::mapped_region m_region;
};

}  // namespace fabricvp::ranks
