// SPDX-License-Identifier: Apache-2.0
// Kinds of stages by name. A configuration chooses one by the key `kind` of a `stage`: of a switch, for all its ports,
// of a device's port, or of a link. It is the stage of what is *sent* there: the egress stage stands at that end, the
// ingress stage at the other end of the link. What a new kind needs beside its own files is a call of
// add_stage_kind():
//
//     struct combine_settings : stage_settings_of<combine_settings> {
//         cycles window{16};
//         void describe(parameter_visitor& v) override { v.field("window", window, between{0, 1e6}, "…"); }
//     };
//     add_stage_kind(make_egress_kind<combine_settings, combiner>("combine", "writes for one line go together"));
//
// make_egress_kind() is for mechanisms of the sender alone, with combiner(name, settings, place) for a constructor.
// Others override make_egress() and make_ingress().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/kinds.h"
#include "base/rejection.h"
#include "fabric/port.h"
#include "fabric/stage.h"

namespace fabricvp::fabric {

/// Where a stage stands.
struct stage_place {
    packet_format format;
    ticks cycle = 1'000;                   ///< of the switch; 1 ns at a device
    bool crosses_clusters = false;         ///< the link goes between clusters
    std::uint64_t entries = 0;             ///< flits that an output of a switch holds; 0: as many as come
    std::uint64_t page_table_entries = 0;  ///< the same of page-table packets with channels of their own
};

/// The parameters of one stage, whatever its kind is.
class stage_settings {
public:
    virtual ~stage_settings() = default;
    virtual void describe(parameter_visitor& v) = 0;
    virtual std::unique_ptr<stage_settings> copy() const = 0;

    /// Whether it does anything, as it is set. If not, ports are plain.
    virtual bool enabled() const { return true; }
    /// The ports of a switch at which it stands; at a link's own it must.
    virtual bool fits(const stage_place&) const { return true; }
    /// The links that these are, in words ("link to another cluster").
    virtual const char* required_link() const { return "link"; }
    /// What is wrong with it among packets of that format, in words that begin with one of its keys; else empty.
    virtual std::string problem(const packet_format&) const { return {}; }

    /// What is wrong with that format for it, in words that begin with a key of `packet`; else empty.
    virtual std::string format_problem(const packet_format&) const { return {}; }

    /// Either may be null: then that end has none.
    virtual std::unique_ptr<egress_stage> make_egress(const char* /*name*/, const stage_place&) const {
        return nullptr;
    }
    virtual std::unique_ptr<ingress_stage> make_ingress(const char* /*name*/, const stage_place&) const {
        return nullptr;
    }

    /// For how long it may keep a packet although the link is free, and the key and value that say so; the watchdog
    /// must wait longer.
    struct hold {
        ticks time = 0;
        std::string reason;
    };
    virtual hold longest_hold(ticks /*cycle*/) const { return {}; }
    /// The key by which it changes what GPUs ask for, so that a recording would not be theirs; else null.
    virtual const char* changes_requests() const { return nullptr; }

    /// All kinds, in the order in which they were added; the first one is none.
    static std::vector<kind<stage_settings>>& kinds();
};

using stage_kind = kind<stage_settings>;
using chosen_stage = chosen_kind<stage_settings>;

/// \tparam Settings the class derived from this one
template <class Settings>
class stage_settings_of : public stage_settings {
public:
    std::unique_ptr<stage_settings> copy() const override {
        return std::make_unique<Settings>(static_cast<const Settings&>(*this));
    }
};

template <class Settings>
stage_kind make_stage_kind(const char* name, const char* help) {
    return {name, help, [] { return std::unique_ptr<stage_settings>(new Settings); }};
}

/// A kind that has an egress stage alone. \tparam Egress constructed of (name, settings, place)
template <class Settings, class Egress>
stage_kind make_egress_kind(const char* name, const char* help) {
    struct with_egress final : Settings {
        std::unique_ptr<stage_settings> copy() const override { return std::make_unique<with_egress>(*this); }
        std::unique_ptr<egress_stage> make_egress(const char* block, const stage_place& at) const override {
            return std::make_unique<Egress>(block, *this, at);
        }
    };
    return make_stage_kind<with_egress>(name, help);
}

/// To be called before configurations are read. \throws std::invalid_argument if the name is none, or taken
void add_stage_kind(const stage_kind& kind);

/// One end of a link: a port to be, and the stages of what it sends and receives.
struct port_node {
    std::string name;
    link_params link;
    bool crosses_clusters = false;
    const stage_settings *egress = nullptr, *ingress = nullptr;  ///< null: none
    std::string origin = {}, path = {};                          ///< where that of the egress is written, and its keys
};

}  // namespace fabricvp::fabric
