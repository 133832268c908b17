// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/trace_format.h"

namespace fabricvp::trace {
namespace {

std::string escaped(std::string_view text) {
    std::string s;
    for (const char c : text) {
        if (c == '"' || c == '\\') s += '\\';
        if (static_cast<unsigned char>(c) < 0x20)
            s += fmt::format("\\u{:04x}", c);
        else
            s += c;
    }
    return s;
}

/// Microseconds, which the format counts in, without rounding.
std::string microseconds(ticks t) { return fmt::format("{}.{:06}", t / 1'000'000, t % 1'000'000); }

class json : public format {
public:
    std::string head() const override {
        return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\","
               "\"args\":{\"name\":\"simulation\"}}";
    }

    std::string track(unsigned number, std::string_view name) override {
        return next(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})", number,
                    escaped(name));
    }

    std::string slice(unsigned track, std::string_view name, ticks begin, ticks end, const access* of) override {
        const auto arguments =
            of ? fmt::format(R"(,"args":{{"access":{},"address":"{:#x}"}})", of->number, of->address) : std::string();
        return next(R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":"{}"{}}})", track, microseconds(begin),
                    microseconds(end - begin), escaped(name), arguments);
    }

    std::string instant(unsigned track, std::string_view name, ticks at) override {
        return next(R"({{"ph":"i","s":"{}","pid":1,"tid":{},"ts":{},"name":"{}"}})", track ? "t" : "g", track,
                    microseconds(at), escaped(name));
    }

    std::string counter(std::string_view name, ticks at, double value) override {
        return next(R"({{"ph":"C","pid":1,"ts":{},"name":"{}","args":{{"value":{}}}}})", microseconds(at),
                    escaped(name), value);
    }

    std::string arrow(unsigned track, std::string_view name, ticks at, std::uint64_t number, char phase) override {
        return next(R"({{"ph":"{}","bp":"e","cat":"flow","id":{},"pid":1,"tid":{},"ts":{},"name":"{}"}})", phase,
                    number, track, microseconds(at), escaped(name));
    }

    std::string tail() const override { return "\n]}\n"; }

private:
    template <class... Values>
    static std::string next(fmt::format_string<Values...> text, Values&&... values) {
        return ",\n" + fmt::format(text, std::forward<Values>(values)...);
    }
};

}  // namespace

std::unique_ptr<format> json_format() { return std::make_unique<json>(); }

}  // namespace fabricvp::trace
