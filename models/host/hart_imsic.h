// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/interrupt_file.h"
#include "riscv/hart.h"

namespace fabricvp::host {

/// The interrupt files of one hart, as its CSRs reach them.
class hart_imsic final : public riscv::aia_interface {
public:
    /// \param supervisor null where the hart has no supervisor mode
    hart_imsic(interrupt_file& machine, interrupt_file* supervisor) : m_machine(machine), m_supervisor(supervisor) {}

    std::uint64_t top_external(riscv::privilege level) const override { return file(level).top(); }
    void claim_top_external(riscv::privilege level) override { file(level).claim(); }
    bool read_indirect(riscv::privilege level, unsigned select, std::uint64_t& value) const override {
        return file(level).read(select, value);
    }
    bool write_indirect(riscv::privilege level, unsigned select, std::uint64_t value) override {
        return file(level).write(select, value);
    }

private:
    interrupt_file& file(riscv::privilege level) const {
        return level == riscv::privilege::machine || !m_supervisor ? m_machine : *m_supervisor;
    }

    interrupt_file& m_machine;
    interrupt_file* m_supervisor;
};

}  // namespace fabricvp::host
