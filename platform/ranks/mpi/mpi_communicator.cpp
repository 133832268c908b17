// SPDX-License-Identifier: Apache-2.0
// MPI, and nothing else of the project knows it. This is a library of its own, which is loaded when a run has several
// ranks.
#include <algorithm>
#include <chrono>
#include <climits>
#include <stdexcept>
#include <thread>

#include <mpi.h>
#include <sys/prctl.h>

#include "platform/ranks/mpi_library.h"

namespace {

using namespace fabricvp::ranks;
using wall_clock = std::chrono::steady_clock;

/// Waiting costs little: a short spin_time for what is about to come, then the core is left to others. Who sleeps gets
/// it back soon, where others want it as well; a process that yields it gets it back when all of them have had their
/// turn.
class backoff {
public:
    void wait() {
        const auto now = wall_clock::now();
        if (m_since == wall_clock::time_point{}) m_since = now;
        if (now - m_since < spin_time) return;
        std::this_thread::sleep_for(m_sleep);
        m_sleep = std::min(m_sleep + m_sleep / 4, max_sleep);
    }

private:
    using rest = std::chrono::nanoseconds;
    static constexpr rest spin_time{50'000}, max_sleep{500'000};
    wall_clock::time_point m_since;
    rest m_sleep{5'000};
};

class mpi_communicator final : public process_communicator {
public:
    mpi_communicator() {
        MPI_Init(nullptr, nullptr);
        prctl(PR_SET_TIMERSLACK, 1000UL);  // short sleeps are short
        MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
        MPI_Comm_size(MPI_COMM_WORLD, &m_count);
    }
    ~mpi_communicator() override {
        if (!m_finished) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    unsigned rank() const override { return static_cast<unsigned>(m_rank); }
    unsigned count() const override { return static_cast<unsigned>(m_count); }
    double waited() const override { return m_waited.count(); }
    unsigned last_sender() const override { return m_last_sender; }

    void all_to_all(const std::vector<bytes>& to, std::vector<bytes>& from) override {
        m_pending_sends.clear();
        m_awaited.clear();
        m_last_sender = rank();
        for (int r = 0; r < m_count; ++r) {
            if (r == m_rank) continue;
            const auto& data = to[static_cast<unsigned>(r)];
            if (data.size() > INT_MAX) throw std::runtime_error("a rank has more to say than MPI takes at once");
            MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE, r, tag, MPI_COMM_WORLD,
                      &m_pending_sends.emplace_back());
            m_awaited.push_back(r);
        }
        const auto began = wall_clock::now();
        backoff idle;
        int all_sent = 0;
        while (!m_awaited.empty() || !all_sent) {
            const auto before = m_awaited.size();
            m_awaited.erase(std::remove_if(m_awaited.begin(), m_awaited.end(),
                                           [&](int r) { return receive(r, from[static_cast<unsigned>(r)]); }),
                            m_awaited.end());
            MPI_Testall(static_cast<int>(m_pending_sends.size()), m_pending_sends.data(), &all_sent,
                        MPI_STATUSES_IGNORE);
            if (m_awaited.size() == before) idle.wait();
        }
        m_waited += wall_clock::now() - began;
    }

    void finish() override {
        m_finished = true;
        MPI_Finalize();
    }

private:
    static constexpr int tag = 1;

    bool receive(int r, bytes& to) {
        int there = 0, size = 0;
        MPI_Status status;
        MPI_Iprobe(r, tag, MPI_COMM_WORLD, &there, &status);
        if (!there) return false;
        m_last_sender = static_cast<unsigned>(r);
        MPI_Get_count(&status, MPI_BYTE, &size);
        to.resize(static_cast<std::size_t>(size));
        MPI_Recv(to.data(), size, MPI_BYTE, r, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return true;
    }

    int m_rank = 0, m_count = 1;
    unsigned m_last_sender = 0;
    bool m_finished = false;
    std::chrono::duration<double> m_waited{0};
    std::vector<MPI_Request> m_pending_sends;
    std::vector<int> m_awaited;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) process_communicator* fabricvp_open_mpi() {
    return new mpi_communicator;
}
