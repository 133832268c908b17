// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "platform/common/input_error.h"
#include "platform/console/console_script.h"

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

TEST_CASE("a prompt stands at the start of a line") {
    dialogue d("prompt \"=> \"\ncommand crc32\ncommand next\n");
    d.prints("crc32\r\nCRC32 for 80000000 ... 8000000f ==> ecbb4b55\r\n");
    CHECK(d.typed == "crc32\n");
    d.prints("=> ");
    CHECK(d.typed == "crc32\nnext\n");
    d.prints("next\r\n==> \r\n\x1b[01;32m\x1b[K==> ");  // colours do not start a line, and do not end its start
    CHECK_FALSE(d.script.done());
    d.prints("\r\n\x1b[01;32m\x1b[K=> ");
    CHECK(d.script.done());

    dialogue early("expect x\nprompt \"=> \"\ncommand a\n");
    early.prints("x==> y\n=> ");  // at once: the search in what came before agrees with the one by the byte
    CHECK(early.script.done());
    dialogue within("expect =\nprompt \"=> \"\ncommand a\n");
    within.prints("==> ");
    CHECK_FALSE(within.script.done());
}

TEST_CASE("patterns know lines and bytes") {
    dialogue lines("expect /^login: $/\n");
    lines.prints("last login: \n");
    CHECK_FALSE(lines.script.done());
    lines.prints("login: ");
    CHECK(lines.script.done());

    dialogue bytes("expect /\xe9.\\x80$/\n");
    bytes.prints("\xe9\xff\x80");
    CHECK(bytes.script.done());
}

TEST_CASE("a search takes linear time and a bounded stack, whatever the guest prints") {
    for (const char* pattern : {"/a.*x/", "/(a|b)*x/", "/[^q]*x/", "/(a+)+x/", "/(a|aa)+$x/", "/(.*)(.*)(.*)x/"}) {
        dialogue d(std::string("expect ") + pattern + "\n");
        for (int i = 0; i < 10; ++i) d.prints(std::string(30'000, 'a'));
        CHECK_FALSE(d.script.done());
        d.prints("x\n");
        CHECK(d.script.done() == (std::string(pattern) != "/(a|aa)+$x/"));
    }
}

TEST_CASE("texts are found however much stands before them") {
    dialogue d("expect one\nexpect two\nexpect three\n");
    d.prints(std::string(1'000'000, '.') + "on");
    d.prints("e" + std::string(1'000'000, '.') + "two");
    CHECK_THAT(d.script.current_line(), StartsWith("s.script:3: "));
    const std::string never_ending(1'000'000, 't');
    d.prints(never_ending);
    d.passes(10_s);
    CHECK(d.script.failure().size() < 300);
}

TEST_CASE("what RE2 lacks is told in one line") {
    CHECK_THAT(error_of("expect /a(?=b)/\n"),
               Contains("'a(?=b)' is no regular expression (invalid perl operator: '(?='"));
    CHECK_THAT(error_of("expect /(a)\\1/\n"), Contains("(invalid escape sequence: '\\1'"));
    CHECK_THAT(error_of("expect /[^]*x/\n"), Contains("(missing ]: '[^]*x')"));
    CHECK_THAT(error_of("expect /" + std::string(100'000, '(') + "/\n"), Contains("is no regular expression"));
    CHECK_THAT(error_of("expect /" + std::string(100'000, '[') + "/\n"), Contains("is no regular expression"));
    CHECK_THAT(error_of("expect /" + std::string(50'000, '(') + "a" + std::string(50'000, ')') + "/\n"),
               Contains("is no regular expression"));
    CHECK_THAT(error_of("expect /((a{100}){100}){100}/\n"), Contains("is no regular expression"));
    CHECK_THAT(error_of("expect /" + std::string(10'000, 'a') + "/\n"), Contains("(pattern too large)"));
    CHECK(error_of("expect /" + std::string(100'000, '(') + "/\n").size() < 300);
}

TEST_CASE("each line has its time") {
    dialogue d("timeout 5 ms\nexpect a\ntimeout 1 ms\nexpect b\n");
    CHECK(d.script.deadline() == 5_ms);
    d.passes(4_ms);
    d.prints("a");
    CHECK(d.script.deadline() == 5_ms);  // 1 ms from now
    d.prints("something else\n");
    d.passes(1_ms);
    CHECK(d.script.failure() ==
          "s.script:4: 'expect b': not seen within 0.001 s of simulated time; the console ends with 'something "
          "else\\x0a'");
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
