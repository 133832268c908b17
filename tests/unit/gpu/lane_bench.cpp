// SPDX-License-Identifier: Apache-2.0
#include "lane_bench.h"

#include "abi/kernel_descriptor.h"
#include "base/log.h"
#include "kernel_file.h"

namespace fabricvp::gpu {

void test_memory::restart(unsigned seed) {
    std::fill(bytes.begin(), bytes.end(), 0);
    shortest = longest = hit_time = 0;
    depth = 64;
    read_only_from = ~std::uint64_t{0};
    invalidations = 0;
    issued = constants = 0;
    log.clear();
    m_reservations.clear();
    m_pending.clear();
    m_later.clear();
    m_random.seed(seed);
}

void test_memory::later(ticks delay, std::function<void()> what) {
    auto& timeline = calendar::current();
    m_later.emplace(timeline.now() + delay, std::move(what));
    timeline.schedule(m_event, m_later.begin()->first);
}

void test_memory::happen() {
    auto& timeline = calendar::current();
    while (!m_later.empty() && m_later.begin()->first <= timeline.now()) {
        const auto what = std::move(m_later.begin()->second);
        m_later.erase(m_later.begin());
        what();
    }
    if (!m_later.empty()) timeline.schedule(m_event, m_later.begin()->first);
}

void test_memory::perform(vector_access& a) {
    for (lane_mask left = a.mask; left; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
        const auto address = a.address[lane];
        REQUIRE(address % a.size == 0);
        const bool writes = a.kind != access_kind::read && a.kind != access_kind::load_reserved;
        const auto fault = address < base || address >= base + size ? memory_fault::unmapped
                           : writes && address >= read_only_from    ? memory_fault::read_only
                                                                    : memory_fault::none;
        if (fault != memory_fault::none) {
            a.fault = fault;
            a.faulted |= lane_mask{1} << lane;
            continue;
        }
        auto* at = &bytes[address - base];
        const auto owner =
            reinterpret_cast<std::uintptr_t>(a.client) ^ (std::uint64_t{a.wavefront} << 56 | std::uint64_t{lane} << 50);
        const auto broken = [&] {
            for (auto i = m_reservations.begin(); i != m_reservations.end();)
                i = i->second == address / 8 ? m_reservations.erase(i) : std::next(i);
        };
        std::uint64_t old = 0;
        std::memcpy(&old, at, a.size);
        switch (a.kind) {
            case access_kind::read: a.data[lane] = old; break;
            case access_kind::write:
                std::memcpy(at, &a.data[lane], a.size);
                broken();
                break;
            case access_kind::atomic:
                a.data[lane] = perform_atomic(a.operation, at, a.size, a.data[lane]);
                broken();
                break;
            case access_kind::load_reserved:
                m_reservations[owner] = address / 8;
                a.data[lane] = old;
                break;
            case access_kind::store_conditional: {
                const auto mine = m_reservations.find(owner);
                const bool holds = mine != m_reservations.end() && mine->second == address / 8;
                if (mine != m_reservations.end()) m_reservations.erase(mine);
                if (holds) {
                    std::memcpy(at, &a.data[lane], a.size);
                    broken();
                }
                a.data[lane] = holds ? 0 : 1;
                break;
            }
            case access_kind::lock:
            case access_kind::unlock: break;  // of lines alone
        }
    }
}

void test_memory::issue(const vector_access_ptr& access) {
    ++issued;
    constants += access->constant;
    if (!access->constant) log.push_back({event::began, access->kind, access->wavefront});
    perform(*access);
    if (longest == 0) {
        access->client->access_done(*access, calendar::current().now() + hit_time);
        return;
    }
    m_pending.push_back(access);
    later(delay(), [this, access] {
        const bool full = !can_issue();
        for (auto i = m_pending.begin(); i != m_pending.end(); ++i)
            if (*i == access) {
                m_pending.erase(i);
                break;
            }
        auto* client = access->client;
        if (!access->constant) log.push_back({event::ended, access->kind, access->wavefront});
        client->access_done(*access, calendar::current().now());
        if (full)
            for (auto* c : clients) c->space_available();
    });
}

void test_memory::translate(std::uint32_t, std::uint64_t page, unsigned access, translation_client& client,
                            std::uint64_t cookie) {
    REQUIRE(access == GPU_PTE_EXECUTE);
    const auto fault = page < base || page >= base + size ? memory_fault::unmapped : memory_fault::none;
    later(1000 + delay(), [=, &client] { client.translated(page, page, fault, cookie); });
}

void test_memory::send(const line_request_ptr& request) {
    later(1000 + delay(), [=] {
        std::memcpy(request->data.data(), &bytes[request->line - base], line_bytes);
        request->valid_sectors = 0xf;
        request->client->line_done(*request);
    });
}

lane_bench::lane_bench() : dispatches("dispatcher", order, clock), code("code", {}, clock, memory, memory) {
    dispatches.attach(code);
    dispatches.set_client(*this);
    dispatches.read_code = [this](std::uint32_t, std::uint64_t address, void* to, std::size_t size) {
        if (address < memory.base || address - memory.base > memory.size - size) return false;
        std::memcpy(to, &memory.bytes[address - memory.base], size);
        return true;
    };
    // One compute unit for each way to execute lanes that this host has; single work-groups take them in turn.
    for (const char* name : {"avx512", "avx2", "baseline"}) {
        const auto* operations = lane_operations::by_name(name);
        if (!operations) continue;
        const auto i = static_cast<std::uint32_t>(units.size());
        const compute_unit_wiring to{clock, 3, i, memory, code, dispatches.listener(), *operations};
        units.push_back(
            std::make_unique<compute_unit>(("compute_unit" + std::to_string(i)).c_str(), unit_params(), to));
        dispatches.attach(*units.back());
        memory.clients.push_back(units.back().get());
    }
}

compute_unit_params& lane_bench::unit_params() {
    static compute_unit_params p;
    return p;
}

lane_bench& lane_bench::instance() {
    static lane_bench bench;
    return bench;
}

lane_bench& lane_bench::restart(unsigned seed) {
    auto& b = instance();
    b.memory.restart(seed);
    b.dispatches.reset();
    b.code.reset();
    for (auto& u : b.units) u->reset();
    b.done.clear();
    restart_statistics();
    set_log_sink([](log_level, const std::string&, const std::string&) {});
    return b;
}

void lane_bench::load(const std::vector<std::uint32_t>& words) {
    std::memcpy(memory.bytes.data(), words.data(), words.size() * 4);
}

void lane_bench::load_file(const std::string& path) {
    test::load_kernel(path, [this](std::uint64_t offset, const void* bytes, std::size_t size) {
        std::memcpy(&memory.at<std::uint8_t>(image + offset), bytes, size);
    });
}

dispatch lane_bench::kernel(const std::string& name, std::uint64_t arguments) const {
    for (std::uint64_t offset = 0;; offset += sizeof(kernel_descriptor)) {
        kernel_descriptor d;
        std::memcpy(&d, memory.bytes.data() + offset, sizeof d);
        INFO("kernel " << name);
        REQUIRE(d.magic == KERNEL_DESCRIPTOR_MAGIC);
        if (name != d.name) continue;
        REQUIRE(d.image_offset == offset);
        dispatch what;
        what.image = image;
        what.entry = d.entry;
        what.kernarg = arguments;
        what.lds_bytes = d.lds_bytes;
        what.scratch_bytes = d.scratch_bytes;
        what.scratch = scratch;
        what.scratch_size = scratch_size;
        return what;
    }
}

dispatch lane_bench::words(std::uint32_t items, std::uint32_t group) {
    dispatch what;
    what.image = image;
    what.entry = GPU_CODE_BASE;
    what.kernarg = data;
    what.grid = {items, 1, 1};
    what.group = {group, 1, 1};
    what.scratch_bytes = 512;
    what.scratch = scratch;
    what.scratch_size = scratch_size;
    return what;
}

void lane_bench::dispatch_done(const dispatch_run& run) {
    done.push_back(run);
    timeline.stop();
}

const dispatch_run& lane_bench::run(const dispatch& what, ticks limit) {
    REQUIRE(dispatches.rejection_reason(what) == nullptr);
    const auto number = dispatches.submit(what);
    const auto end = timeline.now() + limit;
    for (;;) {
        for (const auto& r : done)
            if (r.number == number) return r;
        const auto reached = timeline.run_until(end);
        if (reached < end && (timeline.next_event_time() != never || !done.empty())) continue;
        for (const auto& u : units)
            for (unsigned n = 0; n < u->slots(); ++n)
                if (const auto& w = u->slot(n); w.state != wavefront_state::free)
                    UNSCOPED_INFO(w.name() << ' ' << describe(w.state) << " at " << std::hex << w.context.schedule.pc);
        FAIL("the dispatch did not end by " << reached << " ps");
    }
}

double lane_bench::statistic(const std::string& name) const {
    const auto all = snapshot_statistics();
    double sum = 0;
    for (const auto& [path, value] : all)
        if (path.size() >= name.size() && path.compare(path.size() - name.size(), name.size(), name) == 0 &&
            path.rfind("compute_unit", 0) == 0)
            sum += value;
    return sum;
}

}  // namespace fabricvp::gpu
