// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "platform/console/console_script.h"
#include "platform/platform.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// A script, with what it types and a guest that only prints.
struct dialogue {
    console_script script;
    std::string typed;
    ticks now = 0;

    explicit dialogue(const std::string& text) : script(text, "s.script") {
        script.type = [this](std::string_view t) { typed += t; };
        script.poll(now);
    }
    void prints(const std::string& text) {
        for (const char c : text) script.on_byte(c, now);
        script.poll(now);
    }
    void passes(ticks time) { script.poll(now += time); }
};

std::string error_of(const std::string& text) {
    try {
        console_script(text, "s.script");
    } catch (const input_error& e) {
        return e.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("a script types when it has seen what it waits for") {
    dialogue d(
        "# a boot\n\n  # more\nexpect Hit any key   # it counts down\ntype \" \"\nprompt \"=> \"\ncommand "
        "version\ntype \"\\x03\\t\\\"\\n\"\n");
    CHECK(d.typed.empty());
    d.prints("U-Boot\nHit any ke");
    CHECK(d.typed.empty());
    d.prints("y: 2");
    CHECK(d.typed == " version\n");
    CHECK_FALSE(d.script.done());
    d.prints("version\r\nU-Boot 2023\r\n=> ");
    CHECK(d.typed == " version\n\x03\t\"\n");
    CHECK(d.script.done());
    CHECK(d.script.failure().empty());
    CHECK_FALSE(d.script.finishes());
    CHECK(d.script.deadline() == never);
}

TEST_CASE("what a line has seen is not seen again, and what came early counts") {
    dialogue d("expect one\nexpect one\nexpect /t[aeiou]o/\nexpect two\nfinish\n");
    d.prints("one");
    CHECK_THAT(d.script.current_line(), StartsWith("s.script:2: "));
    d.prints(" and one too, two");
    CHECK(d.script.done());
    CHECK(d.script.finishes());

    dialogue early("timeout 1 ms\nexpect never seen\n");
    early.prints("first second");
    CHECK_FALSE(early.script.done());
}

TEST_CASE("comments end lines, but not texts in quotes") {
    dialogue d("timeout 5 ms # enough\nexpect \"/ # \" # the shell\ntype a#b\ntype \"\\\"# \" # quoted\n");
    CHECK(d.script.deadline() == 5_ms);
    d.prints("/ #");
    CHECK(d.typed.empty());
    d.prints(" ");
    CHECK(d.typed == "a#b\"# ");
}

TEST_CASE("patterns are regular expressions") {
    dialogue d("expect /U-Boot [0-9.]+ /\n");
    d.prints("U-Boot SPL U-Boot 2023.01");
    CHECK_FALSE(d.script.done());
    d.prints(" (");
    CHECK(d.script.done());
}

TEST_CASE("each line has its time") {
    dialogue d("timeout 5 ms\nexpect a\ntimeout 1 ms\nexpect b\n");
    CHECK(d.script.deadline() == 5_ms);
    d.passes(4_ms);
    d.prints("a");
    CHECK(d.script.deadline() == 5_ms);  // 1 ms from now
    d.prints("something else\n");
    d.passes(1_ms);
    CHECK(
        d.script.failure() ==
        "s.script:4: expect b: not seen within 0.001 s of simulated time; the console ends with 'something else\\x0a'");
    CHECK(d.script.deadline() == never);
    d.prints("b");
    CHECK_FALSE(d.script.done());
}

TEST_CASE("mistakes are told with file and line") {
    CHECK(error_of("") == "s.script: is an empty script");
    CHECK(error_of("expect a\n\nexspect b\n") ==
          "s.script:3: unknown word 'exspect', did you mean 'expect'? (allowed: expect, type, command, prompt, "
          "timeout, finish)");
    CHECK_THAT(error_of("command ls\n"), StartsWith("s.script:1: say before what the prompt is"));
    CHECK_THAT(error_of("timeout soon\n"), StartsWith("s.script:1: timeout: "));
    CHECK_THAT(error_of("timeout 0 s\n"), Contains("above 0"));
    CHECK_THAT(error_of("expect\n"), Contains("a text is missing"));
    CHECK_THAT(error_of("type \"\"\n"), Contains("the text is empty"));
    CHECK_THAT(error_of("type \"a\n"), Contains("closing quote is missing"));
    CHECK_THAT(error_of("type \"a\" b\n"), Contains("behind the closing quote"));
    CHECK_THAT(error_of("type \"\\q\"\n"), Contains("a backslash"));
    CHECK_THAT(error_of("type \"\\x1\"\n"), Contains("a backslash"));
    CHECK_THAT(error_of("expect /(/\n"), Contains("'(' is no regular expression"));
    CHECK_THAT(error_of("finish\ntype a\n"), StartsWith("s.script:2: nothing may stand behind 'finish'"));
}
