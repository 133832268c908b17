// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/parameters.h"
#include "base/quantity.h"

using namespace fabricvp;

namespace fabricvp {
enum class paint { red, green };
template <>
struct choice_traits<paint> {
    static constexpr std::pair<paint, const char*> names[] = {{paint::red, "red"}, {paint::green, "green"}};
};
}  // namespace fabricvp

namespace {

std::string error_of(parameter p, const std::string& text) {
    try {
        p.parse(text);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "accepted";
}

template <class T>
struct field {
    explicit field(parameter_kind kind) : p("x", "help", kind, &value) {}
    T value{};
    parameter p;
};

}  // namespace

TEST_CASE("quantities are read exactly, with or without a blank") {
    const auto read = [](parameter_kind k, const char* text) { return parse_quantity(k, text); };
    using kind = parameter_kind;
    CHECK(read(kind::duration, "100 ns") == 100'000);
    CHECK(read(kind::duration, "100ns") == 100'000);
    CHECK(read(kind::duration, "  1.5us ") == 1'500'000);
    CHECK(read(kind::duration, "2 \u00b5s") == 2'000'000);
    CHECK(read(kind::duration, "0.001 ns") == 1);
    CHECK(read(kind::duration, "1.234567890123 s") == 1'234'567'890'123);
    CHECK(read(kind::duration, "0 ps") == 0);
    CHECK(read(kind::duration, "18446744073709551615 ps") == ~std::uint64_t{0});
    CHECK(read(kind::frequency, "1.5 GHz") == 1'500'000'000);
    CHECK(read(kind::frequency, "3.6864MHz") == 3'686'400);
    CHECK(read(kind::frequency, "1e9 Hz") == 1'000'000'000);
    CHECK(read(kind::frequency, "2.5e-3 GHz") == 2'500'000);
    CHECK(read(kind::byte_size, "4 MiB") == 4u << 20);
    CHECK(read(kind::byte_size, "64GiB") == std::uint64_t{64} << 30);
    CHECK(read(kind::byte_size, "0.5 KiB") == 512);
    CHECK(read(kind::byte_size, "4 MB") == 4'000'000);
    CHECK(read(kind::bandwidth, "16 GB/s") == 16'000'000'000);
    CHECK(read(kind::bandwidth, "100 Gbit/s") == 12'500'000'000);
    CHECK(read(kind::bandwidth, "1 MiB/s") == 1u << 20);
    CHECK(read(kind::cycles, "5000 cycles") == 5000);
    CHECK(read(kind::cycles, "1 cycle") == 1);
}

TEST_CASE("a wrong quantity gives one line that says what is allowed") {
    field<duration> t{parameter_kind::duration};
    CHECK(error_of(t.p, "100") == "'100' needs a unit: give a time such as 100 ns (units ps, ns, us, ms, s, \u00b5s)");
    CHECK(error_of(t.p, "0") == "'0' needs a unit: give a time such as 100 ns (units ps, ns, us, ms, s, \u00b5s)");
    CHECK(error_of(t.p, "100 parsec") ==
          "'100 parsec' has an unknown unit 'parsec': give a time such as 100 ns (units ps, ns, us, ms, s, \u00b5s)");
    CHECK(error_of(t.p, "soon") == "'soon' is not a time such as 100 ns (units ps, ns, us, ms, s, \u00b5s)");
    CHECK(error_of(t.p, "") == "'' is not a time such as 100 ns (units ps, ns, us, ms, s, \u00b5s)");
    CHECK(error_of(t.p, "-5 ns") == "'-5 ns' is not a time such as 100 ns (units ps, ns, us, ms, s, \u00b5s)");
    CHECK(error_of(t.p, "1.2.3 ns") ==
          "'1.2.3 ns' has an unknown unit '.3 ns': give a time such as 100 ns (units ps, ns, us, ms, s, \u00b5s)");
    CHECK(error_of(t.p, "0.5 ps") == "'0.5 ps' is not a whole number of picoseconds");
    CHECK(error_of(t.p, "1e30 s") == "'1e30 s' is too large");
    CHECK(error_of(t.p, "1234567890123456789012345678 ps") == "'1234567890123456789012345678 ps' has too many digits");
    CHECK(error_of(t.p, "18446744073709551616 ps") == "'18446744073709551616 ps' is too large");
    field<byte_size> s{parameter_kind::byte_size};
    CHECK(error_of(s.p, "4 MHz").find("'4 MHz' has an unknown unit 'MHz': give a size such as 4 MiB") == 0);
    field<cycles> n{parameter_kind::cycles};
    CHECK(error_of(n.p, "5000") ==
          "'5000' needs a unit: give a number of cycles such as 5000 cycles (units cycles, cycle)");
    CHECK(error_of(n.p, "0.5 cycles") == "'0.5 cycles' is not a whole number of cycles");
}

TEST_CASE("ranges are shown with units") {
    field<frequency> f{parameter_kind::frequency};
    f.p.minimum = 1e3;
    f.p.maximum = 1e9;
    CHECK(f.p.allowed() == "1 kHz … 1 GHz");
    CHECK(error_of(f.p, "5 Hz") == "5 Hz is out of range: give 1 kHz … 1 GHz");
    CHECK(error_of(f.p, "1.1 GHz") == "1.1 GHz is out of range: give 1 kHz … 1 GHz");
    f.p.parse("1 GHz");
    CHECK(f.value.hertz == 1'000'000'000);
    CHECK(f.p.number() == 1e9);
    field<std::uint64_t> n{parameter_kind::integer};
    n.p.minimum = 1;
    CHECK(error_of(n.p, "0") == "0 is out of range: give at least 1");
    n.p.maximum = 4096;
    CHECK(error_of(n.p, "4097") == "4097 is out of range: give 1 … 4096");
}

TEST_CASE("canonical texts read well") {
    using kind = parameter_kind;
    CHECK(quantity_text(kind::frequency, 3'686'400) == "3.6864 MHz");
    CHECK(quantity_text(kind::duration, 100'000) == "100 ns");
    CHECK(quantity_text(kind::duration, 1'500'000) == "1.5 us");
    CHECK(quantity_text(kind::duration, 0) == "0 ps");
    CHECK(quantity_text(kind::duration, 1'000'001) == "1.000001 us");
    CHECK(quantity_text(kind::byte_size, 4u << 20) == "4 MiB");
    CHECK(quantity_text(kind::byte_size, std::uint64_t{64} << 30) == "64 GiB");
    CHECK(quantity_text(kind::byte_size, 512) == "512 B");
    CHECK(quantity_text(kind::byte_size, 1536) == "1.5 KiB");
    CHECK(quantity_text(kind::bandwidth, 16'000'000'000) == "16 GB/s");
    CHECK(quantity_text(kind::cycles, 5000) == "5000 cycles");
}

TEST_CASE("every quantity survives text and back") {
    std::mt19937_64 random(3);
    const parameter_kind kinds[] = {parameter_kind::duration, parameter_kind::frequency, parameter_kind::byte_size,
                                    parameter_kind::bandwidth, parameter_kind::cycles};
    for (const auto kind : kinds) {
        std::vector<std::uint64_t> values{
            0, 1, 999, 1000, 1001, 1023, 1024, 1025, ~std::uint64_t{0}, ~std::uint64_t{0} - 1};
        for (int i = 0; i < 2000; ++i) {
            std::uint64_t v = random() >> random() % 64;
            for (auto zeros = random() % 12; zeros > 0 && v < ~std::uint64_t{0} / 10; --zeros)
                v *= random() % 2 ? 10 : 2;
            values.push_back(v);
        }
        for (const auto v : values) {
            const auto text = quantity_text(kind, v);
            if (parse_quantity(kind, text) != v) FAIL(v << " became " << text);
        }
    }
}

TEST_CASE("values without a unit") {
    field<bool> b{parameter_kind::boolean};
    b.p.parse("true");
    CHECK(b.value);
    CHECK(b.p.text() == "true");
    CHECK(error_of(b.p, "yes") == "'yes' is not true or false");

    field<std::uint64_t> n{parameter_kind::integer};
    n.p.parse("0x1f");
    CHECK(n.value == 31);
    CHECK(n.p.text() == "31");
    CHECK(error_of(n.p, "1.5") == "'1.5' is not a whole number");
    CHECK(error_of(n.p, "-1") == "'-1' is not a whole number");
    CHECK(error_of(n.p, "") == "'' is not a whole number");
    CHECK(error_of(n.p, "99999999999999999999") == "'99999999999999999999' is too large");

    field<double> x{parameter_kind::real};
    x.p.parse("0.1");
    CHECK(x.p.text() == "0.1");
    CHECK(error_of(x.p, "nan") == "'nan' is not a number");
    CHECK(error_of(x.p, "1x") == "'1x' is not a number");
    CHECK_FALSE(b.p.number());
}

TEST_CASE("lists of texts keep every item") {
    field<std::vector<std::string>> l{parameter_kind::text_list};
    l.p.parse("a, b c ,d");
    CHECK(l.value == std::vector<std::string>{"a", "b c", "d"});
    CHECK(l.p.text() == "[a, b c, d]");
    const std::vector<std::string> awkward{"", " x", "a,b", "[c]", "say \"hi\"", "back\\slash", "plain"};
    l.p.parse_list(awkward);
    const auto text = l.p.text();
    l.value.clear();
    l.p.parse(text);
    CHECK(l.value == awkward);
    l.p.parse("[]");
    CHECK(l.value.empty());
    CHECK(error_of(l.p, "\"a") == "a quoted item has no closing quote");
    field<bool> b{parameter_kind::boolean};
    CHECK_THROWS_WITH(b.p.parse_list({"a"}), "a list is given where one value is needed: give true or false");
}

namespace {

struct inner_params {
    duration delay{5000};
    void describe(parameter_visitor& v) { v.field("delay", delay, "a delay"); }
};
struct outer_params {
    std::uint64_t lanes = 4;
    paint colour = paint::red;
    inner_params inner;
    std::vector<inner_params> many;
    void describe(parameter_visitor& v) {
        v.field("lanes", lanes, between{1, 16}, "lanes");
        v.choice("colour", colour, "colour");
        v.group("inner", inner, "inner");
        v.list("many", many, "many");
    }
};

/// Writes every field as path=text, and sets those that are given.
struct lister : parameter_visitor {
    void visit(parameter& p) override {
        for (const auto& [key, text] : set)
            if (key == path + p.name) p.parse(text);
        seen += path + p.name + "=" + p.text() + "\n";
    }
    bool enter(const char* name, const char*) override {
        push(name);
        return true;
    }
    void leave() override {
        path = stack.back();
        stack.pop_back();
    }
    std::size_t enter_list(const char* name, const char*, std::size_t size) override {
        push(name);
        return list_size ? list_size : size;
    }
    void enter_item(std::size_t index) override { push(std::to_string(index)); }
    void leave_list() override { leave(); }
    bool wants_prototypes() const override { return prototypes; }
    void push(const std::string& name) {
        stack.push_back(path);
        path += name + ".";
    }

    std::vector<std::pair<std::string, std::string>> set;
    std::size_t list_size = 0;
    bool prototypes = false;
    std::string path, seen;
    std::vector<std::string> stack;
};

}  // namespace

TEST_CASE("a described struct is read and shown through one visitor") {
    outer_params p;
    lister l;
    l.list_size = 2;
    l.set = {{"lanes", "8"}, {"colour", "green"}, {"inner.delay", "7 ns"}, {"many.1.delay", "1 us"}};
    p.describe(l);
    CHECK(l.seen == "lanes=8\ncolour=green\ninner.delay=7 ns\nmany.0.delay=5 ns\nmany.1.delay=1 us\n");
    CHECK(p.lanes == 8);
    CHECK(p.colour == paint::green);
    CHECK(p.many.at(1).delay == 1'000'000);
    lister wrong;
    wrong.set = {{"colour", "blue"}};
    CHECK_THROWS_WITH(p.describe(wrong), "'blue' is not one of red, green");
    outer_params empty;
    lister schema;
    schema.prototypes = true;
    empty.describe(schema);
    CHECK(schema.seen == "lanes=4\ncolour=red\ninner.delay=5 ns\nmany.0.delay=5 ns\n");
    CHECK(empty.many.empty());
}
