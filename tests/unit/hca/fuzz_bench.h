// SPDX-License-Identifier: Apache-2.0
// What the fuzzers have in common. `HCA_FUZZ` in the environment says how many rounds there are, `HCA_FUZZ_SEED` which.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "base/log.h"
#include "two_adapter_bench.h"

namespace fabricvp::hca::test {

/// Memory that an attacker must not see is full of this; none of its own bytes are.
inline constexpr std::uint8_t secret = 0xc3, below_secret = 0xc0;

inline std::uint64_t environment_or(const char* what, std::uint64_t usually) {
    const char* text = std::getenv(what);
    return text ? std::strtoull(text, nullptr, 10) : usually;
}

/// As many of them in a row as cannot be chance.
inline bool shows_secret(const std::uint8_t* bytes, std::size_t count) {
    std::size_t row = 0;
    for (std::size_t i = 0; i < count; ++i)
        if ((row = bytes[i] == secret ? row + 1 : 0) == 6) return true;
    return false;
}

class random_source {
public:
    random_source() : m_random(20'231 + environment_or("HCA_FUZZ_SEED", 0)) { set_log_threshold(log_level::error); }

    std::uint64_t any() { return m_random(); }
    std::uint32_t word() { return static_cast<std::uint32_t>(m_random()); }
    std::uint64_t below(std::uint64_t n) { return m_random() % n; }
    /// Once in n times.
    bool once_in(std::uint64_t n) { return below(n) == 0; }
    std::uint8_t byte() { return static_cast<std::uint8_t>(below(below_secret)); }
    template <class List>
    auto& of(List& list) {
        return list[below(std::size(list))];
    }
    void fill(std::uint8_t* to, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) to[i] = byte();
    }

private:
    std::mt19937_64 m_random;
};

/// Bytes of a region, page by page.
template <class Act>
void for_pages(const driver::memory_region& r, Act act) {
    for (std::uint64_t done = 0; done < r.bytes;) {
        const auto offset = r.address % 4096 + done;
        const auto piece = std::min<std::uint64_t>(4096 - offset % 4096, r.bytes - done);
        act(r.pages[offset / 4096] + offset % 4096, piece);
        done += piece;
    }
}

inline void permit(driver& d, const driver::memory_region& r, unsigned rights) {
    for_pages(r, [&](std::uint64_t at, std::uint64_t bytes) { d.host.memory.permit(at, bytes, rights); });
}

/// From any state to ready to send, as it was once connected; without the commands' way, for which there is a fuzzer of
/// its own.
inline void restart(test_qp& q) {
    auto& all = q.d.hca.queue_pairs;
    std::uint8_t context[HCA_QP_MAILBOX] = {}, again[HCA_QP_MAILBOX] = {};
    REQUIRE(all.query(q.number, context) == HCA_OK);
    REQUIRE(all.to_reset(q.number, nullptr) == HCA_OK);
    std::memcpy(again, context, sizeof again);
    hca_set(again + HCA_QP_CONTEXT, HCA_QPC_RECEIVE_PSN, q.s.psn);
    hca_set(again + HCA_QP_CONTEXT, HCA_QPC_SEND_PSN, q.s.psn);
    hca_set(again, HCA_QP_MASK, HCA_OPTPAR_REMOTE_READ | HCA_OPTPAR_REMOTE_WRITE | HCA_OPTPAR_REMOTE_ATOMIC);
    for (const unsigned step : {HCA_RST2INIT_QP, HCA_INIT2RTR_QP, HCA_RTR2RTS_QP})
        REQUIRE(all.modify(step, q.number, again) == HCA_OK);
    q.posted = q.received = 0;
    std::memset(q.d.record(test_qp::uar, q.record), 0, 16);
}

}  // namespace fabricvp::hca::test
