// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/results/results.h"
#include "temporary_folder.h"

using namespace fabricvp;
using Catch::Matchers::Contains;
using fabricvp::test::contents_of;
using fabricvp::test::temporary_folder;

TEST_CASE("numbers read back the same") {
    CHECK(number_text(0) == "0");
    CHECK(number_text(1e15) == "1000000000000000");
    CHECK(number_text(-3) == "-3");
    CHECK(number_text(0.1) == "0.1");
    CHECK(std::stod(number_text(1.0 / 3)) == 1.0 / 3);
    CHECK(number_text(std::nan("")) == "null");
    CHECK(number_text(INFINITY) == "null");
}

TEST_CASE("statistics survive their file") {
    temporary_folder folder;
    const statistics_snapshot values = {{"a.b", 1}, {"c\"d", 0.25}, {"sim.events", 12345678901.0}};
    folder.file("stats.json", statistics_json(values));
    CHECK(read_statistics(folder.path.string()) == values);
    CHECK(read_statistics((folder.path / "stats.json").string()) == values);
    CHECK_THAT(statistics_csv(values, notes_finder()),
               Contains("path,value,unit,help\n") &&
                   Contains("sim.events,12345678901,1,steps of the calendar with and without events\n") &&
                   Contains("\"c\"\"d\",0.25"));
}

TEST_CASE("notes are found of values of ranks, of verdicts and of the platform") {
    const notes_by_path foreign = {{"node1.gpu0.loads", {"1", "loads of another process"}}};
    const notes_finder find({&foreign});
    CHECK(find("node1.gpu0.loads").help == "loads of another process");
    CHECK(find("sim.time_s").unit == "s");
    CHECK(find("sim.rank3.windows").help == "windows of simulated time in which it took part");
    for (const char* path : {"app.ok", "node11.app.ok"}) CHECK(find(path).unit == "1");
    for (const char* path : {"nodes.app.ok", "gpu0.app.ok", "sim.other", "loads", ""}) {
        INFO(path);
        CHECK(find(path).help.empty());
    }
}

TEST_CASE("broken statistics are refused") {
    temporary_folder folder;
    for (const char* text : {"", "[1]", "{\"a\": \"b\"}", "{\"a\": 1", "{\"a\": {}}"}) {
        INFO(text);
        CHECK_THROWS_AS(read_statistics(folder.file("s.json", text)), input_error);
    }
    CHECK_THROWS_WITH(read_statistics(folder.path.string()), Contains("stats.json: no such file"));
}

TEST_CASE("files are written whole or not at all") {
    temporary_folder folder;
    const auto target = folder.path / "out";
    write_files(target.string(), {{"a", "1"}, {"b", "2"}});
    write_files(target.string(), {{"a", "3"}, {"b", "4"}});
    CHECK(contents_of(target / "a") == "3");
    CHECK(contents_of(target / "b") == "4");
    CHECK_THROWS_AS(write_files(target.string(), {{"a", "5"}, {"missing/c", "6"}}), input_error);
    CHECK(contents_of(target / "a") == "3");
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(target)) ++count;
    CHECK(count == 2);  // nothing temporary stays
    CHECK_THROWS_WITH(write_files((target / "a").string(), {{"x", ""}}), Contains("cannot make this folder"));
    CHECK_THROWS_WITH(read_file(target.string(), 100), Contains("is a folder"));
    CHECK_THROWS_WITH(read_file((target / "a").string(), 0), Contains("too large"));
    CHECK_THROWS_WITH(read_file("/dev/zero", 100), Contains("not a regular file"));
}

TEST_CASE("messages stay one printable line") {
    CHECK(std::string(input_error("a\nb\x1b[0m\x7f").what()) == "a\\x0ab\\x1b[0m\\x7f");
    CHECK(std::string(input_error("µ…").what()) == "µ…");
    CHECK(std::string(input_error("\xff\xc3").what()) == "\\xff\\xc3");
    CHECK(std::string(input_error("\xed\xa0\x80").what()) == "\\xed\\xa0\\x80");
    CHECK(std::string(input_error(std::string(100'000, 'x')).what()).size() < 2'100);
}
