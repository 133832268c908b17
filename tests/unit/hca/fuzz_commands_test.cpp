// SPDX-License-Identifier: Apache-2.0
// A misbehaving driver: commands of all kinds in any order, with contexts that are right, half right or noise;
// registers, doorbells and work queue entries as it likes. It gives the adapter addresses in its own pages only, or
// such as are nowhere. Between its pages lie others that the adapter must not touch, and after a reset all must be as
// new.
#include "fuzz_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

constexpr std::uint64_t usual = 350'000;
constexpr std::uint64_t mebibyte = 1 << 20;
/// Pages of context memory, which the adapter reads; and objects of two pages for all else, two more between them.
constexpr std::uint64_t contexts = 32 * mebibyte, context_pages = 64;
constexpr std::uint64_t objects = 36 * mebibyte, object_bytes = 8192, object_step = 16'384, object_count = 64;
/// Virtual addresses: whatever size a page has, one that is larger than its memory leads out of memory altogether.
constexpr std::uint64_t virtual_base = std::uint64_t{1} << 36 | host_memory::size;

class attack {
public:
    computer host{"host", 2};
    driver d{host, 0, mebibyte, 8 * mebibyte};
    hca_device& hca{*host.adapters[0]};
    random_source random;
    std::map<unsigned, std::uint64_t> ended;  // commands by status

    attack() {
        network::connect(hca.network.link, host.adapters[1]->network.link);
        hca.network.link.configure(1);
        host.adapters[1]->network.link.configure(2);
        std::memset(d.at(contexts), secret, host_memory::size - contexts);
        host.memory.watch();
        host.memory.permit(mebibyte, 31 * mebibyte, host_memory::reads | host_memory::writes);
        host.memory.permit(contexts, 4096 * context_pages, host_memory::reads);
        for (std::uint64_t i = 0; i < object_count; ++i) {
            host.memory.permit(objects + i * object_step, object_bytes, host_memory::reads | host_memory::writes);
            random.fill(d.at(objects + i * object_step), object_bytes);
        }
        for (std::uint64_t i = 0; i < 512 * context_pages; ++i) {
            const auto page = object() + 4096 * random.below(2);
            const auto entry = random.once_in(24) ? page : random.once_in(16) ? nowhere() | 1 : page | HCA_MTT_PRESENT;
            hca_put64(d.at(contexts + 8 * i), i < 512 * 48 ? entry : std::uint64_t{random.below(32)} << 32);
        }
        bring_up();
    }

    std::uint64_t object() { return objects + random.below(object_count) * object_step; }
    /// In a mailbox there is room for any context behind it.
    std::uint64_t mailbox() {
        return random.once_in(8) ? nowhere() : object() + (random.once_in(4) ? random.below(64) * 64 : 0);
    }
    std::uint64_t nowhere() { return (random.any() | std::uint64_t{1} << 45) & ~std::uint64_t{63}; }
    std::uint64_t virtual_address() {
        return virtual_base + random.below(64) * 4096 + (random.once_in(2) ? 0 : random.below(4096));
    }
    std::uint32_t index() { return random.once_in(30) ? random.word() : static_cast<std::uint32_t>(random.below(8)); }
    std::uint32_t lkey() {
        return random.once_in(20) ? random.word()
                                  : static_cast<std::uint32_t>(random.below(8)) << 8 |
                                        static_cast<std::uint32_t>(random.once_in(12)) << 20;
    }
    std::uint32_t mostly(std::uint64_t below) {
        return random.once_in(20) ? random.word() : static_cast<std::uint32_t>(random.below(below));
    }

    void run(ticks t) { d.run(t); }
    bool busy() { return hca.commands.control() >> 23 & 1; }
    void issue(unsigned opcode, std::uint32_t modifier, unsigned op_modifier, std::uint64_t in, std::uint64_t out,
               bool by_event) {
        const auto words = allocate_slice(28);
        hca_put64(words.data(), in);
        hca_put32(words.data() + 8, modifier);
        hca_put64(words.data() + 12, out);
        hca_put32(words.data() + 20, random.word());
        hca_put32(words.data() + 24, 1u << 23 | (by_event ? 1u << 22 : 0u) | (op_modifier & 15) << 12 | opcode);
        host.root.host_write(computer::register_base(0) + HCA_HCR, words);
        run(700'000);
        for (unsigned i = 0; i < 20 && busy(); ++i) run(1'000'000);
        if (!by_event && !busy()) ++ended[static_cast<unsigned>(hca.commands.control() >> 24)];
    }

    /// As a driver begins; whatever was before, a reset has made it new.
    void bring_up() {
        d.write32(HCA_RESET, 1);
        run(50'000'000);
        d.start();
        REQUIRE(d.map_icm(0, contexts, 6) == HCA_OK);
        REQUIRE(d.command(HCA_INIT_IB, 1) == HCA_OK);
        for (const unsigned opcode : {HCA_SW2HW_MPT, HCA_SW2HW_EQ, HCA_SW2HW_CQ})
            for (std::uint32_t number = 0; number < 8; ++number) command(opcode, false, number);
    }

    void describe_region(std::uint8_t* c, std::uint32_t number) {
        hca_put32(c, 0xf000'0000 |
                         (random.word() & (local_read | local_write | remote_read | remote_write | remote_atomic)) |
                         local_read | local_write);
        hca_set(c, HCA_MPT_REGION, !random.once_in(20));
        hca_set(c, HCA_MPT_KEY, number | static_cast<std::uint32_t>(random.once_in(12)) << 12);
        hca_set(c, HCA_MPT_PD, random.once_in(16) ? 2 : 1);
        if (random.once_in(6)) {
            const auto from = random.below(object_bytes);
            hca_set(c, HCA_MPT_PHYSICAL, 1);
            hca_set_long(c, HCA_MPT_START, object() + from);
            hca_set_long(c, HCA_MPT_LENGTH, random.below(object_bytes - from + 1));
            return;
        }
        hca_set(c, HCA_MPT_LOG_PAGE, random.once_in(10) ? 15 + static_cast<std::uint32_t>(random.below(17)) : 0);
        hca_set_long(c, HCA_MPT_START, virtual_base + (random.once_in(4) ? random.below(16 * 4096) : 0));
        hca_set_long(c, HCA_MPT_LENGTH,
                     random.once_in(20)  ? random.any()
                     : random.once_in(4) ? random.below(64 * 4096)
                                         : (65 + random.below(30)) * 4096);
        hca_set_long(c, HCA_MPT_MTT,
                     random.once_in(20) ? random.any() & ~std::uint64_t{7}
                                        : 8 * random.below(512 * (random.once_in(6) ? context_pages : 46)));
    }
    void describe_queue_pair(std::uint8_t* m) {
        auto* c = m + HCA_QP_CONTEXT;
        constexpr unsigned types[] = {HCA_QP_RC, HCA_QP_UC, HCA_QP_UD, HCA_QP_MLX};
        hca_put32(m, random.word());
        hca_set(c, HCA_QPC_TYPE, random.once_in(20) ? random.word() : types[random.once_in(2) ? 0 : random.below(4)]);
        hca_set(c, HCA_QPC_MTU, mostly(6));
        for (const unsigned f : {HCA_QPC_LOG_RQ_SIZE, HCA_QPC_LOG_SQ_SIZE}) hca_set(c, f, mostly(5));
        for (const unsigned f : {HCA_QPC_LOG_RQ_STRIDE, HCA_QPC_LOG_SQ_STRIDE}) hca_set(c, f, 2 + mostly(3));
        hca_set(c, HCA_QPC_UAR, 2);
        hca_set(c, HCA_QPC_PD, random.once_in(16) ? 2 : 1);
        hca_set(c, HCA_QPC_LKEY, lkey());
        hca_set(c, HCA_QPC_REMOTE, index());
        for (const unsigned f : {HCA_QPC_SEND_CQN, HCA_QPC_RECEIVE_CQN}) hca_set(c, f, mostly(8));
        for (const unsigned f : {HCA_QPC_SQ_START, HCA_QPC_RQ_START})
            hca_set(c, f, static_cast<std::uint32_t>(virtual_address()));
        hca_set(c, HCA_QPC_BUFFER_HIGH, static_cast<std::uint32_t>(virtual_base >> 32));
        for (const unsigned f : {HCA_QPC_SQ_RECORD, HCA_QPC_RQ_RECORD, HCA_QPC_SRQN}) hca_set(c, f, mostly(12));
        hca_set(c, HCA_QPC_HAS_SRQ, random.once_in(4));
        for (const unsigned f : {HCA_QPC_REMOTE_READ, HCA_QPC_REMOTE_WRITE, HCA_QPC_REMOTE_ATOMIC}) hca_set(c, f, 1);
        hca_set(c, HCA_QPC_RETRIES, 1);
        hca_set(c + HCA_QPC_PATH, HCA_PATH_LID, random.once_in(4) ? mostly(4) : 1);
        hca_set(c + HCA_QPC_PATH, HCA_PATH_ACK_TIMEOUT, 1);
        hca_set(c + HCA_QPC_PATH, HCA_PATH_RNR_RETRIES, mostly(3));
    }
    /// A queue's context, of events, completions or receives.
    void describe_queue(unsigned opcode, std::uint8_t* c, std::uint32_t number) {
        const auto start = virtual_address();
        if (opcode == HCA_SW2HW_SRQ) {
            hca_set(c, HCA_SRQC_LOG_SIZE, mostly(6));
            hca_set(c, HCA_SRQC_LKEY, lkey());
            hca_set(c, HCA_SRQC_RECORD, mostly(12));
            hca_set(c, HCA_SRQC_LOG_STRIDE, mostly(5));
            hca_set(c, HCA_SRQC_UAR, 2);
            hca_set_long(c, HCA_SRQC_START, start);
            hca_set(c, HCA_SRQC_PD, random.once_in(16) ? 2 : 1);
            hca_set(c, HCA_SRQC_LIMIT, mostly(8));
            return;
        }
        hca_set(c, HCA_CQC_STATE, mostly(16));
        hca_set_long(c, HCA_CQC_START, start);
        hca_set(c, HCA_CQC_LOG_SIZE, opcode == HCA_RESIZE_CQ ? random.word() : 1 + mostly(8));
        hca_set(c, HCA_CQC_UAR, 2);
        hca_set(c, HCA_CQC_PD, random.once_in(16) ? 2 : 1);
        hca_set(c, HCA_CQC_LKEY, lkey());
        if (opcode == HCA_SW2HW_EQ) return hca_set(c, HCA_EQC_INTERRUPT, random.word());
        hca_set(c, HCA_CQC_EQN, mostly(8));
        hca_set(c, HCA_CQC_NUMBER, number);
        hca_set(c, HCA_CQC_CONSUMER_RECORD, mostly(12));
        hca_set(c, HCA_CQC_ARM_RECORD, mostly(12));
    }
    /// Pages in one piece of what may be given, or such as are nowhere.
    void describe_mappings(std::uint8_t* c, std::uint32_t count) {
        for (std::uint32_t i = 0; i < std::min<std::uint32_t>(count, 8); ++i, c += HCA_MAP_SIZE) {
            const auto log_pages = random.below(7);
            hca_set_long(c, HCA_MAP_VIRTUAL,
                         (random.once_in(10) ? random.any() : random.below(1 << 30)) & ~std::uint64_t{4095});
            if (random.once_in(3))
                hca_set_long(c, HCA_MAP_PHYSICAL, (nowhere() & ~std::uint64_t{0xffff'ffff}) | random.below(64));
            else
                hca_set_long(
                    c, HCA_MAP_PHYSICAL,
                    ((contexts + 4096 * random.below(context_pages)) & ~((std::uint64_t{4096} << log_pages) - 1)) |
                        log_pages);
        }
    }

    void command(unsigned opcode, bool mutate) { command(opcode, mutate, index()); }
    void command(unsigned opcode, bool mutate, std::uint32_t number) {
        const auto in = mailbox(), out = mailbox();
        auto op_modifier = random.once_in(3) ? static_cast<std::uint32_t>(random.below(16)) : 0;
        const bool maps = opcode == HCA_MAP_ICM || opcode == HCA_MAP_FA || opcode == HCA_MAP_ICM_AUX;
        if (maps) number = random.once_in(30) ? random.word() : 1 + static_cast<std::uint32_t>(random.below(8));
        if (opcode == HCA_INIT_IB || opcode == HCA_CLOSE_IB || opcode == HCA_SET_IB || opcode == HCA_MAD_IFC)
            number = random.once_in(5) ? number : 1;
        const auto page = maps ? in & ~std::uint64_t{4095} : in;
        if (in < host_memory::size) {
            auto* c = d.at(page);
            std::memset(c, 0, 1024);
            if (maps) {
                describe_mappings(c, number);
            } else if (opcode == HCA_SW2HW_MPT) {
                describe_region(c, number);
            } else if (opcode == HCA_SW2HW_EQ || opcode == HCA_SW2HW_CQ || opcode == HCA_SW2HW_SRQ ||
                       opcode == HCA_RESIZE_CQ) {
                describe_queue(opcode, c, number);
            } else if (opcode >= HCA_RST2INIT_QP && opcode <= HCA_SQD2SQD_QP && opcode != HCA_MAD_IFC) {
                describe_queue_pair(c);
            } else {
                random.fill(c, 1024);
            }
            const bool exact = maps || hca_get(c, HCA_MPT_PHYSICAL);  // what else it could mean would be allowed
            if (mutate && random.once_in(12) && !exact)
                random.fill(c, 1024);
            else if (mutate && random.once_in(3) && !exact)
                for (auto n = random.below(6); n; --n)
                    if (const auto at = random.below(256); opcode != HCA_SW2HW_MPT || (at >= 8 && at < 16) || at > 0x2f)
                        c[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
        }
        const bool immediate =
            opcode == HCA_UNMAP_ICM || opcode == HCA_SET_ICM_SIZE || opcode == HCA_MAP_EQ || opcode == HCA_ARM_SRQ;
        issue(opcode, number, op_modifier,
              immediate ? (random.once_in(3) ? random.any() : random.below(1 << 20) & ~std::uint64_t{4095}) : page, out,
              random.once_in(10));
    }

    /// Entries of work queues all over an object, and doorbells for queue pairs that are or are not.
    void work() {
        auto* w = d.at(object() + random.below(64) * 64);
        for (unsigned s = 0; s < 8; ++s, w += 16) {
            switch (random.below(4)) {
                case 0:
                    test_qp::write_element(w,
                                           {virtual_address(), lkey(), static_cast<std::uint32_t>(random.below(6000))});
                    break;
                case 1:
                    hca_set_long(w, 0, virtual_address());
                    hca_set(w, HCA_REMOTE_KEY, lkey());
                    break;
                case 2:
                    test_qp::write_element(w, {object() + random.below(object_bytes), lkey(),
                                               static_cast<std::uint32_t>(random.below(300))});
                    break;
                default: random.fill(w, 16); break;
            }
        }
        for (unsigned n = 0; n < 3; ++n) {
            const auto number = index() & 0xff'ffff;
            const auto* q = hca.queue_pairs.find(number);
            const auto posted = q && !random.once_in(10) ? q->send.posted : random.word() & 0xffff;
            constexpr unsigned known[] = {HCA_OP_WRITE,        HCA_OP_WRITE_IMMEDIATE, HCA_OP_SEND, HCA_OP_READ,
                                          HCA_OP_COMPARE_SWAP, HCA_OP_FETCH_ADD,       HCA_OP_NOP};
            const auto opcode = random.once_in(10) ? random.word() & 31 : known[random.below(7)];
            if (random.once_in(5))
                d.doorbell(2, HCA_UAR_CQ, random.word() & 0x3700'000f, random.word() & 63);
            else
                d.doorbell(random.once_in(20) ? index() & 255 : 2, HCA_UAR_SEND,
                           (1 + static_cast<std::uint32_t>(random.below(3))) << 24 | posted << 8 | opcode,
                           number << 8 | (random.once_in(8) ? random.word() & 63
                                                            : 1 + static_cast<std::uint32_t>(random.below(4))));
        }
        run(4'000'000);
    }
    void registers() {
        auto bytes = random.once_in(2) ? 4 : 1 + random.below(64);
        auto at = random.once_in(2) ? random.below(HCA_REGISTERS_SIZE - 64) : HCA_HCR - 16 + random.below(64);
        if (at >> 12 == HCA_MSIX_TABLE >> 12 || (at + 64) >> 12 == HCA_MSIX_TABLE >> 12)
            at = HCA_EQ_ARM;  // interrupts go where software says
        const bool writes = random.once_in(2);
        const bool commands =
            writes && at < HCA_HCR + 28 && at + bytes > HCA_HCR;  // its mailboxes are where software says, too: nowhere
        if (commands) at = HCA_HCR, bytes = 28;
        const auto data = allocate_slice(bytes);
        random.fill(data.data(), bytes);
        if (commands) data.data()[2] |= 0x20, data.data()[14] |= 0x20;
        if (writes)
            host.root.host_write(computer::register_base(0) + at, data);
        else
            host.root.host_read(computer::register_base(0) + at, data, [](pcie::request_status) {});
        if (random.once_in(4)) d.write32(HCA_EQ_SET_CI + 8 * random.below(32), random.word() & 31);
        if (random.once_in(4)) d.write32(HCA_EQ_ARM + 4, random.word());
        run(2'000'000);
    }
    void step() {
        static constexpr unsigned frequent[] = {
            HCA_SW2HW_MPT,     HCA_SW2HW_MPT,   HCA_HW2SW_MPT,       HCA_MAP_EQ,        HCA_SW2HW_EQ,
            HCA_HW2SW_EQ,      HCA_SW2HW_CQ,    HCA_SW2HW_CQ,        HCA_HW2SW_CQ,      HCA_RESIZE_CQ,
            HCA_RST2INIT_QP,   HCA_RST2INIT_QP, HCA_RST2INIT_QP,     HCA_INIT2RTR_QP,   HCA_INIT2RTR_QP,
            HCA_INIT2RTR_QP,   HCA_RTR2RTS_QP,  HCA_RTR2RTS_QP,      HCA_RTR2RTS_QP,    HCA_RTS2RTS_QP,
            HCA_SQE2RTS_QP,    HCA_2ERR_QP,     HCA_RTS2SQD_QP,      HCA_SQD2RTS_QP,    HCA_SQD2SQD_QP,
            HCA_2RST_QP,       HCA_QUERY_QP,    HCA_INIT2INIT_QP,    HCA_SW2HW_SRQ,     HCA_HW2SW_SRQ,
            HCA_QUERY_SRQ,     HCA_ARM_SRQ,     HCA_CONF_SPECIAL_QP, HCA_MAD_IFC,       HCA_READ_MGM,
            HCA_WRITE_MGM,     HCA_MGID_HASH,   HCA_MAP_ICM,         HCA_UNMAP_ICM,     HCA_MAP_ICM_AUX,
            HCA_UNMAP_ICM_AUX, HCA_QUERY_FW,    HCA_QUERY_DEV_LIM,   HCA_QUERY_ADAPTER, HCA_SET_IB,
            HCA_INIT_IB,       HCA_NOP};
        static constexpr unsigned rare[] = {HCA_CLOSE_HCA,  HCA_CLOSE_IB,     HCA_INIT_HCA, HCA_RUN_FW,
                                            HCA_ENABLE_LAM, HCA_SET_ICM_SIZE, HCA_UNMAP_FA, HCA_MAP_FA};
        switch (random.below(16)) {
            case 0: return registers();
            case 13:
            case 14:
            case 15: {  // as a driver brings queue pairs up
                const auto number = index();
                for (const unsigned opcode :
                     {HCA_SW2HW_MPT, HCA_2RST_QP, HCA_RST2INIT_QP, HCA_INIT2RTR_QP, HCA_RTR2RTS_QP})
                    command(opcode, random.once_in(8), number);
                return work();
            }
            case 1:
            case 2:
            case 3:
            case 4: return work();
            default:
                command(random.once_in(100)   ? random.word() & 0xfff
                        : random.once_in(300) ? random.of(rare)
                                              : random.of(frequent),
                        true);
        }
    }
    void check() {
        INFO(host.memory.first_access_violation);
        REQUIRE(host.memory.access_violations == 0);
        for (std::uint64_t i = 0; i < object_count; ++i)
            REQUIRE_FALSE(shows_secret(d.at(objects + i * object_step), object_bytes));
    }
};

}  // namespace

TEST_CASE("a misbehaving driver") {
    calendar timeline;
    attack t;
    const auto rounds = environment_or("HCA_FUZZ", usual);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        t.step();
        if (t.random.once_in(300)) t.bring_up();
        if (i % 10'000 == 9'999) t.check();
    }
    t.check();
    // It has not only refused.
    INFO("posted " << t.hca.send_queues.posted.total() << ", fetches " << t.hca.send_queues.fetches.total()
                   << ", of them failed " << t.hca.send_queues.failures.total() << ", violations "
                   << t.hca.translation.violations.total() << ", requests " << t.hca.requester.requests.total()
                   << ", errors " << t.hca.requester.errors.total() << ", messages " << t.hca.requester.messages.total()
                   << ", received " << t.hca.responder.received.total() << ", completions "
                   << t.hca.completion_queues.cqes.total());
    for (const unsigned status : {HCA_OK, HCA_BAD_OPCODE, HCA_BAD_PARAMETER, HCA_BAD_SYSTEM_STATE, HCA_BAD_RESOURCE,
                                  HCA_BAD_OBJECT_STATE, HCA_BAD_INDEX, HCA_BAD_QP_STATE}) {
        CAPTURE(status);
        CHECK(t.ended[status] > rounds / 10'000);
    }
    CHECK(t.ended[HCA_OK] > rounds / 10);
    CHECK(t.hca.send_queues.posted.total() > rounds / 100);
    CHECK(t.hca.requester.errors.total() > rounds / 1000);
    CHECK(t.hca.requester.messages.total() > rounds / 10'000);
    if (rounds >= usual) CHECK(t.hca.responder.received.total() > 0);  // nine in 250,000 rounds
    // And all is as new after a reset.
    t.bring_up();
    t.d.write32(HCA_RESET, 1);
    t.run(50'000'000);
    driver fresh{t.host, 0, 8 * mebibyte, 32 * mebibyte};
    fresh.start();
    fresh.create_eq(1, 4, HCA_INTERRUPT_MESSAGE);
    REQUIRE(fresh.command(HCA_INIT_IB, 1) == HCA_OK);
    auto cq = create_cq(fresh, 0x80, 6, 1, 0);
    const auto region = fresh.region(9000);
    test_qp here(fresh, 0x20, 0x80, 0x80, 4, {}), there(fresh, 0x21, 0x80, 0x80, 6, {});
    here.connect(0x21, 1);
    there.connect(0x20, 1);
    t.random.fill(fresh.byte(region, 0), 4096);
    send_request w;
    w.opcode = HCA_OP_WRITE;
    w.list = {{0, region.key, 4000}};
    w.remote = 4500;
    w.rkey = region.key;
    here.post(w);
    t.run(100'000'000);
    const auto c = poll(fresh, cq, 0);
    REQUIRE(c);
    CHECK(c->opcode == HCA_OP_WRITE);
    CHECK(read(fresh, region, 0, 4000) == read(fresh, region, 4500, 4000));
}
