// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "riscv/csr_numbers.h"
#include "riscv/hart_state.h"
#include "riscv/pmp.h"

namespace fabricvp::riscv {

/// What CSRs show or change outside of the register state.
class csr_environment {
public:
    virtual std::uint64_t cycle_count() = 0;
    virtual std::uint64_t retired_count() = 0;
    virtual std::uint64_t time_count() = 0;
    virtual void stimecmp_changed() = 0;
    virtual void translation_changed() = 0;
    virtual void protection_changed() = 0;
    /// The state that decides how code is fetched and decoded may have changed (privilege, FS).
    virtual void context_changed() = 0;

protected:
    ~csr_environment() = default;
};

/// The CSRs: which exist, who may access them, which bits are writable.
class csr_file {
public:
    csr_file(hart_state& state, pmp& protection, const hart_params& params, std::uint64_t hart_id,
             csr_environment& environment);

    bool exists(unsigned number) const;
    /// \returns false if the access is illegal in the present mode
    bool may_access(unsigned number, bool write) const;
    /// Read and write an existing CSR, without privilege checks. \returns false if the value cannot be accessed (AIA).
    bool read(unsigned number, std::uint64_t& value);
    bool write(unsigned number, std::uint64_t value);
    /// Value that csrrs and csrrc modify: differs for mip and sip, whose external line does not feed back.
    std::uint64_t value_to_modify(unsigned number, std::uint64_t read_value) const;
    /// A debugger's look: no side effect.
    bool peek(unsigned number, std::uint64_t& value);

    std::uint64_t isa_register() const;  ///< misa
    /// Makes mcycle and minstret count from now.
    void reset();

private:
    bool counter_enabled(unsigned bit) const;
    bool read_machine(unsigned number, std::uint64_t& value);
    bool read_supervisor(unsigned number, std::uint64_t& value);
    bool read_counter(unsigned number, std::uint64_t& value);
    bool write_machine(unsigned number, std::uint64_t value);
    bool write_supervisor(unsigned number, std::uint64_t value);
    void write_mstatus(std::uint64_t value, std::uint64_t mask);
    void write_mip(std::uint64_t value, std::uint64_t mask);
    void write_satp(std::uint64_t value);
    std::uint64_t sstatus_mask() const;
    std::uint64_t top_interrupt(privilege level) const;
    std::uint64_t virtual_pending() const;
    bool read_indirect(privilege level, std::uint64_t select, std::uint64_t& value) const;
    bool write_indirect(privilege level, std::uint64_t select, std::uint64_t value);

    hart_state& m_state;
    pmp& m_pmp;
    const hart_params& m_params;
    std::uint64_t m_hart_id;
    csr_environment& m_environment;
    std::uint64_t m_cycle_offset = 0, m_retired_offset = 0;    // what guests wrote to mcycle and minstret
    std::uint64_t m_cycle_stopped = 0, m_retired_stopped = 0;  // their values while mcountinhibit holds them
};

}  // namespace fabricvp::riscv
