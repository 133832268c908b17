// SPDX-License-Identifier: Apache-2.0
#include "hca/commands/command_interface.h"

#include <cstring>

#include "base/counted_warning.h"
#include "base/log.h"

namespace fabricvp::hca {

void command_params::describe(parameter_visitor& v) {
    v.field("log_in_flight", log_in_flight, between{0, 6},
            "log2 of the commands that software may have in flight by events");
    v.field("latency", latency, between{0, 1e9},
            "time that the firmware of the HCA takes for a command, beyond its mailboxes' way");
}

command_interface::command_interface(const sc_core::sc_module_name& name, const command_params& p, register_bank& r,
                                     command_executor& executor, const wiring& w)
    : model(name),
      params(p),
      in_param(r, "in_param", HCA_HCR + HCA_HCR_IN_PARAM, 4, 0, {}, {2, 4}),
      in_modifier(r, "in_modifier", HCA_HCR + HCA_HCR_IN_MODIFIER, 4, 0),
      out_param(r, "out_param", HCA_HCR + HCA_HCR_OUT_PARAM, 4, 0, {}, {2, 4}),
      token(r, "token", HCA_HCR + HCA_HCR_TOKEN, 4, 0),
      control(r, "command", HCA_HCR + HCA_HCR_COMMAND, 4, 0),
      m_bus(w.bus),
      m_eqs(w.event_queues),
      m_executor(executor) {
    control.on_write([this](std::size_t, std::uint64_t) { go(); });
}

void command_interface::go() {
    std::uint8_t word[4];
    hca_put32(word, static_cast<std::uint32_t>(control()));
    if (!hca_get(word, HCA_HCR_GO)) return;
    if (!m_queue.empty() &&
        (m_queue.size() >= std::size_t{1} << params.log_in_flight || !hca_get(word, HCA_HCR_EVENT))) {
        // GO was 1, or there are more by events than software was told; it does not wait for what it has not seen
        // begin.
        count_warning(failed, *this, "a command was begun while others filled the HCA; it is ignored");
        return;
    }
    waiting w;
    w.since = now();
    auto& c = w.c;
    c.opcode = hca_get(word, HCA_HCR_OPCODE);
    c.modifier = hca_get(word, HCA_HCR_OP_MODIFIER);
    c.by_event = hca_get(word, HCA_HCR_EVENT);
    c.token = static_cast<std::uint16_t>(token() >> 16);
    c.in_modifier = static_cast<std::uint32_t>(in_modifier());
    c.in_param = in_param.get(0) << 32 | in_param.get(1);
    c.out_param = out_param.get(0) << 32 | out_param.get(1);
    // Latched: the register is free for the next one, unless software waits for it.
    if (c.by_event) control.set(control() & ~std::uint64_t{1 << 23});
    m_queue.push_back(std::move(w));
    if (!m_busy) begin();
}

void command_interface::begin() {
    m_busy = !m_queue.empty();
    if (!m_busy) return;
    auto& c = m_queue.front().c;
    const auto mailbox_sizes = m_executor.mailbox_sizes_of(c);
    if (mailbox_sizes.out_bytes) {
        c.out = allocate_slice(mailbox_sizes.out_bytes);
        std::memset(c.out.data(), 0, mailbox_sizes.out_bytes);
    }
    if (!mailbox_sizes.known || mailbox_sizes.in_bytes == 0) return schedule_in(m_execute, params.latency);
    c.in = allocate_slice(mailbox_sizes.in_bytes);
    m_bus.read(c.in_param, c.in, [this, epoch = m_epoch](bool ok) {
        if (epoch != m_epoch) return;
        if (ok)
            schedule_in(m_execute, params.latency);
        else
            finish(HCA_BAD_PARAMETER);
    });
}

void command_interface::execute() {
    auto& c = m_queue.front().c;
    if (!m_executor.mailbox_sizes_of(c).known) return finish(HCA_BAD_OPCODE);
    m_executor.execute(c, [this, epoch = m_epoch](unsigned status) {
        if (epoch == m_epoch) finish(status);
    });
}

void command_interface::finish(unsigned status) {
    const auto w = std::move(m_queue.front());
    m_queue.pop_front();
    const auto& c = w.c;
    ++commands;
    latency.add(now() - w.since);
    if (status != HCA_OK) {
        ++failed;
        log(log_level::info, *this, "command {:#x} (modifiers {:#x}, {:#x}) ends with status {:#x}", c.opcode,
            c.in_modifier, c.modifier, status);
    } else if (c.out.length) {
        m_bus.write(c.out_param, c.out);
    }
    if (c.by_event) {
        event_queue_entry e(HCA_EVENT_COMMAND);
        e.set(HCA_EQE_TOKEN, c.token).set(HCA_EQE_STATUS, status);
        hca_set_long(e.bytes.data(), HCA_EQE_OUT_PARAM, c.out_param);
        m_eqs.post(e);
    } else {
        out_param.set(c.out_param >> 32, 0);
        out_param.set(c.out_param & 0xffffffff, 1);
        control.set((control() & 0x007f'ffff) | std::uint64_t{status} << 24);
    }
    begin();
}

void command_interface::reset() {
    ++m_epoch;
    m_queue.clear();
    m_busy = false;
    cancel(m_execute);
    for (auto* r : {&in_param, &in_modifier, &out_param, &token, &control}) r->reset();
    model::reset();
}

}  // namespace fabricvp::hca
