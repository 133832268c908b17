// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/l2_cache.h"

#include <fmt/format.h>

#include "gpu/memory/coherent_port.h"

namespace fabricvp::gpu {

l2_cache::l2_cache(const sc_core::sc_module_name& name, const l2_params& p, const l2_wiring& to)
    : model(name), params(p), m_interleaving(p.banks, p.interleave, p.hashed) {
    for (unsigned i = 0; i < p.banks; ++i)
        banks.push_back(std::make_unique<l2_bank>(fmt::format("bank{}", i).c_str(), p, i, to, m_interleaving,
                                                  reservations, m_queue_lines));
}

void l2_cache::watch(std::uint64_t physical, std::uint64_t bytes, bool lock) {
    m_queue_lines = {key_of(physical), bytes, lock};
    for (auto& bank : banks) bank->unlock_all();
}

void l2_cache::attach_coherent_port(coherent_port& port) {
    for (auto& bank : banks) bank->attach_coherent_port(port);
    port.on_drop = [this](std::uint64_t line) { bank_of(line).drop_copy(line); };
}

void l2_cache::reset() {
    reservations.clear();
    model::reset();
}

}  // namespace fabricvp::gpu
