// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/trace.h"
#include "results_bench.h"

using namespace fabricvp;

namespace {

struct recorder {
    recorder() {
        const auto number = std::to_string(getpid());
        file.path = "trace_test." + number + ".json";
        old = set_log_sink([this](log_level level, const std::string& source, const std::string& message) {
            CHECK(level == log_level::warning);
            CHECK(source == "trace");
            warnings.push_back(message);
        });
    }
    ~recorder() {
        trace::stop();
        set_log_sink(old);
        std::remove(file.path.c_str());
    }
    nlohmann::json read() const {
        std::ifstream in(file.path);
        return nlohmann::json::parse(std::string(std::istreambuf_iterator<char>(in), {})).at("traceEvents");
    }
    /// Events of a phase, as "track name ts dur".
    std::vector<std::string> events(const std::string& phase) const {
        const auto all = read();
        std::map<int, std::string> tracks;
        std::vector<std::string> found;
        for (const auto& e : all)
            if (e["name"] == "thread_name") tracks[e["tid"]] = e["args"]["name"];
        for (const auto& e : all) {
            if (e["ph"] != phase) continue;
            std::string text = (e.contains("tid") ? tracks[e["tid"]] + ' ' : "") + e["name"].get<std::string>();
            text += ' ' + e["ts"].dump();
            if (e.contains("dur")) text += ' ' + e["dur"].dump();
            if (e.contains("args"))
                for (const auto& argument : e["args"]) text += ' ' + argument.dump();
            found.push_back(text);
        }
        return found;
    }
    trace::options file;
    std::vector<std::string> warnings;
    log_sink old;
};

}  // namespace

TEST_CASE_METHOD(recorder, "slices, instants and counters stand on tracks named by hierarchical name") {
    auto& top = results_bench();
    trace::slice(top.left, "before the trace", 0, 1);
    trace::start(file);
    CHECK(trace::on());
    trace::slice(top.left, "walk", 1'500'000, 2'000'001);
    trace::slice(top.left, "overlapping \"walk\"", 1'900'000, 3'000'000);
    trace::slice(top.left, "next", 2'000'001, 3'000'000, trace::access{7, 0x1000});
    trace::instant(top.left2, "interrupt", 5);
    trace::counter(top.left2, "depth", 7'000'000, 3.5);
    const auto s = trace::stop();
    CHECK(s.events == 5);
    CHECK_FALSE(s.capped);
    CHECK(s.warning.empty());
    CHECK(warnings.empty());
    CHECK_FALSE(trace::on());
    CHECK(events("X") == std::vector<std::string>{"top.left walk 1.5 0.500001",
                                                  "top.left #2 overlapping \"walk\" 1.9 1.1",
                                                  R"(top.left next 2.000001 0.999999 7 "0x1000")"});
    CHECK(events("i") == std::vector<std::string>{"top.left2 interrupt 5e-06"});
    CHECK(events("C") == std::vector<std::string>{"top.left2.depth 7.0 3.5"});
    std::ifstream in(file.path, std::ios::ate);
    CHECK(static_cast<std::uint64_t>(in.tellg()) == s.bytes);
}

TEST_CASE_METHOD(recorder, "a window clips, a filter selects") {
    auto& top = results_bench();
    file.from = 10'000'000;
    file.to = 20'000'000;
    file.filter = "*.nothing,top.left";
    trace::start(file);
    trace::slice(top.left, "early", 0, 10'000'000);
    trace::slice(top.left, "into", 5'000'000, 12'000'000);
    trace::slice(top.left, "out of", 18'000'000, 25'000'000);
    trace::slice(top.left, "late", 20'000'000, 21'000'000);
    trace::instant(top.left, "first", 10'000'000);
    trace::instant(top.left, "end", 20'000'000);
    trace::slice(top.left2, "other", 11'000'000, 12'000'000);
    CHECK(trace::stop().events == 3);
    CHECK(events("X") == std::vector<std::string>{"top.left into 10.0 2.0", "top.left out of 18.0 2.0"});
    CHECK(events("i") == std::vector<std::string>{"top.left first 10.0"});
}

TEST_CASE_METHOD(recorder, "a region is the window while any node has it open") {
    auto& top = results_bench();
    const auto &one = top.left, &other = top.left2;  // in the place of marker devices
    file.region = "fft";
    trace::start(file);
    trace::slice(top.left, "before", 1'000'000, 2'000'000);
    trace::region_begins(one, "warm up", 2'000'000);
    trace::slice(top.left, "of another region", 2'000'000, 3'000'000);
    trace::region_begins(one, "fft", 5'000'000);
    trace::slice(top.left, "into", 4'000'000, 6'000'000);
    trace::region_begins(other, "fft", 6'000'000);
    trace::region_ends(one, 7'000'000);
    trace::slice(top.left, "of the other node's", 7'000'000, 8'000'000);
    trace::region_ends(other, 9'000'000);
    trace::region_ends(other, 9'500'000);  // twice: a node that is reset
    trace::slice(top.left, "out of", 8'000'000, 10'000'000);
    trace::slice(top.left, "after", 10'000'000, 11'000'000);
    trace::region_begins(one, "fft", 20'000'000);
    trace::slice(top.left, "again", 20'000'000, 21'000'000);
    trace::region_begins(one, "other", 22'000'000);  // which ends the one before
    trace::slice(top.left, "late", 22'000'000, 23'000'000);
    CHECK(trace::stop().events == 4);
    CHECK(events("X") == std::vector<std::string>{"top.left into 5.0 1.0", "top.left of the other node's 7.0 1.0",
                                                  "top.left out of 8.0 1.0", "top.left again 20.0 1.0"});
}

TEST_CASE_METHOD(recorder, "the size is capped, with a marker and a warning") {
    auto& top = results_bench();
    file.max_bytes = 8192;
    trace::start(file);
    for (ticks t = 0; t < 1000; ++t) trace::slice(top.left, "walk", t * 1000, t * 1000 + 500);
    CHECK_FALSE(trace::on());
    const auto s = trace::stop();
    CHECK(s.capped);
    CHECK(s.bytes <= 8192);
    CHECK(s.bytes > 7000);
    CHECK(s.events == events("X").size());
    REQUIRE(events("i").size() == 1);
    CHECK(events("i")[0].find("trace ends here: size limit of 8192 bytes") != std::string::npos);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0] == "the trace " + file.path + " ended early at its size limit of 8192 bytes");
}

TEST_CASE_METHOD(recorder, "an empty trace says why") {
    auto& top = results_bench();
    const auto why = [&] {
        const auto s = trace::stop();
        CHECK(s.events == 0);
        REQUIRE(warnings.size() == 1);
        CHECK(warnings.back() == s.warning);
        warnings.clear();
        CHECK(read().size() == 1);
        return s.warning;
    };
    const std::string empty = "the trace is empty: ";
    trace::start(file);
    CHECK(why() == empty + "no model had anything to show while it was recorded");
    file.filter = "node7.*";
    trace::start(file);
    trace::slice(top.left2, "walk", 1, 2);
    trace::slice(top.left, "walk", 1, 2);
    CHECK(why() ==
          empty + "the filter 'node7.*' matches none of the 2 objects that had something to show, top.left for one");
    file.filter = "*";
    file.from = 1'000'000;
    file.to = 2'000'000;
    trace::start(file);
    trace::slice(top.left, "walk", 1, 2);
    CHECK(why() == empty + "1 events lie outside of its window, 1.000000 us to 2.000000 us");
    file.region = "fft";
    trace::start(file);
    trace::region_begins(top.left, "ftt", 1);
    trace::slice(top.left, "walk", 1, 2);
    CHECK(why() == empty + "no software began the region 'fft' while it was recorded");
    trace::start(file);
    trace::region_begins(top.left, "fft", 2);
    trace::slice(top.left, "walk", 1, 2);
    CHECK(why() == empty + "1 events lie outside of the region 'fft'");
}

TEST_CASE_METHOD(recorder, "a trace that cannot be started is refused") {
    trace::options o = file;
    o.from = o.to = 5;
    CHECK_THROWS_WITH(trace::start(o), "the window of the trace is empty");
    o = file;
    o.max_bytes = 100;
    CHECK_THROWS_WITH(trace::start(o), "the size limit of a trace is at least 4 KiB");
    o = file;
    o.path = "/nonexistent/trace.json";
    CHECK_THROWS_WITH(trace::start(o), "cannot write the trace /nonexistent/trace.json: No such file or directory");
    CHECK_FALSE(trace::on());
    trace::start(file);
    CHECK_THROWS_WITH(trace::start(file), "a trace is being recorded already");
    results_bench();
    trace::instant(results_bench().left, "x", 0);
}
