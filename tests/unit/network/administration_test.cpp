// SPDX-License-Identifier: Apache-2.0
// Subnet administration of a network that its configuration manages, as drivers and saquery ask it: by the LID of the
// subnet manager, queue pair 1.
#include "network/administration.h"
#include "network/subnet.h"
#include "network/switch_agent.h"
#include "unit/network/mad_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

constexpr std::uint32_t general_qkey = 0x8001'0000;
constexpr unsigned service_record = 0x31;

port_params narrow() {
    port_params p;
    p.mtu = 1024;
    return p;
}

/// a, c — s0 — s1 — b
subnet_params chain() {
    subnet_params p;
    for (const auto* s : {"s0", "s1"}) {
        p.switches.emplace_back();
        p.switches.back().name = s;
    }
    for (const auto& [from, to] : {std::pair{"a", "s0"}, {"s0", "s1"}, {"s1", "b"}, {"s0", "c"}}) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
    }
    return p;
}

struct machines {
    calendar timeline;
    adapter a{"a"}, b{"b"}, c{"c", narrow()};
    subnet net{"net", chain(), {{"a", &a.link}, {"b", &b.link}, {"c", &c.link}}, {}, {0x1230, 0, 0}};
    machines() { net.start(); }
};

machines& all() {
    static machines m;
    return m;
}

std::uint64_t guid_of(const adapter& x) { return std::string(x.name()) == "a" ? 0x1231 : adapter_guid(x.name()) + 1; }

void put_gid(std::uint8_t* to, const adapter& x) {
    hca_put64(to, 0xfe80'0000'0000'0000);
    hca_put64(to + 8, guid_of(x));
}

mad request(unsigned method, unsigned attribute, std::uint64_t components = 0) {
    static std::uint64_t transaction = 0;
    mad d{};
    d[0] = 1;
    d[1] = HCA_SA_CLASS;
    d[2] = 2;
    d[3] = static_cast<std::uint8_t>(method);
    hca_set(d.data(), HCA_MAD_ATTRIBUTE, attribute);
    hca_set_long(d.data(), HCA_MAD_TRANSACTION, ++transaction);
    hca_set_long(d.data(), HCA_SA_COMPONENTS, components);
    return d;
}

/// What comes back to an adapter's queue pair 1.
std::vector<mad> tell(adapter& from, const mad& d) {
    from.received.clear();
    const auto p = packet_of(d, from.link.manager_lid(), from.link.lid());
    p->bth.destination_qp = 1;
    p->deth = {general_qkey, 1};
    from.send(p);
    run_all();
    std::vector<mad> found;
    for (const auto& r : from.received) {
        CHECK(r.packet->bth.destination_qp == 1);
        found.emplace_back();
        std::copy_n(r.packet->payload.data(), HCA_MAD_SIZE, found.back().begin());
    }
    return found;
}

mad ask(adapter& from, const mad& d) {
    const auto found = tell(from, d);
    REQUIRE(found.size() == 1);
    CHECK(hca_get_long(found[0].data(), HCA_MAD_TRANSACTION) == hca_get_long(d.data(), HCA_MAD_TRANSACTION));
    return found[0];
}

unsigned status_of(const mad& d) { return hca_get(d.data(), HCA_MAD_STATUS); }
const std::uint8_t* record_of(const mad& d) { return d.data() + HCA_SA_DATA; }

mad path_request(const adapter& from, const adapter& to, std::uint64_t more = 0) {
    auto d = request(HCA_MAD_GET, HCA_SA_PATH, HCA_SA_PATH_BY_DGID | HCA_SA_PATH_BY_SGID | more);
    put_gid(&d[HCA_SA_DATA + HCA_SA_PATH_SGID], from);
    put_gid(&d[HCA_SA_DATA + HCA_SA_PATH_DGID], to);
    return d;
}

/// IPv4's broadcast group in the default partition.
mad member_request(unsigned method, const adapter& member) {
    auto d = request(method, HCA_SA_MEMBER,
                     HCA_SA_MEMBER_BY_MGID | HCA_SA_MEMBER_BY_GID | HCA_SA_MEMBER_BY_PKEY | HCA_SA_MEMBER_BY_STATE);
    auto* r = &d[HCA_SA_DATA];
    hca_put64(r, 0xff12'401b'ffff'0000);
    hca_put64(r + 8, 0xffff'ffff);
    put_gid(r + HCA_SA_MEMBER_GID, member);
    hca_set(r, HCA_SA_MEMBER_PKEY, 0xffff);
    hca_set(r, HCA_SA_MEMBER_STATE, HCA_SA_MEMBER_FULL);
    return d;
}

std::size_t reached(const adapter& x, std::uint16_t lid) {
    return static_cast<std::size_t>(std::count_if(x.received.begin(), x.received.end(),
                                                  [lid](const auto& r) { return r.packet->lrh.dlid == lid; }));
}

/// Which of b and c a datagram of a reaches.
std::pair<std::size_t, std::size_t> multicast(std::uint16_t lid) {
    auto& m = all();
    for (auto* x : {&m.a, &m.b, &m.c}) x->received.clear();
    const auto p = make_datagram(lid, 100);
    p->bth.destination_qp = multicast_qp;
    p->lrh.global = true;
    m.a.send(p);
    run_all();
    return {reached(m.b, lid), reached(m.c, lid)};
}

}  // namespace

TEST_CASE("paths between ports, by their GIDs") {
    auto& m = all();
    CHECK(m.a.link.manager_lid() == m.net.lid_of("s0"));
    const auto found = ask(m.a, path_request(m.a, m.b));
    CHECK(status_of(found) == 0);
    CHECK(hca_get(found.data(), HCA_MAD_METHOD) == HCA_MAD_GET_RESPONSE);
    CHECK(hca_get(record_of(found), HCA_SA_PATH_DLID) == m.b.link.lid());
    CHECK(hca_get(record_of(found), HCA_SA_PATH_SLID) == m.a.link.lid());
    CHECK(hca_get(record_of(found), HCA_SA_PATH_PKEY) == 0xffff);
    CHECK(hca_get(record_of(found), HCA_SA_PATH_MTU) == mtu_code(m.a.link.mtu()));
    CHECK(hca_get(record_of(ask(m.b, path_request(m.b, m.c))), HCA_SA_PATH_MTU) == mtu_code(1024));

    // More than 1,024 bytes: to b, not to c.
    auto wide = path_request(m.a, m.b, HCA_SA_PATH_BY_MTU);
    hca_set(&wide[HCA_SA_DATA], HCA_SA_PATH_MTU, mtu_code(1024));
    CHECK(status_of(ask(m.a, wide)) == 0);
    put_gid(&wide[HCA_SA_DATA + HCA_SA_PATH_DGID], m.c);
    CHECK(status_of(ask(m.a, wide)) == HCA_SA_NO_RECORDS);

    auto unknown = path_request(m.a, m.b);
    unknown[HCA_SA_DATA + HCA_SA_PATH_DGID + 15] ^= 1;
    CHECK(status_of(ask(m.a, unknown)) == HCA_SA_INVALID_GID);
    CHECK(status_of(ask(m.a, request(HCA_MAD_GET, HCA_SA_PATH))) == HCA_SA_INSUFFICIENT);
}

TEST_CASE("selectors ask for more, less, exactly so much, or the most") {
    auto& m = all();
    enum : unsigned { more, less, exactly, most };
    const auto chosen = [&](std::uint64_t by, unsigned selector_field, unsigned field, unsigned selector,
                            unsigned code) {
        auto d = path_request(m.a, m.b, by);
        hca_set(&d[HCA_SA_DATA], selector_field, selector);
        hca_set(&d[HCA_SA_DATA], field, code);
        const auto found = ask(m.a, d);
        if (status_of(found)) {
            CHECK(status_of(found) == HCA_SA_NO_RECORDS);
            return 0u;
        }
        return hca_get(record_of(found), field);
    };
    const auto mtu = [&](unsigned selector, unsigned code) {
        return chosen(HCA_SA_PATH_BY_MTU, HCA_SA_PATH_MTU_SELECTOR, HCA_SA_PATH_MTU, selector, code);
    };
    const auto widest = mtu_code(m.a.link.mtu());
    CHECK(mtu(more, widest) == 0);
    CHECK(mtu(more, widest - 1) == widest);
    CHECK(mtu(less, widest) == widest - 1);
    CHECK(mtu(less, widest + 1) == widest);
    CHECK(mtu(less, mtu_code(256)) == 0);
    CHECK(mtu(less, 0) == 0);
    CHECK(mtu(exactly, widest - 2) == widest - 2);
    CHECK(mtu(exactly, widest + 1) == 0);
    CHECK(mtu(most, 1) == widest);

    // Codes of rates do not rise with them: 2 is 2.5 Gb/s, 5 is 5 Gb/s, 3 is 10 Gb/s; 1 is none.
    const auto rate = [&](unsigned selector, unsigned code) {
        return chosen(HCA_SA_PATH_BY_RATE, HCA_SA_PATH_RATE_SELECTOR, HCA_SA_PATH_RATE, selector, code);
    };
    const auto fastest = rate(most, 2);
    CHECK(fastest == hca_get(record_of(ask(m.a, path_request(m.a, m.b))), HCA_SA_PATH_RATE));
    CHECK(rate(more, fastest) == 0);
    CHECK(rate(more, 2) == fastest);
    CHECK(rate(exactly, 3) == 3);
    CHECK(rate(exactly, 23) == 0);
    CHECK(rate(exactly, 1) == 0);
    CHECK(rate(less, 3) == 5);
    CHECK(rate(less, 23) == fastest);
    CHECK(rate(less, 2) == 0);
    CHECK(rate(less, 1) == 0);
}

TEST_CASE("records of nodes, by what is known of them") {
    auto& m = all();
    const auto names = [&](std::uint64_t by, auto&& fill) {
        auto d = request(HCA_SA_GET_TABLE, HCA_SA_NODE, by);
        fill(&d[HCA_SA_DATA]);
        const auto found = ask(m.a, d);
        REQUIRE(hca_get(found.data(), HCA_SA_RMPP_LENGTH) == 112 + HCA_SA_HEADER);
        return std::string(reinterpret_cast<const char*>(record_of(found) + HCA_SA_NODE_DESCRIPTION));
    };
    CHECK(names(HCA_SA_NODE_BY_LID, [&](auto* r) { hca_set(r, HCA_SA_NODE_LID, m.b.link.lid()); }) == "b");
    CHECK(names(HCA_SA_NODE_BY_PORT_GUID,
                [&](auto* r) { hca_set_long(r + HCA_SA_NODE_INFO, HCA_NODE_PORT_GUID, guid_of(m.c)); }) == "c");
    CHECK(names(HCA_SA_NODE_BY_TYPE | HCA_SA_NODE_BY_LID, [&](auto* r) {
              hca_set(r + HCA_SA_NODE_INFO, HCA_NODE_TYPE, HCA_NODE_SWITCH);
              hca_set(r, HCA_SA_NODE_LID, m.net.lid_of("s1"));
          }) == "net.s1");
    auto none = request(HCA_MAD_GET, HCA_SA_NODE, HCA_SA_NODE_BY_TYPE | HCA_SA_NODE_BY_LID);
    hca_set(&none[HCA_SA_DATA + HCA_SA_NODE_INFO], HCA_NODE_TYPE, HCA_NODE_SWITCH);
    hca_set(&none[HCA_SA_DATA], HCA_SA_NODE_LID, m.b.link.lid());
    CHECK(status_of(ask(m.a, none)) == HCA_SA_NO_RECORDS);
}

TEST_CASE("what there is no service for gets a status at once") {
    auto& m = all();
    for (const unsigned method : {unsigned{HCA_MAD_GET}, unsigned{HCA_MAD_SET}, unsigned{HCA_SA_GET_TABLE}, 0x14u})
        CHECK(status_of(ask(m.a, request(method, service_record))) == HCA_MAD_BAD_ATTRIBUTE);
    CHECK(status_of(ask(m.a, request(HCA_MAD_GET, HCA_SA_CLASS_PORT_INFO))) == 0);
    auto response = request(HCA_MAD_GET_RESPONSE, HCA_SA_PATH);
    CHECK(tell(m.a, response).empty());
    auto lid = request(HCA_MAD_GET, HCA_SA_PORT_INFO, HCA_SA_PORT_BY_LID);
    hca_set(&lid[HCA_SA_DATA], HCA_SA_PORT_LID, m.c.link.lid());
    const auto found = ask(m.a, lid);
    CHECK(status_of(found) == 0);
    CHECK(hca_get(record_of(found) + HCA_SA_PORT_ATTRIBUTES, HCA_PORT_MTU_ACTIVE) == mtu_code(1024));
    CHECK(hca_get(record_of(found) + HCA_SA_PORT_ATTRIBUTES, HCA_PORT_SM_LID) == m.net.lid_of("s0"));
}

TEST_CASE("tables come in segments, as they are acknowledged") {
    auto& m = all();
    auto d = request(HCA_SA_GET_TABLE, HCA_SA_NODE);
    std::vector<mad> segments{ask(m.b, d)};
    CHECK(hca_get(segments[0].data(), HCA_SA_RMPP_FLAGS) == (HCA_SA_RMPP_ACTIVE | HCA_SA_RMPP_FIRST));
    CHECK(hca_get(segments[0].data(), HCA_SA_OFFSET) == 14);
    const std::size_t bytes = 5 * 112, count = 3;
    CHECK(hca_get(segments[0].data(), HCA_SA_RMPP_LENGTH) == bytes + count * HCA_SA_HEADER);
    auto acknowledge = segments[0];
    hca_set(acknowledge.data(), HCA_SA_RMPP_TYPE, HCA_SA_RMPP_ACKNOWLEDGE);
    hca_set(acknowledge.data(), HCA_SA_RMPP_FLAGS, HCA_SA_RMPP_ACTIVE);
    hca_set(acknowledge.data(), HCA_SA_RMPP_SEGMENT, 1);
    hca_set(acknowledge.data(), HCA_SA_RMPP_LENGTH, 64);
    for (const auto& s : tell(m.b, acknowledge)) segments.push_back(s);
    REQUIRE(segments.size() == count);
    CHECK(hca_get(segments[2].data(), HCA_SA_RMPP_FLAGS) == (HCA_SA_RMPP_ACTIVE | HCA_SA_RMPP_LAST));
    CHECK(hca_get(segments[2].data(), HCA_SA_RMPP_LENGTH) == HCA_SA_HEADER + bytes - 2 * HCA_SA_DATA_SIZE);
    std::vector<std::uint8_t> table;
    for (const auto& s : segments) table.insert(table.end(), record_of(s), record_of(s) + HCA_SA_DATA_SIZE);
    std::vector<std::string> names;
    for (unsigned i = 0; i < 5; ++i)
        names.emplace_back(reinterpret_cast<const char*>(&table[112 * i + HCA_SA_NODE_DESCRIPTION]));
    CHECK(names == std::vector<std::string>{"a", "b", "c", "net.s0", "net.s1"});
    CHECK(hca_get_long(&table[HCA_SA_NODE_INFO], HCA_NODE_PORT_GUID) == 0x1231);
    hca_set(acknowledge.data(), HCA_SA_RMPP_SEGMENT, count);
    CHECK(tell(m.b, acknowledge).empty());
    CHECK(tell(m.b, acknowledge).empty());  // of a transfer that is over

    // All paths, and none: one segment each says so.
    auto paths = request(HCA_SA_GET_TABLE, HCA_SA_PATH, HCA_SA_PATH_BY_SGID);
    put_gid(&paths[HCA_SA_DATA + HCA_SA_PATH_SGID], m.a);
    CHECK(hca_get(ask(m.a, paths).data(), HCA_SA_RMPP_LENGTH) == 5 * HCA_SA_PATH_SIZE + 2 * HCA_SA_HEADER);
    const auto none = ask(m.a, request(HCA_SA_GET_TABLE, HCA_SA_MEMBER));
    CHECK(status_of(none) == 0);
    CHECK(hca_get(none.data(), HCA_SA_RMPP_LENGTH) == HCA_SA_HEADER);
}

TEST_CASE("ports join groups, and datagrams follow") {
    auto& m = all();
    const auto joined = ask(m.a, member_request(HCA_MAD_SET, m.a));
    REQUIRE(status_of(joined) == 0);
    const auto lid = static_cast<std::uint16_t>(hca_get(record_of(joined), HCA_SA_MEMBER_LID));
    CHECK(is_multicast(lid));
    CHECK(hca_get(record_of(joined), HCA_SA_MEMBER_QKEY) == 0x0b1b);
    CHECK(hca_get(record_of(joined), HCA_SA_MEMBER_MTU) == mtu_code(1024));  // c's, which may join, too
    CHECK(multicast(lid) == std::pair<std::size_t, std::size_t>{0, 0});
    const auto second = ask(m.b, member_request(HCA_MAD_SET, m.b));
    CHECK(hca_get(record_of(second), HCA_SA_MEMBER_LID) == lid);
    CHECK(multicast(lid) == std::pair<std::size_t, std::size_t>{1, 0});
    CHECK(status_of(ask(m.c, member_request(HCA_MAD_SET, m.c))) == 0);
    CHECK(multicast(lid) == std::pair<std::size_t, std::size_t>{1, 1});
    auto left = ask(m.b, member_request(HCA_SA_DELETE, m.b));
    CHECK(status_of(left) == 0);
    CHECK(hca_get(left.data(), HCA_MAD_METHOD) == HCA_SA_DELETE_RESPONSE);
    CHECK(multicast(lid) == std::pair<std::size_t, std::size_t>{0, 1});
    CHECK(status_of(ask(m.b, member_request(HCA_SA_DELETE, m.b))) == HCA_SA_INVALID);

    // Another group has another LID; one that says too little is none.
    auto other = member_request(HCA_MAD_SET, m.b);
    other[HCA_SA_DATA + 2] = 0x60;
    const auto of_other = ask(m.b, other);
    CHECK(status_of(of_other) == 0);
    CHECK(hca_get(record_of(of_other), HCA_SA_MEMBER_LID) != lid);
    other[HCA_SA_DATA + 2] = 0x11;
    CHECK(status_of(ask(m.b, other)) == HCA_SA_INSUFFICIENT);

    // When the last full member has left, the group is gone.
    CHECK(status_of(ask(m.c, member_request(HCA_SA_DELETE, m.c))) == 0);
    CHECK(status_of(ask(m.a, member_request(HCA_SA_DELETE, m.a))) == 0);
    auto any = request(HCA_SA_GET_TABLE, HCA_SA_MEMBER, HCA_SA_MEMBER_BY_LID);
    hca_set(&any[HCA_SA_DATA], HCA_SA_MEMBER_LID, lid);
    CHECK(hca_get(ask(m.a, any).data(), HCA_SA_RMPP_LENGTH) == HCA_SA_HEADER);
    CHECK(multicast(lid) == std::pair<std::size_t, std::size_t>{0, 0});
    CHECK(snapshot_statistics("net").at("net.packets.in_flight") == 0);
}

TEST_CASE("a group without a name is given one, and ends with its last full member") {
    auto& m = all();
    auto d = member_request(HCA_MAD_SET, m.a);
    auto* r = &d[HCA_SA_DATA];
    hca_put64(r, 0);
    hca_put64(r + 8, 0);
    hca_set(r, HCA_SA_MEMBER_QKEY, 0x1234);
    hca_set(r, HCA_SA_MEMBER_MTU_SELECTOR, 2);
    hca_set(r, HCA_SA_MEMBER_MTU, mtu_code(512));
    hca_set_long(d.data(), HCA_SA_COMPONENTS,
                 HCA_SA_MEMBER_BY_MGID | HCA_SA_MEMBER_BY_GID | HCA_SA_MEMBER_BY_PKEY | HCA_SA_MEMBER_BY_STATE |
                     HCA_SA_MEMBER_BY_QKEY | HCA_SA_MEMBER_BY_SL | HCA_SA_MEMBER_BY_FLOW | HCA_SA_MEMBER_BY_CLASS |
                     HCA_SA_MEMBER_BY_MTU);
    const auto first = ask(m.a, d), second = ask(m.a, d);
    REQUIRE(status_of(first) == 0);
    REQUIRE(status_of(second) == 0);
    CHECK(record_of(first)[0] == 0xff);
    CHECK(!std::equal(record_of(first), record_of(first) + 16, record_of(second)));
    CHECK(hca_get(record_of(first), HCA_SA_MEMBER_MTU) == mtu_code(512));
    const auto lid = static_cast<std::uint16_t>(hca_get(record_of(first), HCA_SA_MEMBER_LID));

    // b receives without being a full member; another key is refused.
    auto joining = d;
    std::copy_n(record_of(first), 16, &joining[HCA_SA_DATA]);
    put_gid(&joining[HCA_SA_DATA + HCA_SA_MEMBER_GID], m.b);
    hca_set(&joining[HCA_SA_DATA], HCA_SA_MEMBER_STATE, HCA_SA_MEMBER_NONE);
    auto wrong = joining;
    hca_set(&wrong[HCA_SA_DATA], HCA_SA_MEMBER_QKEY, 0x1235);
    CHECK(status_of(ask(m.b, wrong)) == HCA_SA_INVALID);
    CHECK(multicast(lid).first == 0);
    CHECK(status_of(ask(m.b, joining)) == 0);
    CHECK(multicast(lid).first == 1);
    for (const auto& group : {first, second}) {
        auto leaving = member_request(HCA_SA_DELETE, m.a);
        std::copy_n(record_of(group), 16, &leaving[HCA_SA_DATA]);
        CHECK(status_of(ask(m.a, leaving)) == 0);
    }
    CHECK(multicast(lid).first == 0);
}

TEST_CASE("a request with any contents gets one response or none") {
    auto& m = all();
    std::uint64_t x = 1;
    for (unsigned trial = 0; trial < 3000; ++trial) {
        auto d = request(0, 0);
        for (auto& byte : d) {
            x = x * 6364136223846793005 + 1442695040888963407;
            byte = static_cast<std::uint8_t>(x >> 56);
        }
        d[1] = HCA_SA_CLASS;
        if (trial % 2) d[3] = trial % 4 == 1 ? HCA_MAD_SET : HCA_SA_GET_TABLE;
        constexpr std::uint8_t attributes[] = {HCA_SA_NODE, HCA_SA_PORT_INFO, HCA_SA_PATH, HCA_SA_MEMBER};
        if (trial % 3) hca_set(d.data(), HCA_MAD_ATTRIBUTE, attributes[trial % 4]);
        CHECK(tell(m.a, d).size() <= 1);
    }
}
