// SPDX-License-Identifier: Apache-2.0
// Statistics are members of their model, public and unprefixed; they register under the model's hierarchical name and
// cost an increment:
//
//     counter instructions{*this, "instructions", "1", "instructions retired"};
//     histogram read_latency{*this, "read_latency", "ps", "from request to last data"};
//
// A region of interest is a window: reset_statistics() starts it, snapshot() reads it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <systemc>

#include "base/time.h"

namespace fabricvp {

/// Flat results of one model or a whole machine: path → number, in path order.
using statistics_snapshot = std::map<std::string, double>;

class statistic {
public:
    statistic(const sc_core::sc_object& owner, std::string name, std::string unit, std::string help);
    virtual ~statistic();
    statistic(const statistic&) = delete;
    statistic& operator=(const statistic&) = delete;

    /// Hierarchical path, such as `node0.host.hart0.instructions`.
    const std::string& path() const { return m_words->path; }
    const std::string& unit() const { return m_words->unit; }
    const std::string& help() const { return m_words->help; }

    /// Adds this statistic's values under its path.
    virtual void report(statistics_snapshot& to) const = 0;
    /// Starts a region of interest: from here on, values count from zero.
    virtual void restart() = 0;
    /// What its value can be at most `passed` after a restart, in its own unit: of `n` units that work, `n` times that
    /// time. check_statistics() holds it to that.
    virtual double limit([[maybe_unused]] ticks passed) const { return std::numeric_limits<double>::infinity(); }

private:
    struct words {
        std::string path, unit, help;
    };
    std::unique_ptr<const words> m_words;  // apart from what changes, of which more fits into a cache line then
};

/// A number that counts up.
class counter final : public statistic {
public:
    using statistic::statistic;
    counter& operator++() {
        ++m_value;
        return *this;
    }
    counter& operator+=(std::uint64_t n) {
        m_value += n;
        return *this;
    }
    std::uint64_t value() const { return m_value - m_base; }
    std::uint64_t total() const { return m_value; }  ///< since construction, whatever the region of interest
    void report(statistics_snapshot& to) const override;
    void restart() override { m_base = m_value; }

private:
    std::uint64_t m_value = 0;
    std::uint64_t m_base = 0;
};

/// A value that is computed when asked for (ratios, occupancies).
class derived final : public statistic {
public:
    /// \param max that it can be: 1 for shares
    derived(const sc_core::sc_object& owner, std::string name, std::string unit, std::string help,
            std::function<double()> value, double max = std::numeric_limits<double>::infinity());
    void report(statistics_snapshot& to) const override;
    void restart() override {}
    double limit(ticks) const override { return m_max; }

private:
    std::function<double()> m_value;
    double m_max;
};

/// Distribution in powers of two; reports count, sum, min, max, mean, p50, p99 (interpolated inside a bucket).
class histogram final : public statistic {
public:
    using statistic::statistic;
    void add(std::uint64_t value, std::uint64_t times = 1);
    std::uint64_t count() const { return m_count; }
    double mean() const { return m_count ? m_sum / static_cast<double>(m_count) : 0.0; }
    double percentile(double fraction) const;
    void report(statistics_snapshot& to) const override;
    void restart() override;

private:
    std::array<std::uint64_t, 65> m_buckets{};
    std::uint64_t m_count = 0, m_min = ~std::uint64_t{0}, m_max = 0;
    double m_sum = 0;
};

/// Sums per window of simulated time (bytes a window, busy time a window); windows double when there are too many.
class time_series final : public statistic {
public:
    time_series(const sc_core::sc_object& owner, std::string name, std::string unit, std::string help,
                ticks window = 1'000'000, std::size_t max_windows = 1024);
    void add(ticks when, double amount);
    /// Window length in ticks, and one sum a window from the start of the region of interest.
    ticks window() const { return m_window; }
    const std::vector<double>& values() const { return m_values; }
    void report(statistics_snapshot& to) const override;
    void restart() override;

private:
    ticks m_window, m_initial_window, m_start = 0;
    std::size_t m_max_windows;
    std::vector<double> m_values;
};

/// All statistics of this process's simulation, in path order.
const std::vector<statistic*>& all_statistics();
/// Values of all statistics whose path starts with `prefix`.
statistics_snapshot snapshot_statistics(const std::string& prefix = {});
void restart_statistics(const std::string& prefix = {});
/// From now on snapshot_statistics() throws std::logic_error for a value above its limit(): a model counts wrongly. For
/// tests.
void check_statistics(bool on);

}  // namespace fabricvp
