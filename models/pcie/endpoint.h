// SPDX-License-Identifier: Apache-2.0
// Base of every device at the end of a link. A new device declares its identity and BARs, implements bar_read() and
// bar_write(), moves data with `dma`, and interrupts with raise(); configuration, flow control, completions, MSI-X,
// INTx and resets are done here.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "pcie/function.h"
#include "pcie/ingress_buffer.h"
#include "pcie/msix.h"
#include "pcie/port.h"
#include "pcie/requester.h"

namespace fabricvp::pcie {

struct endpoint_params {
    port_params link;
    requester_params dma;
    duration read_latency{
        100'000};  ///< from the arrival of a read to its first completion, beyond what memory behind a BAR takes
    std::uint64_t completion_boundary = 64;
    duration ready_after_reset{0};  ///< configuration requests before are answered with a retry
    byte_size resizable_from{0};    ///< first size of the device's large memory BAR; 0: its final size, for good
    void describe(parameter_visitor& v);
    /// Bytes of the device's large memory BAR at its largest; 0 where it has none. Devices that have one hide this.
    std::uint64_t memory_bar() const { return 0; }
    /// Parameters that name files. Devices that have some hide this.
    std::vector<std::string*> files() { return {}; }
};

class endpoint : public model, protected port_owner {
public:
    const endpoint_params endpoint_parameters;

    pcie::port link;
    pcie::function config;
    requester dma;

    counter unsupported{*this, "unsupported_requests", "1", "requests that no BAR claims"};
    counter retries{*this, "configuration_retries", "1",
                    "configuration requests that came before the device was ready"};
    counter poisoned{*this, "poisoned", "1", "poisoned TLPs received"};

    struct not_ready_arguments {
        duration lasting{1'000'000'000};
        void describe(parameter_visitor& v);
    };
    fault_kind<> surprise_removal{*this, "surprise_removal", "the device is pulled out while it runs",
                                  [this](const auto&) { link.set_present(false); }};
    fault_kind<> insertion{*this, "insertion", "the device is plugged in again",
                           [this](const auto&) { link.set_present(true); }};
    fault_kind<not_ready_arguments> not_ready{
        *this, "not_ready", "the function answers configuration requests with a retry status",
        [this](const not_ready_arguments& a) { m_ready_at = m_not_ready_until = now() + a.lasting; }};

    span_stage outbox_span{*this, "outbox"};    ///< behind the device's other TLPs
    span_stage service_span{*this, "service"};  ///< from a request to its completion

    endpoint(const sc_core::sc_module_name& name, const endpoint_params& params, const function_identity& identity);

    /// Power-on reset.
    void reset() override;

protected:
    /// Declares a 64-bit prefetchable BAR over `bytes` of memory (a power of two), resizable if the parameters say so.
    void add_memory_bar(unsigned bar, std::uint64_t bytes);
    /// Adds what every endpoint has: Power Management, PCI Express, AER, Device Serial Number. \param atomics the
    /// device performs AtomicOps on its BARs
    void add_common_capabilities(bool atomics = false);
    /// Adds MSI-X with its table and pending bits in BAR `bar`, at `offset` and `offset` + 2 KiB.
    void add_msi_x(unsigned vectors, unsigned bar, std::uint32_t offset);
    /// Interrupts: MSI-X vector if software enabled it, else the INTx level if a pin was declared.
    void raise(unsigned vector);
    void set_intx(bool level);
    bool msi_x_enabled() const;

    /// Accesses to BARs that are not the MSI-X table. `bytes` is at most a TLP's payload. Writes with byte holes come
    /// as several calls.
    virtual void bar_read(const bar_hit& at, std::uint8_t* to, std::uint32_t bytes) = 0;
    virtual void bar_write(const bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) = 0;
    /// Inside of bar_write(): the spans of the write, to which something else is about to belong.
    span_trail take_spans();
    /// A read that the device answers in its own time: it keeps `t` and `data`, fills the latter in and calls
    /// finish_read(), after which `read_latency` still passes. False, as here: bar_read() is asked.
    virtual bool bar_read_later(const bar_hit&, const tlp_ptr& t, const buffer_slice& data) { return false; }
    void finish_read(const tlp_ptr& t, const buffer_slice& data);
    /// Whether the device can take one more request; TLPs wait in the port's buffer, and keep their credits, until it
    /// calls take_more().
    virtual bool can_accept() const { return true; }
    void resume_accepting();
    /// An AtomicOp on a BAR; the default has none (unsupported request).
    virtual bool bar_atomic(const bar_hit&, tlp&, std::uint8_t* old_value) { return false; }
    /// Function-level reset or hot reset: the device's own state; registers in `config` are done.
    virtual void function_reset() {}

    /// The last waiting TLP has been given to the link: a device that moves much data hands over the next piece here.
    virtual void outbox_empty() {}
    bool outbox_is_empty() const { return m_outbox.empty(); }
    /// The last posted request that waited for the link has been sent.
    virtual void posted_requests_sent() {}
    bool posted_requests_wait() const { return m_outbox.front(static_cast<unsigned>(flow_class::posted)) != nullptr; }

    /// Sends a TLP of the device's own (completions and requests alike), in order within its class.
    void transmit(const tlp_ptr& t);

private:
    void tlp_arrived(port& from, const tlp_ptr& t) final;
    void transmitter_ready(port& from) final;
    unsigned debug_request(port& from, tlp& t) final;
    void link_changed(port&, link_event what) final;
    void link_errors(port&, std::uint32_t correctable) final { config.errors.correctable(correctable); }

    void take_arrived();
    void process(const tlp_ptr& t);
    void memory_request(const tlp_ptr& t);
    void configuration_request(const tlp_ptr& t);
    void write_bar(const bar_hit& at, const tlp& t);
    void read_bar(const bar_hit& at, std::uint8_t* to, std::uint32_t bytes);
    void send_completion(const tlp_ptr& completion, ticks when);
    void send_due_completions();
    void send_intx();
    void send_queued();
    void apply_control();
    void begin_function_reset();
    void clear_function_state();
    void reject(const tlp_ptr& t, std::uint32_t aer_bit, completion_status status);

    std::unique_ptr<msix_table> m_msix;
    unsigned m_msix_bar = 0;
    std::uint32_t m_msix_offset = 0;
    ticks m_ready_at = 0;
    ticks m_not_ready_until = 0;  // by a fault, which resets do not end
    bool m_intx = false;          // as last sent
    bool m_intx_wanted = false;   // by the device, whether it may be sent or not

    tlp* m_written = nullptr;       // while it is being written
    std::deque<tlp_ptr> m_arrived;  // in the port's buffer, last byte not yet there
    struct due {
        ticks when;
        tlp_ptr packet;
    };
    std::deque<due> m_completions;
    ingress_buffer m_outbox;
    calendar_event m_take{method<&endpoint::take_arrived>, this};
    calendar_event m_send_completions{method<&endpoint::send_due_completions>, this};
};

}  // namespace fabricvp::pcie
