// SPDX-License-Identifier: Apache-2.0
// Parameters are described once. Every model takes one `struct x_params` whose describe() names each field with range
// and help; a visitor derives everything else from it (YAML reading, checking, printing, JSON schema, docs, Python):
//
//     struct uart_params {
//         frequency clock{3'686'400};
//         void describe(parameter_visitor& v) {
//             v.field("clock", clock, between{1e3, 1e9}, "input clock of the baud-rate generator");
//         }
//     };
//
// A default-constructed struct holds the defaults.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"

namespace fabricvp {

/// A text parameter that must be one of a fixed list. Enumerations use it through choice_traits.
template <class Enum>
struct choice_traits;  // specialise with: static constexpr std::pair<Enum, const char*> names[] = {...};

enum class parameter_kind {
    boolean,
    integer,
    real,
    text,
    choice,
    text_list,
    duration,
    frequency,
    byte_size,
    bandwidth,
    cycles
};

/// One described field of one parameter struct, bound to a live value.
class parameter {
public:
    using reference = std::variant<bool*, std::uint64_t*, double*, std::string*, std::vector<std::string>*, duration*,
                                   frequency*, byte_size*, bandwidth*, cycles*>;

    parameter(const char* name, const char* help, parameter_kind kind, reference value)
        : name(name), help(help), kind(kind), value(value) {}

    const char* name;
    const char* help;
    parameter_kind kind;
    reference value;
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    std::vector<std::string> choices;  ///< allowed texts of a choice

    /// Canonical text of the current value, with unit ("3.6864 MHz"); parse(text()) gives the same value.
    std::string text() const;
    /// Text with unit of a number in this parameter's base unit (for ranges).
    std::string text_of(double base_units) const;
    /// Reads a value. \throws std::invalid_argument with one line that says what is allowed.
    void parse(std::string_view text);
    void parse_list(const std::vector<std::string>& items);
    /// Allowed values in words ("1 … 4096", "one of a, b", "a time such as 100 ns").
    std::string allowed() const;
    /// The value as a number in base units (picoseconds, hertz, bytes, bytes/s, cycles), for numeric kinds.
    std::optional<double> number() const;
};

/// Inclusive range of a numeric parameter, in its base unit (picoseconds, hertz, bytes, bytes a second, cycles).
struct between {
    double low;
    double high;
};

/// A key that is kept as it was written, because what it means depends on the values of other keys.
struct unparsed_value {
    std::string key, text;
    std::string origin;  ///< "machine.yaml:12" where it comes from a file
};

class parameter_visitor {
public:
    virtual ~parameter_visitor() = default;

    template <class T>
    void field(const char* name, T& value, const char* help) {
        parameter p = make(name, value, help);
        visit(p);
    }
    template <class T>
    void field(const char* name, T& value, between limits, const char* help) {
        parameter p = make(name, value, help);
        p.minimum = limits.low;
        p.maximum = limits.high;
        visit(p);
    }
    /// An enumeration with choice_traits.
    template <class Enum>
    void choice(const char* name, Enum& value, const char* help) {
        std::string text;
        std::vector<std::string> allowed;
        for (const auto& [e, n] : choice_traits<Enum>::names) {
            allowed.emplace_back(n);
            if (e == value) text = n;
        }
        choice(name, text, std::move(allowed), help);
        for (const auto& [e, n] : choice_traits<Enum>::names)
            if (text == n) value = e;
    }
    void choice(const char* name, std::string& value, std::vector<std::string> allowed, const char* help) {
        parameter p = make(name, value, help);
        p.kind = parameter_kind::choice;
        p.choices = std::move(allowed);
        visit(p);
    }
    /// A nested struct.
    template <class Params>
    void group(const char* name, Params& params, const char* help) {
        if (!enter(name, help)) return;
        params.describe(*this);
        leave();
    }
    /// A sequence of structs.
    template <class Params>
    void list(const char* name, std::vector<Params>& items, const char* help) {
        items.resize(enter_list(name, help, items.size()));
        for (std::size_t i = 0; i < items.size(); ++i) {
            enter_item(i);
            items[i].describe(*this);
            leave();
        }
        if (items.empty() && wants_prototypes()) {
            Params prototype{};
            enter_item(0);
            prototype.describe(*this);
            leave();
        }
        leave_list();
    }
    /// The keys beside those described before, of a struct in which they depend on the values of the others.
    virtual void rest(std::vector<unparsed_value>&, const char*) {}
    /// Where a key of the present struct was written ("machine.yaml:12"), or the struct itself for an empty name; empty
    /// where nothing is read.
    virtual std::string origin_of(const char*) { return {}; }

    // Lists of blocks (described_blocks.h) and keys that choose a kind (kinds.h), for visitors that treat these apart.
    /// The list that comes next has blocks for items. \param prefix of the names of items without one, before their
    /// numbers; null: all need a name \param names as far as they are known
    virtual void expect_blocks(const char* prefix, const std::vector<std::string>& names) {}
    /// Whether parameters of all kinds are to be shown where another key chooses one (schemas, reference pages).
    virtual bool wants_kinds() const { return false; }
    virtual void enter_kind(const char*, const char*) {}
    virtual void leave_kind() {}

protected:
    virtual void visit(parameter& p) = 0;
    /// \returns false to skip the group.
    virtual bool enter(const char* name, const char* help) = 0;
    virtual void leave() = 0;
    /// \returns how many items the list shall have.
    virtual std::size_t enter_list(const char* name, const char* help, std::size_t size) = 0;
    virtual void enter_item(std::size_t index) = 0;
    virtual void leave_list() = 0;
    /// Schemas and reference pages want to see the fields of empty lists too.
    virtual bool wants_prototypes() const { return false; }

private:
    static parameter make(const char* n, bool& v, const char* h) { return {n, h, parameter_kind::boolean, &v}; }
    static parameter make(const char* n, std::uint64_t& v, const char* h) {
        return {n, h, parameter_kind::integer, &v};
    }
    static parameter make(const char* n, double& v, const char* h) { return {n, h, parameter_kind::real, &v}; }
    static parameter make(const char* n, std::string& v, const char* h) { return {n, h, parameter_kind::text, &v}; }
    static parameter make(const char* n, std::vector<std::string>& v, const char* h) {
        return {n, h, parameter_kind::text_list, &v};
    }
    static parameter make(const char* n, duration& v, const char* h) { return {n, h, parameter_kind::duration, &v}; }
    static parameter make(const char* n, frequency& v, const char* h) { return {n, h, parameter_kind::frequency, &v}; }
    static parameter make(const char* n, byte_size& v, const char* h) { return {n, h, parameter_kind::byte_size, &v}; }
    static parameter make(const char* n, bandwidth& v, const char* h) { return {n, h, parameter_kind::bandwidth, &v}; }
    static parameter make(const char* n, cycles& v, const char* h) { return {n, h, parameter_kind::cycles, &v}; }
};

}  // namespace fabricvp
