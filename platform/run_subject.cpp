// SPDX-License-Identifier: Apache-2.0
#include "platform/run_subject.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/common/input_error.h"
#include "platform/console/console.h"
#include "platform/machine.h"
#include "platform/machine_frame.h"
#include "platform/platform.h"

namespace fabricvp {

local_subject::local_subject(platform& p, std::unique_ptr<machine_frame> frame)
    : m_platform(p), m_frame(std::move(frame)) {}

local_subject::~local_subject() = default;

nlohmann::ordered_json local_subject::description() { return m_frame->description(); }

void local_subject::add_to(nlohmann::ordered_json& frame) { m_frame->add_to(frame); }

void local_subject::restart_consoles() { m_frame->restart_consoles(); }

ticks local_subject::now() const { return m_platform.now(); }

void local_subject::type(std::size_t node, const std::string& text) {
    if (node >= m_platform.node_count()) throw input_error(fmt::format("there is no node{}", node));
    m_platform.serial(node).type(text);
}

void local_subject::inject(const std::string& target, const std::string& kind, const arguments& given) {
    m_platform.inject(target, kind, m_platform.now(), given);
}

void local_subject::look_at(ticks when) { m_platform.hardware().timeline.interrupt_at(when); }

void local_subject::look_soon() { m_platform.hardware().timeline.interrupt_at(0); }

}  // namespace fabricvp
