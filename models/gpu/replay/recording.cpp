// SPDX-License-Identifier: Apache-2.0
#include "gpu/replay/recording.h"

#include "gpu/replay/recording_bytes.h"

namespace fabricvp::gpu::replay {

namespace {

// The first byte of an item: its kind, and
constexpr unsigned kind_bits = 3, has_walks = 8, brings_data = 16, has_floor = 32;
constexpr std::size_t max_dependencies = 1 << 20;
// Of all delays together: hours of simulated time, which no recording comes near. Sums cannot wrap.
constexpr std::uint64_t max_cycles = std::uint64_t{1} << 43, max_host_time = 3600 * ticks_per_second;

/// Adds delays up. \throws recording_error
class delay_sum {
public:
    explicit delay_sum(std::uint64_t max) : m_left(max) {}
    void add(std::uint64_t delay) {
        if (delay > m_left) throw recording_error("is corrupted: its delays are hours of simulated time");
        m_left -= delay;
    }

private:
    std::uint64_t m_left;
};

}  // namespace

void item_writer::write(const item& i) {
    bool walks = false;
    for (const auto& n : i.dependencies) walks = walks || n.walk;
    m_bytes += static_cast<char>(static_cast<unsigned>(i.kind) | (walks ? has_walks : 0) | (i.loads ? brings_data : 0) |
                                 (i.floor ? has_floor : 0));
    put(m_bytes, i.busy);
    put(m_bytes, i.idle);
    if (i.kind == item_kind::access) {
        if (i.floor) put(m_bytes, i.floor);
        put(m_bytes, i.dependencies.size());
        for (const auto& n : i.dependencies) {
            put(m_bytes, n.what ? zigzag(static_cast<std::int64_t>(n.what) - m_transaction) + 1 : 0);
            if (n.what) m_transaction = n.what;
            if (!walks) continue;
            put(m_bytes, n.walk ? zigzag(static_cast<std::int64_t>(n.walk) - m_walk) + 1 : 0);
            if (n.walk) m_walk = n.walk;
        }
    } else if (i.kind == item_kind::wait) {
        put(m_bytes, i.accesses.size());
        for (const auto a : i.accesses) put(m_bytes, a);
    }
}

void item_reader::read(item& to) {
    if (m_at == m_end) throw_corrupted();
    const auto first = static_cast<unsigned char>(*m_at++);
    const unsigned kind = first & ((1u << kind_bits) - 1);
    if (kind > static_cast<unsigned>(item_kind::barrier)) throw_corrupted();
    to.kind = static_cast<item_kind>(kind);
    to.busy = get(m_at, m_end);
    to.idle = get(m_at, m_end);
    to.dependencies.clear();
    to.accesses.clear();
    to.loads = first & brings_data;
    to.floor = 0;
    const auto reference = [&](std::uint32_t& last) -> std::uint32_t {
        const auto n = get(m_at, m_end);
        if (n == 0) return 0;
        return last = static_cast<std::uint32_t>(last + unzigzag(n - 1));
    };
    if (to.kind == item_kind::access) {
        if (first & has_floor) to.floor = get(m_at, m_end);
        const auto count = get(m_at, m_end);
        if (count > max_dependencies) throw_corrupted();
        for (std::uint64_t n = 0; n < count; ++n) {
            dependency one;
            one.what = reference(m_transaction);
            if (first & has_walks) one.walk = reference(m_walk);
            to.dependencies.push_back(one);
        }
    } else if (to.kind == item_kind::wait) {
        const auto count = get(m_at, m_end);
        if (count > max_dependencies) throw_corrupted();
        for (std::uint64_t n = 0; n < count; ++n) to.accesses.push_back(get_as<std::uint32_t>(m_at, m_end));
    }
}

void recording::check(unsigned gpus) const {
    const auto expect = [](bool right) {
        if (!right) throw_corrupted();
    };
    const auto of_gpu = [&](std::uint64_t line) {
        return where(line) >= GPU_PA_GPU0 && where(line) - GPU_PA_GPU0 < gpus;
    };
    delay_sum cycles(max_cycles), host_time(max_host_time);
    for (std::size_t i = 1; i < transactions.size(); ++i) {
        const auto& t = transactions[i];
        cycles.add(t.service);
        expect(t.gpu < gpus && of_gpu(t.line) && where(t.line) - GPU_PA_GPU0 != t.gpu && t.line % line_bytes == 0);
        expect(t.kind <= access_kind::unlock && t.offset < line_bytes &&
               (t.operands <= 16 || t.operands == line_bytes) && t.sectors <= 0xf);
        expect((!t.fetch && !t.page_table) || t.kind == access_kind::read);
        expect(t.page_table || !t.read_critical);
    }
    for (std::size_t i = 1; i < walks.size(); ++i) {
        expect(walks[i].gpu < gpus && !walks[i].steps.empty());
        cycles.add(walks[i].tail);
        for (const auto& s : walks[i].steps) cycles.add(s.delay);
        for (const auto& s : walks[i].steps)
            expect(s.read > 0 && s.read < transactions.size() && transactions[s.read].page_table &&
                   transactions[s.read].gpu == walks[i].gpu);
    }
    for (const auto& l : launches) expect(l.gpu < gpus && l.group_wavefronts > 0);
    for (const auto& h : host) {
        expect(h.what == host_event::action::end || h.number < launches.size());
        for (const auto l : h.after) expect(l < launches.size());
        host_time.add(h.delay);
    }
    expect(!host.empty() && host.back().what == host_event::action::end);
    item i;
    for (const auto& s : streams) {
        expect(s.launch < launches.size() && s.group < launches[s.launch].groups &&
               s.wavefront < launches[s.launch].group_wavefronts);
        const auto gpu = launches[s.launch].gpu;
        item_reader reader(s.items);
        std::uint64_t accesses = 0;
        bool ended = false;
        while (!reader.done()) {
            expect(!ended);
            reader.read(i);
            ended = i.kind == item_kind::end;
            for (const auto delay : {i.busy, i.idle, i.floor}) cycles.add(delay);
            for (const auto& n : i.dependencies) {
                expect(n.what < transactions.size() && n.walk < walks.size() && (n.what || n.walk));
                expect((!n.what || transactions[n.what].gpu == gpu) && (!n.walk || walks[n.walk].gpu == gpu));
            }
            for (const auto a : i.accesses) expect(a > 0 && a <= accesses);
            accesses += i.kind == item_kind::access;
        }
        expect(ended);
    }
}

}  // namespace fabricvp::gpu::replay
