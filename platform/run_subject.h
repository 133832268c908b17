// SPDX-License-Identifier: Apache-2.0
// What a run_monitor looks at and steers: a machine in this process, or one of which ranks have parts.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/time.h"

namespace fabricvp {

class machine_frame;
class platform;

class run_subject {
public:
    using arguments = std::vector<std::pair<std::string, std::string>>;

    run_subject() = default;
    run_subject(const run_subject&) = delete;
    run_subject& operator=(const run_subject&) = delete;
    virtual ~run_subject() = default;

    // Of the simulation thread; run_monitor.h has the format of texts.

    virtual nlohmann::ordered_json description() = 0;
    /// Adds to a frame what there is to see.
    virtual void add_to(nlohmann::ordered_json& frame) = 0;
    /// The next frame has what consoles have printed from the beginning.
    virtual void restart_consoles() = 0;
    virtual ticks now() const = 0;
    /// \throws input_error
    virtual void type(std::size_t node, const std::string& text) = 0;
    /// Now. \throws input_error
    virtual void inject(const std::string& target, const std::string& kind, const arguments& given) = 0;
    /// When the run is to be looked after at the latest.
    virtual void look_at(ticks when) = 0;

    /// Of any thread: the run is to be looked after soon.
    virtual void look_soon() = 0;
};

/// A machine, or what this process has of it.
class local_subject final : public run_subject {
public:
    local_subject(platform& p, std::unique_ptr<machine_frame> frame);
    ~local_subject() override;

    nlohmann::ordered_json description() override;
    void add_to(nlohmann::ordered_json& frame) override;
    void restart_consoles() override;
    ticks now() const override;
    void type(std::size_t node, const std::string& text) override;
    void inject(const std::string& target, const std::string& kind, const arguments& given) override;
    void look_at(ticks when) override;
    void look_soon() override;

private:
    platform& m_platform;
    std::unique_ptr<machine_frame> m_frame;
};

}  // namespace fabricvp
