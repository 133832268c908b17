// SPDX-License-Identifier: Apache-2.0
// The interrupt controllers of a host, and what leads to the harts from them.
#include "abi/memory_map.h"
#include "host/host_complex.h"

namespace fabricvp::host {

void host_complex::make_interrupt_controllers() {
    const auto count = params.harts;
    const bool supervisor = params.hart.supervisor;
    if (params.interrupts == interrupt_controllers::plic) {
        plic = std::make_unique<host::plic>("plic", VIRT_PLIC_SOURCES, 2 * count);
        bus.map("plic", VIRT_PLIC_BASE, VIRT_PLIC_SIZE, plic->bus);
        return;
    }
    aplic_domain::msi_sender send;
    if (params.interrupts == interrupt_controllers::aplic_imsic) {
        imsic_m = std::make_unique<host::imsic>("imsic_m", params.imsic, count);
        bus.map("imsic_m", VIRT_IMSIC_M_BASE, imsic::size(count), imsic_m->bus);
        if (supervisor) {
            imsic_s = std::make_unique<host::imsic>("imsic_s", params.imsic, count);
            bus.map("imsic_s", VIRT_IMSIC_S_BASE, imsic::size(count), imsic_s->bus);
        }
        aplic_msi = std::make_unique<msi_writer>("aplic_msi");
        aplic_msi->bus.bind(bus.from_devices);
        send = [this](std::uint64_t address, std::uint32_t data) { aplic_msi->send(address, data); };
    }
    aplic_m = std::make_unique<aplic_domain>("aplic_m", VIRT_PLIC_SOURCES, count, nullptr, send);
    bus.map("aplic_m", VIRT_APLIC_M_BASE, VIRT_APLIC_SIZE, aplic_m->bus);
    if (supervisor) {
        aplic_s = std::make_unique<aplic_domain>("aplic_s", VIRT_PLIC_SOURCES, count, aplic_m.get(), send);
        bus.map("aplic_s", VIRT_APLIC_S_BASE, VIRT_APLIC_SIZE, aplic_s->bus);
    }
}

void host_complex::connect_interrupts() {
    using line = riscv::interrupt_line;
    for (std::size_t i = 0; i < harts.size(); ++i) {
        auto& hart = *harts[i];
        const auto lead = [&hart](wire& from, line to) {
            from.connect([&hart, to](bool level) { hart.set_interrupt(to, level); });
        };
        if (plic) {
            lead(plic->external_interrupt[2 * i], line::machine_external);
            lead(plic->external_interrupt[2 * i + 1], line::supervisor_external);
        } else if (imsic_m) {
            lead(imsic_m->files[i].external_interrupt, line::machine_external);
            if (imsic_s) lead(imsic_s->files[i].external_interrupt, line::supervisor_external);
            m_interrupt_files.push_back(
                std::make_unique<hart_imsic>(imsic_m->files[i], imsic_s ? &imsic_s->files[i] : nullptr));
            hart.attach_aia(m_interrupt_files.back().get());
        } else {
            lead(aplic_m->external_interrupt[i], line::machine_external);
            if (aplic_s) lead(aplic_s->external_interrupt[i], line::supervisor_external);
        }
    }
}

void host_complex::set_interrupt_source(unsigned source, bool level) {
    if (plic)
        plic->set_source(source, level);
    else
        aplic_m->set_source(source, level);
}

}  // namespace fabricvp::host
