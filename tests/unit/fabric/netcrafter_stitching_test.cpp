// SPDX-License-Identifier: Apache-2.0
// The cluster queue and Algorithm 1, packet by packet.
#include "unit/fabric/netcrafter_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

/// The tags of a unit's packets, ends that ride ahead as "<tag>".
std::vector<std::string> names(const wire_unit& u) {
    std::vector<std::string> all;
    for (const auto& part : u.parts)
        all.push_back(part.what == part_kind::tail ? "<id " + std::to_string(part.id) + ">"
                                                   : std::to_string(part.record->tag));
    return all;
}

using strings = std::vector<std::string>;

netcrafter::parameters with(pooling_mode m) {
    auto p = stitching();
    p.pooling = m;
    return p;
}

netcrafter::parameters from_head(netcrafter::parameters p) {
    p.window_from = window_start::head;
    return p;
}

netcrafter::parameters sequenced(sequencing_mode m, bool stitched = false) {
    netcrafter::parameters p;
    p.stitching = stitched;
    p.sequencing = m;
    return p;
}

}  // namespace

TEST_CASE("a small packet rides in the padding of another for the same cluster") {
    sampler s;
    stitching_link link(stitching(), {}, 0, 2);
    link.credits.left[0] = 0;                     // requests cannot go yet, so the response has its turn
    link.push(s.make(sample::line), 0, 0);        // 0: 68 bytes, 12 free
    link.push(s.make(sample::page_table), 0, 1);  // 1: would fit, but is for another cluster
    CHECK_FALSE(link.sender.queue.filled(0) == 0);
    auto u = link.next();
    REQUIRE(u);
    CHECK(names(*u) == strings{"0"});
    CHECK(u->flits == 5);
    CHECK(u->used == 68);
    link.credits.left[0] = 10;
    CHECK(names(*link.next()) == strings{"1"});
    stitching_link same(stitching());
    same.push(s.make(sample::page_table));       // 2: channels take turns, and requests begin
    same.push(s.make(sample::line));             // 3
    same.push(s.make(sample::page_table));       // 4: fits exactly
    CHECK(names(*same.next()) == strings{"2"});  // in its 4 free bytes nothing fits
    u = same.next();
    CHECK(names(*u) == strings{"3", "4"});
    CHECK(u->flits == 5);
    CHECK(u->used == 80);
    CHECK_FALSE(same.next());
}

TEST_CASE("as many ride as fit, and as are allowed") {
    sampler s;
    const auto stitched_count = [&](std::uint64_t max_candidates) {
        auto p = stitching();
        p.candidates = max_candidates;
        stitching_link link(p);
        for (unsigned i = 0; i < 6; ++i) link.push(s.make(sample::written));
        return link.next()->parts.size() - 1;
    };
    CHECK(stitched_count(8) == 3);  // four responses of 4 bytes fill a flit
    CHECK(stitched_count(2) == 2);
    CHECK(stitched_count(1) == 1);
}

TEST_CASE("as many ends ride in a flit as are allowed among its riders") {
    sampler s;
    const auto ends = [&](std::uint64_t max_ends) {
        auto p = stitching();
        p.sub_header = {2};
        p.partial_candidates = max_ends;
        stitching_link link(p);
        for (const auto k : {sample::line, sample::three_sectors, sample::sector}) link.push(s.make(k));
        return link.next()->parts.size() - 1;
    };
    CHECK(ends(8) == 2);  // two ends of 4 bytes, each with a sub-header of 2, in 12 free bytes
    CHECK(ends(2) == 2);
    CHECK(ends(1) == 1);
    // Whole packets ride beside as many ends as are allowed.
    auto p = stitching();
    p.sub_header = {2};
    p.partial_candidates = 1;
    stitching_link link(p);
    for (const auto k : {sample::written, sample::written, sample::line, sample::sector}) link.push(s.make(k));
    const auto u = link.next();
    REQUIRE(u->parts.size() == 3);
    CHECK(u->parts[1].what == part_kind::whole);
    CHECK(u->parts[2].what == part_kind::tail);
}

TEST_CASE("an exact fit leaves nothing free") {
    packet_format f;
    f.flit = {4};
    sampler s(f);
    stitching_link link(with(pooling_mode::plain), f);
    link.push(s.make(sample::read));
    const auto u = link.next(0);  // does not wait either
    REQUIRE(u);
    CHECK(u->flits == 3);
    CHECK(u->used == u->length());
}

TEST_CASE("the end of a packet rides under a sub-header, and its packet takes a flit less") {
    sampler s;
    struct figures {
        unsigned flits = 0, stitched_count = 0, ends = 0;
    };
    const auto carry = [&](unsigned width, bool partial) {
        auto p = stitching(partial);
        p.sub_header = {width};
        stitching_link link(p);
        link.push(s.make(sample::line));           // 5 flits, 12 bytes free, as all of these
        link.push(s.make(sample::three_sectors));  // 4 flits
        link.push(s.make(sample::sector));         // 2 flits
        figures f;
        while (auto u = link.next()) {
            f.flits += u->flits;
            for (std::size_t i = 1; i < u->parts.size(); ++i)
                ++(u->parts[i].what == part_kind::tail ? f.ends : f.stitched_count);
            link.take(*u);
        }
        return f;
    };
    CHECK(carry(4, false).flits == 11);
    const auto wide = carry(4, true);  // 68 + (4 + 4), and no other end fits the 4 bytes left
    CHECK(wide.ends == 1);
    CHECK(wide.flits == 10);
    const auto narrow = carry(2, true);  // 68 + (2 + 4) + (2 + 4)
    CHECK(narrow.ends == 2);
    CHECK(narrow.flits == 9);
    CHECK(narrow.stitched_count == 0);
}

TEST_CASE("credits: head and riders take those of their own channel, an end for all of its packet") {
    sampler s;
    stitching_link link(stitching());
    link.push(s.make(sample::line));  // 5 response flits
    link.push(s.make(sample::page_table));
    link.credits.left = {0, 5};
    auto u = link.next();
    REQUIRE(u);
    CHECK(names(*u) == strings{"0"});  // no credit for the request, which would fit
    CHECK(link.credits.left[1] == 0);
    CHECK(link.credits.calls == 1);
    CHECK_FALSE(link.next());
    // An end needs credits for all of its packet before it rides: 4 for the head, 5 for the other.
    for (const unsigned left : {8u, 9u}) {
        stitching_link two(stitching());
        two.push(s.make(sample::line));
        two.push(s.make(sample::three_sectors));
        two.credits.left = {0, left};
        u = two.next();
        REQUIRE(u);
        CHECK(u->parts.size() == (left == 9 ? 2 : 1));
        if (left < 9) continue;
        CHECK(u->parts[1].what == part_kind::tail);
        CHECK(two.credits.left[1] == 0);
        u = two.next();  // the rest needs none
        REQUIRE(u);
        CHECK(u->parts[0].what == part_kind::body);
        CHECK(u->flits == 4);
    }
}

TEST_CASE("what holds credits for all of its packet goes on, even if others lack some") {
    sampler s;
    stitching_link link(sequenced(sequencing_mode::page_tables, true));
    link.push(s.make(sample::line));
    link.push(s.make(sample::three_sectors));
    link.credits.left = {0, 9};
    REQUIRE(link.next()->parts.size() == 2);
    link.push(s.make(sample::page_table_entry));  // goes first, but there are no credits
    const auto u = link.next();
    REQUIRE(u);
    CHECK(u->parts[0].what == part_kind::body);
    CHECK_FALSE(link.next());
    link.credits.left[1] = 1;
    CHECK(link.next());
}

TEST_CASE("small packets do not starve a large one of credits") {
    sampler s;
    stitching_link link(stitching());
    link.push(s.make(sample::line));
    link.push(s.make(sample::written));
    unsigned passed = 0;
    link.credits.left = {0, 1};
    for (unsigned i = 0; i < 20; ++i) {
        auto u = link.next();
        if (u && u->parts[0].flits == 5) break;
        if (u) {
            passed += static_cast<unsigned>(u->parts.size());
            if (link.sender.queue.packets() < 3) link.push(s.make(sample::written));
        }
        link.credits.left[1] += 1;  // one comes back at a time
    }
    CHECK(link.sender.queue.filled(0) != 0);
    CHECK(passed <= 2);
}

TEST_CASE("queues of a channel, and channels, take turns") {
    sampler s;
    stitching_link link(sequenced(sequencing_mode::none));
    (void)link;
    auto p = stitching();
    stitching_link turns(p);
    for (unsigned i = 0; i < 4; ++i) {
        turns.push(s.make(sample::write));
        turns.push(s.make(sample::read));
        turns.push(s.make(sample::line));
    }
    std::map<unsigned, unsigned> first_six;
    for (unsigned i = 0; i < 4; ++i) {
        auto u = turns.next();
        ++first_six[static_cast<unsigned>(u->parts[0].record->channel())];
    }
    CHECK(first_six[0] == 2);
    CHECK(first_six[1] == 2);
}

TEST_CASE("the window is one timer a queue, from when its head is offered and finds no candidate") {
    sampler s;
    stitching_link link(from_head(with(pooling_mode::plain)), {}, 32);
    link.push(s.make(sample::read), 100);  // 4 bytes free
    link.push(s.make(sample::read), 110);
    CHECK_FALSE(link.next(150));  // the link was taken until now
    CHECK(link.sender.wake() == 182);
    CHECK_FALSE(link.next(160));
    CHECK(link.sender.wake() == 182);  // the timer goes on
    auto u = link.next(182);
    REQUIRE(u);
    CHECK(u->parts.size() == 1);
    CHECK(link.sender.pooled().time == 32);
    // The next one has the queue's timer anew, however long it has been there.
    CHECK_FALSE(link.next(187));
    CHECK(link.sender.wake() == 219);
    link.push(s.make(sample::written), 200);
    u = link.next(200);
    REQUIRE(u);
    CHECK(u->parts.size() == 2);
    CHECK(link.sender.queue.packets() == 0);
    // What leaves as a rider clears the timer of its queue.
    link.push(s.make(sample::page_table), 300);
    CHECK_FALSE(link.next(300));
    CHECK(link.sender.wake() == 332);
    link.push(s.make(sample::line), 320);
    link.push(s.make(sample::page_table), 320);
    u = link.next(320);
    REQUIRE(u);
    CHECK(u->parts.size() == 2);
    CHECK_FALSE(link.next(325));
    CHECK(link.sender.wake() == 357);
}

TEST_CASE("as the slides' loop reads, a head that has begun to wait waits to the end of its window") {
    sampler s;
    auto p = from_head(with(pooling_mode::plain));
    p.whole_window = true;
    stitching_link link(p, {}, 32);
    link.push(s.make(sample::line), 0);
    CHECK_FALSE(link.next(10));
    link.push(s.make(sample::page_table), 20);
    CHECK_FALSE(link.next(20));  // the request is offered, too, and has a window of its own
    CHECK(link.sender.wake() == 42);
    CHECK(link.next(42)->parts.size() == 2);
    // A candidate that is there as the head is offered rides at once: no timer is started.
    stitching_link at_once(p, {}, 32);
    at_once.push(s.make(sample::line), 0);
    at_once.push(s.make(sample::written), 0);
    const auto u = at_once.next(0);
    REQUIRE(u);
    CHECK(u->parts.size() == 2);
}

TEST_CASE("with window_from: arrival, pooling waits one window from the arrival, and ends when a rider comes") {
    sampler s;
    stitching_link link(with(pooling_mode::plain), {}, 32);
    link.push(s.make(sample::line), 100);
    CHECK_FALSE(link.next(100));
    CHECK(link.sender.wake() == 132);
    CHECK_FALSE(link.next(131));
    auto u = link.next(132);
    REQUIRE(u);
    CHECK(u->parts.size() == 1);
    CHECK(link.sender.pooled().waited == 1);
    CHECK(link.sender.pooled().found == 0);
    CHECK(link.sender.pooled().time == 32);
    // A rider comes, from the other channel, whose turn is first; neither waits any longer. Both left with another.
    link.push(s.make(sample::line), 200);
    CHECK_FALSE(link.next(200));
    link.push(s.make(sample::page_table), 210);
    u = link.next(210);
    REQUIRE(u);
    CHECK(u->parts.size() == 2);
    CHECK(link.sender.pooled().found == 2);
    CHECK(link.sender.pooled().time == 42);
    // What the lanes let wait has waited already.
    link.push(s.make(sample::line), 300);
    CHECK(link.next(400));
    // A packet that waits does not hold up other queues.
    link.push(s.make(sample::line), 500);
    link.push(s.make(sample::two_sectors), 460);
    u = link.next(500);
    REQUIRE(u);
    CHECK(u->parts[0].bytes == 36);
    CHECK(u->parts[1].what == part_kind::tail);  // 4 bytes under a sub-header of 4
}

TEST_CASE("the whole window from the arrival") {
    sampler s;
    auto p = with(pooling_mode::plain);
    p.whole_window = true;
    stitching_link link(p, {}, 32);
    link.push(s.make(sample::line), 200);
    link.push(s.make(sample::page_table), 210);
    CHECK_FALSE(link.next(215));
    CHECK(link.sender.wake() == 232);
    CHECK(link.next(232)->parts.size() == 2);
}

TEST_CASE("selective pooling lets page-table packets go") {
    sampler s;
    stitching_link plain(with(pooling_mode::plain), {}, 32), selective(with(pooling_mode::selective), {}, 32);
    plain.push(s.make(sample::page_table), 0);
    selective.push(s.make(sample::page_table), 0);
    CHECK_FALSE(plain.next(0));
    CHECK(selective.next(0));
    selective.push(s.make(sample::read), 0);
    CHECK_FALSE(selective.next(0));
}

TEST_CASE("page-table packets first, and the control: as many data packets first") {
    sampler s;
    const auto order = [&](sequencing_mode m) {
        stitching_link link(sequenced(m));
        for (const auto k :
             {sample::read, sample::read, sample::page_table, sample::read, sample::page_table, sample::write})
            link.push(s.make(k));
        const auto base = s.tag - 6;
        std::string tags;
        while (auto u = link.next()) {
            tags += std::to_string(u->parts[0].record->tag - base);
            link.take(*u);
        }
        return tags;
    };
    CHECK(order(sequencing_mode::none) == "012345");
    CHECK(order(sequencing_mode::page_tables) == "240135");
    CHECK(order(sequencing_mode::read_critical) == "012345");  // no load waits for these walks
    CHECK(order(sequencing_mode::data) == "350124");           // 3 for the first page-table packet, 5 for the second
    // Without stitching, nothing rides.
    stitching_link link(sequenced(sequencing_mode::page_tables));
    link.push(s.make(sample::line));
    link.push(s.make(sample::page_table));
    CHECK(link.next()->parts.size() == 1);
}

TEST_CASE("page-table packets of walks on the read critical path first, requests and responses") {
    sampler s;
    const auto order = [&](sequencing_mode m) {
        stitching_link link(sequenced(m));
        const auto base = s.tag;
        for (const auto k : {sample::read, sample::page_table, sample::critical_page_table, sample::write}) {
            link.push(s.make(k));
            link.credits.left[1] = 0;
        }
        std::string tags;
        while (auto u = link.next()) tags += std::to_string(u->parts[0].record->tag - base);
        link.credits.left = {0, 100};
        const auto responses = s.tag;
        for (const auto k : {sample::line, sample::page_table_entry, sample::critical_page_table_entry})
            link.push(s.make(k));
        while (auto u = link.next()) tags += std::to_string(u->parts[0].record->tag - responses);
        return tags;
    };
    CHECK(order(sequencing_mode::none) == "0123012");
    CHECK(order(sequencing_mode::page_tables) == "1203120");
    CHECK(order(sequencing_mode::read_critical) == "2013201");
    // Those that do not go first wait as the pooling mode says: selective pooling lets them go.
    auto p = sequenced(sequencing_mode::read_critical, true);
    p.pooling = pooling_mode::plain;
    stitching_link link(p, {}, 32);
    link.push(s.make(sample::page_table), 0);
    CHECK_FALSE(link.next(0));
    link.push(s.make(sample::critical_page_table), 0);
    CHECK(link.next(0));
}

TEST_CASE("the memory is shared, but each channel of each cluster keeps room for a largest packet") {
    sampler s;
    packet_format f;
    cluster_queue q(f, 30, true, false);
    q.add_destination();
    q.add_destination();
    CHECK(q.min_entries(2) == 20);
    const auto add = [&](unsigned cluster, sample k) {
        const auto p = s.make(k);
        if (!q.has_room(cluster, p->channel(), p->flits)) return false;
        q.push(cluster, q.queue_for(*p, false), p, 0);
        return true;
    };
    CHECK(add(0, sample::write));
    CHECK(add(0, sample::write));
    CHECK(add(0, sample::write));  // five of its own, ten shared
    CHECK_FALSE(add(0, sample::write));
    CHECK_FALSE(add(0, sample::read));
    CHECK(add(0, sample::line));
    CHECK_FALSE(add(0, sample::written));
    CHECK(add(1, sample::write));
    CHECK(add(1, sample::line));
    CHECK_FALSE(add(1, sample::read));
    CHECK(q.flits() == 30);
    CHECK(q.packets() == 6);
    const auto queue = q.queue_for(*s.make(sample::write), false);
    q.pop(0, queue);
    CHECK(add(1, sample::read));
    CHECK(add(1, sample::read));
    CHECK(q.flits() == 27);
    q.clear();
    CHECK(q.flits() == 0);
    CHECK(add(1, sample::write));
}

TEST_CASE("requests that fill the memory leave responses a quarter of it") {
    sampler s;
    packet_format f;
    cluster_queue q(f, 1024, true, false);
    q.add_destination();
    const auto fill = [&](sample k) {
        unsigned flits = 0;
        for (auto p = s.make(k); q.has_room(0, p->channel(), p->flits); p = s.make(k)) {
            q.push(0, q.queue_for(*p, false), p, 0);
            flits += p->flits;
        }
        return flits;
    };
    CHECK(fill(sample::read) == 768);
    CHECK(fill(sample::line) == 255);
    CHECK(q.flits() == 1023);
}

TEST_CASE("with reserved: packet, requests leave a channel of responses room for one largest packet") {
    sampler s;
    packet_format f;
    auto p = with(pooling_mode::plain);
    p.reserved = queue_reserve::packet;
    stitching_link link(p, f, 32);
    const auto room = [&](sample k) {
        const auto one = s.make(k);
        return link.sender.queue.has_room(0, one->channel(), one->flits);
    };
    unsigned requests = 0;
    for (; room(sample::write); requests += 5) link.push(s.make(sample::write));
    CHECK(requests == 1015);
    for (; room(sample::read); ++requests) link.push(s.make(sample::read));
    CHECK(requests == 1019);
    CHECK(room(sample::line));
    link.push(s.make(sample::line));
    CHECK_FALSE(room(sample::written));
    // However full of requests, even of some that have no credits, it lets responses through, one after the other.
    link.credits.left[0] = 0;
    for (ticks now = 0; now < 100; now += 40) {
        CHECK_FALSE(link.next(now));
        const auto u = link.next(now + 32);
        REQUIRE(u);
        CHECK(u->parts[0].record->type == packet_class::read_response);
        REQUIRE(room(sample::line));
        link.push(s.make(sample::line), now + 32);
    }
    // Registers keep it.
    link.credits.left[0] = 2000;
    for (ticks now = 1000; link.sender.queue.packets(); now += 32) link.next(now);
    p.pooling = pooling_mode::none;
    link.sender.set(p);
    for (requests = 0; room(sample::read); ++requests) link.push(s.make(sample::read));
    CHECK(requests == 1019);
}

TEST_CASE("what is put back is the first of its queue again") {
    sampler s;
    packet_format f;
    cluster_queue q(f, 1024, true, false);
    q.add_destination();
    const auto first = s.make(sample::read), second = s.make(sample::read);
    const auto queue = q.queue_for(*first, false);
    for (const auto& p : {first, second}) q.push(0, queue, p, 0);
    auto e = q.pop(0, queue);
    CHECK(e.packet == first);
    q.put_back(0, queue, std::move(e));
    CHECK(q.packets() == 2);
    CHECK(q.pop(0, queue).packet == first);
    CHECK(q.pop(0, queue).packet == second);
}

TEST_CASE("a dead link gives up what waits, whole") {
    sampler s;
    stitching_link link(stitching());
    link.push(s.make(sample::line));
    link.push(s.make(sample::three_sectors));
    link.push(s.make(sample::read));
    const auto first = link.next();
    REQUIRE(first);  // the request
    const auto second = link.next();
    REQUIRE(second->parts.size() == 2);
    CHECK(link.sender.identifiers.held() == 1);
    const auto left = link.sender.drain();
    REQUIRE(left);
    CHECK(left->bytes == 68);  // whose end has gone
    CHECK(left->flits == 5);
    CHECK_FALSE(link.sender.drain());
    CHECK(link.sender.queue.flits() == 0);
    CHECK(link.sender.identifiers.held() == 0);
}

TEST_CASE("a storm with scarce credits: nothing vanishes, nothing comes twice, flits saved are the sum by mechanism") {
    for (const unsigned flit : {8u, 16u, 32u})
        for (const unsigned width : {2u, 4u})
            for (const auto mode : {pooling_mode::none, pooling_mode::plain, pooling_mode::selective})
                for (const auto first : {sequencing_mode::none, sequencing_mode::page_tables,
                                         sequencing_mode::read_critical, sequencing_mode::data}) {
                    INFO(flit << " " << width << " " << static_cast<int>(mode) << " " << static_cast<int>(first));
                    packet_format f;
                    f.flit = {flit};
                    auto p = stitching();
                    p.sub_header = {width};
                    p.pooling = mode;
                    p.sequencing = first;
                    p.entries = 200;
                    // Every other mode, so that each is met with each.
                    const bool other = (static_cast<int>(mode) + static_cast<int>(first)) % 2;
                    p.window_from = other ? window_start::head : window_start::arrival;
                    p.reserved = (width == 2) == other ? queue_reserve::half : queue_reserve::packet;
                    sampler s(f);
                    stitching_link link(p, f, 50, 3);
                    const auto longest = f.flits(76);
                    link.credits.left = {longest, longest};
                    std::mt19937_64 random{flit + width};
                    std::map<std::uint32_t, contents> sent;
                    std::vector<wire_unit*> in_flight;
                    std::vector<netcrafter::wire_unit_ptr> flying;
                    std::uint64_t unstitched = 0, wire = 0, complete = 0, ends = 0;
                    std::map<std::uint32_t, unsigned> heard;
                    ticks now = 0;
                    unsigned left = 600, idle = 0;
                    while (left || link.sender.queue.packets() || !flying.empty()) {
                        now += random() % 20;
                        for (unsigned i = 0; i < 3 && left; ++i) {
                            const auto one =
                                s.make(static_cast<sample>(random() % samples), static_cast<unsigned>(random() % 60));
                            const auto cluster = static_cast<unsigned>(random() % 3);
                            if (!link.sender.queue.has_room(cluster, one->channel(), one->flits)) break;
                            sent.emplace(one->tag, contents_of(*one));
                            unstitched += one->flits;
                            link.push(one, now, cluster);
                            --left;
                        }
                        if (auto u = link.next(now)) {
                            wire += u->flits;
                            for (std::size_t i = 1; i < u->parts.size(); ++i)
                                ++(u->parts[i].what == part_kind::tail ? ends : complete);
                            flying.push_back(u);
                            idle = 0;
                        } else {
                            REQUIRE(++idle < 200);
                        }
                        if (!flying.empty() && random() % 3) {
                            for (auto& q : link.take(*flying.front())) {
                                ++heard[q->tag];
                                CHECK(contents_of(*q) == sent.at(q->tag));
                            }
                            flying.erase(flying.begin());
                        }
                    }
                    CHECK(sent.size() == 600);
                    CHECK(heard.size() == 600);
                    for (const auto& [tag, times] : heard) CHECK(times == 1);
                    CHECK(link.receiver.waiting() == 0);
                    CHECK(link.sender.identifiers.held() == 0);
                    CHECK(link.credits.left == std::array<unsigned, virtual_channels>{longest, longest, 0, 0});
                    CHECK(unstitched - wire == complete + ends);
                    CHECK(complete > 0);
                }
}
