// SPDX-License-Identifier: Apache-2.0
// The CSRs of Smaia and Ssaia, with interrupt files that only remember.
#include "hart_bench.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {

constexpr std::uint64_t code = memory_base, handler = memory_base + 0x1000;

struct remembering_files final : aia_interface {
    std::uint64_t top[4] = {};
    unsigned claims[4] = {};
    std::map<unsigned, std::uint64_t> registers[4];
    static unsigned at(privilege level) { return static_cast<unsigned>(level); }

    std::uint64_t top_external(privilege level) const override { return top[at(level)]; }
    void claim_top_external(privilege level) override { ++claims[at(level)]; }
    bool read_indirect(privilege level, unsigned select, std::uint64_t& value) const override {
        if (select >= 0x80 && select & 1) return false;
        const auto found = registers[at(level)].find(select);
        value = found == registers[at(level)].end() ? 0 : found->second;
        return true;
    }
    bool write_indirect(privilege level, unsigned select, std::uint64_t value) override {
        if (select >= 0x80 && select & 1) return false;
        registers[at(level)][select] = value;
        return true;
    }
};

struct with_files {
    hart_bench& b = hart_bench::restart();
    remembering_files files;
    with_files() { b.hart0.attach_aia(&files); }
    ~with_files() { b.hart0.attach_aia(nullptr); }

    void select(unsigned csr_select, std::uint64_t number) { b.set_csr(csr_select, number); }
    /// Runs `p` at `code`; \returns mcause of the trap that it took, or 0.
    std::uint64_t cause_of(const assembler::program& p) {
        b.set_csr(csr::mcause, 0);
        b.load(program(handler) << csrr(t5, csr::mepc) << addi(t5, t5, 4) << csrw(csr::mepc, t5) << mret);
        b.set_csr(csr::mtvec, handler);
        b.run_program(p);
        return b.csr(csr::mcause);
    }
};

constexpr std::uint64_t illegal_instruction = 2;

}  // namespace

TEST_CASE("without interrupt files there are no AIA registers") {
    auto& b = hart_bench::restart();
    for (const unsigned n : {0x150u, 0x151u, 0x15cu, 0xdb0u, 0x308u, 0x309u, 0x350u, 0x351u, 0x35cu, 0xfb0u})
        CHECK_FALSE(b.hart0.has_csr(n));
    CHECK(b.hart0.isa_string().find("aia") == std::string::npos);
    with_files w;
    for (const unsigned n : {0x150u, 0x151u, 0x15cu, 0xdb0u, 0x308u, 0x309u, 0x350u, 0x351u, 0x35cu, 0xfb0u})
        CHECK(b.hart0.has_csr(n));
    CHECK(b.hart0.isa_string().find("_smaia_ssaia") != std::string::npos);
}

TEST_CASE("indirect registers of interrupt files, each level its own") {
    with_files w;
    w.select(csr::miselect, 0x70);
    w.b.set_csr(csr::mireg, 1);
    w.select(csr::siselect, 0x72);
    w.b.set_csr(csr::sireg, 99);
    CHECK(w.files.registers[3] == std::map<unsigned, std::uint64_t>{{0x70, 1}});
    CHECK(w.files.registers[1] == std::map<unsigned, std::uint64_t>{{0x72, 99}});
    CHECK(w.b.csr(csr::sireg) == 99);
    w.select(csr::miselect, ~0ull);
    CHECK(w.b.csr(csr::miselect) == 0x1ff);
}

TEST_CASE("selections that are no register are illegal") {
    with_files w;
    for (const auto& [number, cause] :
         std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0x30, 0},
                                                              {0x31, illegal_instruction},
                                                              {0x3e, 0},
                                                              {0x40, illegal_instruction},
                                                              {0x6f, illegal_instruction},
                                                              {0x70, 0},
                                                              {0x81, illegal_instruction},
                                                              {0xfe, 0},
                                                              {0x100, illegal_instruction}}) {
        INFO(number);
        w.select(csr::miselect, number);
        CHECK(w.cause_of(program(code) << csrr(t0, csr::mireg) << j(0)) == cause);
        w.select(csr::siselect, number);
        CHECK(w.cause_of(program(code) << csrw(csr::sireg, zero) << j(0)) == cause);
    }
}

TEST_CASE("one instruction reads the top interrupt and claims it; a read alone claims nothing") {
    with_files w;
    w.files.top[3] = 7 << 16 | 7;
    w.files.top[1] = 9 << 16 | 9;
    w.cause_of(program(code) << csrr(s2, csr::mtopei) << csrrw(s3, csr::mtopei, zero) << csrr(s4, csr::stopei) << j(0));
    CHECK(w.b.hart0.x(s2) == (7 << 16 | 7));
    CHECK(w.b.hart0.x(s3) == (7 << 16 | 7));
    CHECK(w.b.hart0.x(s4) == (9 << 16 | 9));
    CHECK(w.files.claims[3] == 1);
    CHECK(w.files.claims[1] == 0);
}

TEST_CASE("mtopi and stopi name the first interrupt, by default order and by iprio") {
    with_files w;
    auto& b = w.b;
    for (const auto line : {interrupt_line::machine_external, interrupt_line::machine_software,
                            interrupt_line::machine_timer, interrupt_line::supervisor_external})
        b.hart0.set_interrupt(line, true);
    b.set_csr(csr::mideleg, 0x222);
    b.set_csr(csr::mip, 0x22);
    CHECK(b.csr(csr::mtopi) == 0);  // nothing is enabled
    b.set_csr(csr::mie, 0xaaa);
    w.files.top[3] = 40 << 16 | 40;
    w.files.top[1] = 300 << 16 | 300;
    CHECK(b.csr(csr::mtopi) == (11 << 16 | 40));
    CHECK(b.csr(csr::stopi) == (9 << 16 | 255));  // beyond 255
    b.set_csr(csr::mie, 0x2aa);
    CHECK(b.csr(csr::mtopi) == (3 << 16 | 255));
    b.set_csr(csr::mie, 0xaaa);

    w.select(csr::miselect, 0x30);
    b.set_csr(csr::mireg, 40ull << 56 | 39ull << 24);  // timer, software
    CHECK(b.csr(csr::mtopi) == (3 << 16 | 39));
    b.set_csr(csr::mireg, 40ull << 56);
    CHECK(b.csr(csr::mtopi) == (11 << 16 | 40));  // equal: the default order
    b.set_csr(csr::mireg, 1ull << 56);
    CHECK(b.csr(csr::mtopi) == (7 << 16 | 1));
    w.select(csr::siselect, 0x30);
    b.set_csr(csr::sireg, ~0ull);
    CHECK(b.csr(csr::sireg) == (0xffull << 8 | 0xffull << 40));  // supervisor software and timer
    CHECK(b.csr(csr::stopi) == (1 << 16 | 255));                 // 255 comes before 300
    w.select(csr::siselect, 0x32);
    b.set_csr(csr::sireg, ~0ull);
    CHECK(b.csr(csr::sireg) == 0);

    // What mtopi names is what is taken.
    b.load(program(handler) << csrr(s2, csr::mcause) << csrw(csr::mie, zero) << mret);
    b.set_csr(csr::mtvec, handler);
    b.set_csr(csr::mstatus, 1 << 3);
    b.run_program(program(code) << nop << j(0));
    CHECK(b.hart0.x(s2) == (1ull << 63 | 7));
    for (const auto line : {interrupt_line::machine_external, interrupt_line::machine_software,
                            interrupt_line::machine_timer, interrupt_line::supervisor_external})
        b.hart0.set_interrupt(line, false);
}

TEST_CASE("mvip shows what software pends; mvien holds nothing") {
    with_files w;
    w.b.set_csr(csr::mvien, ~0ull);
    CHECK(w.b.csr(csr::mvien) == 0);
    w.b.set_csr(csr::mvip, ~0ull);
    CHECK(w.b.csr(csr::mvip) == 0x222);
    CHECK(w.b.csr(csr::mip) == 0x222);
    w.b.set_csr(csr::mvip, 0);
    w.b.hart0.set_interrupt(interrupt_line::supervisor_external, true);
    CHECK(w.b.csr(csr::mvip) == 0);
    CHECK(w.b.csr(csr::mip) == 0x200);
    w.b.hart0.set_interrupt(interrupt_line::supervisor_external, false);
}
