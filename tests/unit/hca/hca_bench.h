// SPDX-License-Identifier: Apache-2.0
// HCAs below a root complex with host memory, and the driver's side of them: commands, regions, queues.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "abi/hca_mailbox.h"
#include "base/bus.h"
#include "base/sparse_memory.h"
#include "hca/hca_device.h"
#include "pcie/root_complex.h"

namespace fabricvp::hca::test {

/// Host memory at address 0, and above it a page that takes interrupt messages.
class host_memory final : public bus_target {
public:
    static constexpr std::uint64_t size = std::uint64_t{64} << 20, messages = size;
    sparse_memory bytes{size};
    std::vector<std::uint32_t> interrupts;  ///< data of the messages that have come
    using bus_target::bus_target;

    enum right : std::uint8_t { reads = 1, writes = 2 };
    /// From now on every byte is watched: an access without permission is a trespass.
    void watch() { m_rights.assign(size, 0); }
    /// Reads are of whole double words.
    void permit(std::uint64_t at, std::uint64_t bytes, unsigned rights) {
        for (auto i = at & ~std::uint64_t{3}; i < ((at + bytes + 3) & ~std::uint64_t{3}); ++i)
            m_rights[i] |= static_cast<std::uint8_t>(i < at || i >= at + bytes ? rights & reads : rights);
    }
    std::uint64_t access_violations = 0;
    /// Reads that begin in a range take longer, so that later ones overtake them.
    std::uint64_t slow_from = 0, slow_bytes = 0;
    ticks slow_by = 0;
    std::string first_access_violation;

private:
    void look(const bus_payload& p) {
        const unsigned needed = p.is_read() ? reads : writes;
        const auto* r = m_rights.data() + p.get_address();
        if (std::all_of(r, r + p.get_data_length(), [needed](std::uint8_t b) { return b & needed; })) return;
        if (access_violations++ == 0)
            first_access_violation = fmt::format("{} of {} bytes at {:#x}", p.is_read() ? "read" : "write",
                                                 p.get_data_length(), p.get_address());
    }
    std::vector<std::uint8_t> m_rights;  // by byte; empty: none is watched

    outcome access(bus_payload& p, ticks& latency) override {
        latency += 60'000;
        if (p.is_read() && p.get_address() - slow_from < slow_bytes) latency += slow_by;
        if (p.get_address() == messages && p.is_write() && p.get_data_length() == 4) {
            std::uint32_t data = 0;
            std::memcpy(&data, p.get_data_ptr(), 4);
            interrupts.push_back(data);
        } else if (!bytes.contains(p.get_address(), p.get_data_length())) {
            p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return outcome::done;
        } else {
            if (!m_rights.empty()) look(p);
            if (p.is_read())
                bytes.read(p.get_address(), p.get_data_ptr(), p.get_data_length());
            else if (p.is_write())
                bytes.write(p.get_address(), p.get_data_ptr(), p.get_data_length());
        }
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        return outcome::done;
    }
    unsigned debug_access(bus_payload&) override { return 0; }
};

/// A computer with HCAs, one a root port, set up as enumeration software leaves it.
class computer final : public model {
public:
    static constexpr std::uint64_t window = 0x1'0000'0000, step = 0x400'0000, registers = 0x200'0000;

    host_memory memory{"memory"};
    pcie::root_complex root;
    std::vector<std::unique_ptr<hca_device>> adapters;

    computer(const sc_core::sc_module_name& name, unsigned count = 1, const hca_params& p = {})
        : model(name), root("root", root_parameters(count)) {
        root.memory.bind(memory.bus);
        for (unsigned i = 0; i < count; ++i) {
            adapters.push_back(std::make_unique<hca_device>(fmt::format("hca{}", i).c_str(), p));
            pcie::connect(root.root_port(i), adapters.back()->link);
            auto& bridge = root.bridges[i]->space;
            bridge.set(0x18, 3, (i + 1) << 8 | (i + 1) << 16);
            const auto base = uar_base(i);
            bridge.set(0x24, 4, (base >> 16 & 0xfff0) | ((base + step - 1) & 0xfff0'0000));
            bridge.set(0x28, 4, base >> 32);
            bridge.set(0x2c, 4, base >> 32);
            bridge.set(0x04, 2, 6);
            adapters[i]->dma.id = static_cast<std::uint16_t>((i + 1) << 8);
            enable(i);
        }
    }
    void enable(unsigned i) {
        auto& space = adapters[i]->config.space;
        space.set(0x10, 8, register_base(i) | 0x4);
        space.set(0x18, 8, uar_base(i) | 0xc);
        space.set(0x04, 2, 6);
    }
    static std::uint64_t uar_base(unsigned i) { return window + i * step; }
    /// In the prefetchable window too, for the sake of the bench; a real system has it in the other one.
    static std::uint64_t register_base(unsigned i) { return uar_base(i) + registers; }

private:
    static pcie::root_complex_params root_parameters(unsigned count) {
        pcie::root_complex_params r;
        r.root_ports = count;
        return r;
    }
};

/// What a driver does with one HCA.
class driver {
public:
    static constexpr std::uint32_t uarc_log_pages = 0;  // a page of doorbell records for each UAR
    static constexpr std::uint64_t icm_bytes = std::uint64_t{1} << 30, mtt_icm = 0x2000'0000, uarc_icm = 0;

    computer& host;
    hca_device& hca;

    driver(computer& c, unsigned index, std::uint64_t memory_from, std::uint64_t memory_to)
        : host(c), hca(*c.adapters[index]), m_index(index), m_next(memory_from), m_end(memory_to) {
        m_in = allocate(HCA_MAILBOX_SIZE);
        m_out = allocate(HCA_MAILBOX_SIZE);
    }

    void run(ticks time = 10'000'000) { calendar::current().run_until(calendar::current().now() + time); }

    // --- memory ---
    std::uint64_t allocate(std::uint64_t bytes) {
        const auto at = (m_next + 4095) & ~std::uint64_t{4095};
        m_next = at + bytes;
        REQUIRE(m_next <= m_end);
        host.memory.bytes.fill(at, 0, bytes);
        return at;
    }
    std::uint8_t* at(std::uint64_t address) { return host.memory.bytes.data() + address; }

    // --- registers ---
    void write32(std::uint64_t offset, std::uint32_t value) {
        auto data = allocate_slice(4);
        hca_put32(data.data(), value);
        host.root.host_write(computer::register_base(m_index) + offset, data);
    }
    std::uint32_t read32(std::uint64_t offset) {
        auto data = allocate_slice(4);
        bool done = false;
        host.root.host_read(computer::register_base(m_index) + offset, data,
                            [&done](pcie::request_status) { done = true; });
        for (unsigned i = 0; i < 1000 && !done; ++i) run(100'000);
        REQUIRE(done);
        return hca_get32(data.data());
    }
    void doorbell(std::uint32_t uar, unsigned which, std::uint32_t high, std::uint32_t low) {
        auto data = allocate_slice(8);
        hca_put32(data.data(), high);
        hca_put32(data.data() + 4, low);
        host.root.host_write(computer::uar_base(m_index) + uar * std::uint64_t{HCA_PAGE} + which, data);
    }

    // --- commands ---
    struct command_result {
        unsigned status;
        std::uint64_t out_param;
    };
    /// A polled command whose parameter is an immediate, or the input mailbox's address.
    command_result command(unsigned opcode, std::uint32_t modifier, unsigned op_modifier, std::uint64_t in_param,
                           std::uint64_t out_param) {
        write32(HCA_HCR + 0x00, static_cast<std::uint32_t>(in_param >> 32));
        write32(HCA_HCR + 0x04, static_cast<std::uint32_t>(in_param));
        write32(HCA_HCR + 0x08, modifier);
        write32(HCA_HCR + 0x0c, static_cast<std::uint32_t>(out_param >> 32));
        write32(HCA_HCR + 0x10, static_cast<std::uint32_t>(out_param));
        write32(HCA_HCR + 0x14, 0xffff0000);
        write32(HCA_HCR + 0x18, 1u << 23 | op_modifier << 12 | opcode);
        std::uint32_t word = 1u << 23;
        for (unsigned i = 0; i < 1000 && word >> 23 & 1; ++i) word = read32(HCA_HCR + 0x18);
        REQUIRE((word >> 23 & 1) == 0);
        return {word >> 24, std::uint64_t{read32(HCA_HCR + 0x0c)} << 32 | read32(HCA_HCR + 0x10)};
    }
    unsigned command(unsigned opcode, std::uint32_t modifier = 0, unsigned op_modifier = 0) {
        return command(opcode, modifier, op_modifier, m_in, m_out).status;
    }
    /// Its cleared input mailbox.
    std::uint8_t* in() {
        std::memset(at(m_in), 0, HCA_MAILBOX_SIZE);
        return at(m_in);
    }
    std::uint64_t in_address() const { return m_in; }
    std::uint64_t out_address() const { return m_out; }
    std::uint8_t* out() { return at(m_out); }

    // --- start-up ---
    void start() {
        REQUIRE(command(HCA_QUERY_FW) == HCA_OK);
        const auto pages = hca_get(out(), HCA_FW_PAGES);
        for (std::uint32_t i = 0; i < pages; ++i) {  // any memory will do
            hca_set_long(in(), HCA_MAP_PHYSICAL, (m_in & ~std::uint64_t{4095}) | 0);
            REQUIRE(command(HCA_MAP_FA, 1) == HCA_OK);
        }
        REQUIRE(command(HCA_RUN_FW) == HCA_OK);
        const auto icm = command(HCA_SET_ICM_SIZE, 0, 0, icm_bytes, 0);
        REQUIRE(icm.status == HCA_OK);
        auto* i = in();
        hca_set(i, HCA_INIT_LOG_QPS, 10);
        hca_set(i, HCA_INIT_LOG_CQS, 10);
        hca_set(i, HCA_INIT_LOG_SRQS, 8);
        hca_set(i, HCA_INIT_LOG_EQS, 5);
        hca_set(i, HCA_INIT_LOG_MPTS, 12);
        hca_set(i, HCA_INIT_LOG_MCGS, 8);
        hca_set(i, HCA_INIT_MCG_HEADS, 128);
        hca_set(i, HCA_INIT_LOG_UARS, 8);
        hca_set(i, HCA_INIT_LOG_UARC_PAGES, uarc_log_pages);
        hca_set_long(i, HCA_INIT_UARC, uarc_icm);
        hca_set_long(i, HCA_INIT_MTT, mtt_icm);
        REQUIRE(command(HCA_INIT_HCA) == HCA_OK);
    }
    unsigned map_icm(std::uint64_t icm, std::uint64_t memory, unsigned log_pages = 0) {
        hca_set_long(in(), HCA_MAP_VIRTUAL, icm);
        hca_set_long(at(m_in), HCA_MAP_PHYSICAL, memory | log_pages);
        return command(HCA_MAP_ICM, 1);
    }

    // --- regions ---
    struct memory_region {
        std::uint32_t key;  ///< lkey and rkey
        std::uint64_t address, bytes, mtt;
        std::vector<std::uint64_t> pages;
    };
    static constexpr std::uint32_t all_rights = local_read | local_write | remote_read | remote_write | remote_atomic;

    /// Pages of their own, in falling order so that none follows the one before it, at virtual addresses from `start`
    /// on.
    memory_region region(std::uint64_t bytes, std::uint32_t domain = 1, std::uint32_t rights = all_rights,
                         std::uint64_t start = 0) {
        memory_region r{0, start, bytes, 0, {}};
        const auto count = (start % 4096 + bytes + 4095) / 4096;
        const auto first = allocate(count * 4096);
        for (std::uint64_t i = count; i-- > 0;) r.pages.push_back(first + i * 4096);
        r.mtt = add_translation(r.pages);
        const auto index = m_next_region++;
        REQUIRE(add_region(index, r, domain, rights) == HCA_OK);
        r.key = (index << 8) | (index >> 24);
        return r;
    }
    unsigned add_region(std::uint32_t index, const memory_region& r, std::uint32_t domain, std::uint32_t rights) {
        auto* e = in();
        hca_put32(e, 0xf000'0000 | rights);
        hca_set(e, HCA_MPT_REGION, 1);
        hca_set(e, HCA_MPT_KEY, index);
        hca_set(e, HCA_MPT_PD, domain);
        hca_set_long(e, HCA_MPT_START, r.address);
        hca_set_long(e, HCA_MPT_LENGTH, r.bytes);
        hca_set_long(e, HCA_MPT_MTT, r.mtt);
        return command(HCA_SW2HW_MPT, index & 0xfff);
    }
    /// Translation entries, which software writes itself. \returns their ICM address
    std::uint64_t add_translation(const std::vector<std::uint64_t>& pages) {
        const auto at_icm = mtt_icm + m_translations;
        m_translations += (8 * pages.size() + 63) & ~std::uint64_t{63};
        for (std::size_t i = 0; i < pages.size(); ++i) hca_put64(icm_byte(at_icm + 8 * i), pages[i] | HCA_MTT_PRESENT);
        return at_icm;
    }
    /// A byte of context memory, which is mapped if it has not been.
    std::uint8_t* icm_byte(std::uint64_t icm) {
        const auto page = icm & ~std::uint64_t{4095};
        auto& memory = m_icm[page];
        if (!memory) {
            memory = allocate(4096);
            REQUIRE(map_icm(page, memory) == HCA_OK);
        }
        return at(memory + icm % 4096);
    }
    /// By their addresses in context memory.
    const std::map<std::uint64_t, std::uint64_t>& context_pages() const { return m_icm; }
    std::uint8_t* record(std::uint32_t uar, std::uint32_t index) {
        return icm_byte(uarc_icm + uar * (std::uint64_t{4096} << uarc_log_pages) + 8 * index);
    }
    /// A byte of a region by its virtual address.
    std::uint8_t* byte(const memory_region& r, std::uint64_t address) {
        const auto offset = address - (r.address & ~std::uint64_t{4095});
        return at(r.pages[offset / 4096] + offset % 4096);
    }

    // --- event queues ---
    struct event_queue {
        unsigned number, log_size;
        memory_region memory;
        std::uint32_t consumer = 0;
    };
    std::vector<memory_region> event_memory;  ///< of all that have been created
    event_queue create_eq(unsigned number, unsigned log_size, unsigned interrupt, unsigned state = HCA_ARMED) {
        event_queue q{number, log_size, region(std::uint64_t{HCA_EQE_SIZE} << log_size, 1, local_write), 0};
        for (unsigned i = 0; i < 1u << log_size; ++i) hca_set(byte(q.memory, i * HCA_EQE_SIZE), HCA_EQE_OWNER, 1);
        auto* c = in();
        hca_set(c, HCA_EQC_STATE, state);
        hca_set(c, HCA_EQC_LOG_SIZE, log_size);
        hca_set(c, HCA_EQC_INTERRUPT, interrupt);
        hca_set(c, HCA_EQC_PD, 1);
        hca_set(c, HCA_EQC_LKEY, q.memory.key);
        REQUIRE(command(HCA_SW2HW_EQ, number) == HCA_OK);
        event_memory.push_back(q.memory);
        return q;
    }
    /// The next event, or null.
    std::uint8_t* poll(event_queue& q) {
        auto* e = byte(q.memory, (q.consumer & ((1u << q.log_size) - 1)) * HCA_EQE_SIZE);
        if (hca_get(e, HCA_EQE_OWNER)) return nullptr;
        ++q.consumer;
        hca_set(e, HCA_EQE_OWNER, 1);
        return e;
    }
    void consumed(const event_queue& q) { write32(HCA_EQ_SET_CI + q.number * HCA_EQ_STRIDE, q.consumer); }
    void arm(const event_queue& q) { write32(HCA_EQ_ARM + 4, 1u << q.number); }

private:
    const unsigned m_index;
    std::uint64_t m_next, m_end, m_in = 0, m_out = 0, m_translations = 0;
    std::uint32_t m_next_region = 1;
    std::map<std::uint64_t, std::uint64_t> m_icm;  // pages of context memory
};

}  // namespace fabricvp::hca::test
