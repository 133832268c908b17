// SPDX-License-Identifier: Apache-2.0
// Faults that can be injected are members of their model, as statistics are. A kind has a name, one line of help and
// described arguments, from which configuration files, Python and the reference get everything else:
//
//     struct bit_error_arguments {
//         double rate = 1e-6;
//         void describe(parameter_visitor& v) { v.field("rate", rate, between{0, 1e-3}, "chance that a bit arrives
//         wrong"); }
//     };
//     fault_kind<bit_error_arguments> bit_errors{*this, "bit_errors", "the link corrupts bits from now on",
//                                                [this](const auto& a) { channel.set_bit_error_rate(a.rate); }};
//
// The handler runs in a calendar callback, at the simulated time of the fault.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.h"
#include "base/statistics.h"

namespace fabricvp {

/// One fault to be: a kind with its arguments, which start at their defaults.
class fault_injection {
public:
    virtual ~fault_injection() = default;
    virtual void describe(parameter_visitor& v) = 0;
    /// Lets it happen now.
    virtual void apply() = 0;
};

/// A kind of fault of one model.
class fault {
public:
    fault(const sc_core::sc_object& owner, const char* kind, const char* help);
    virtual ~fault();
    fault(const fault&) = delete;
    fault& operator=(const fault&) = delete;

    const std::string& target() const { return m_target; }  ///< hierarchical name of the model
    const std::string& kind() const { return m_kind; }
    const std::string& help() const { return m_help; }

    /// Counts the times it has happened, as `<target>.faults.<kind>`.
    counter injected;

    virtual std::unique_ptr<fault_injection> order() = 0;

private:
    std::string m_target, m_kind, m_help;
};

/// Every kind of every model that exists, by target and kind in alphabetical order.
const std::vector<fault*>& all_faults();

struct no_fault_arguments {
    void describe(parameter_visitor&) {}
};

template <class Arguments = no_fault_arguments>
class fault_kind final : public fault {
public:
    using handler = std::function<void(const Arguments&)>;

    Arguments defaults;  ///< where no other ones are given

    fault_kind(const sc_core::sc_object& owner, const char* kind, const char* help, handler happen,
               Arguments defaults_ = {})
        : fault(owner, kind, help), defaults(std::move(defaults_)), m_happen(std::move(happen)) {}

    std::unique_ptr<fault_injection> order() override { return std::make_unique<pending>(*this); }

private:
    struct pending final : fault_injection {
        explicit pending(fault_kind& f) : of(f), arguments(f.defaults) {}
        void describe(parameter_visitor& v) override { arguments.describe(v); }
        void apply() override {
            ++of.injected;
            of.m_happen(arguments);
        }
        fault_kind& of;
        Arguments arguments;
    };
    handler m_happen;
};

}  // namespace fabricvp
