// SPDX-License-Identifier: Apache-2.0
#include "riscv/translator.h"

#include "riscv/internal_ops.h"
#include "riscv/slicing.h"
#include "riscv/translator_emitter.h"

namespace fabricvp::riscv {

namespace {
unsigned g_after = 32;
}

void translate_after(unsigned entries) { g_after = entries; }
unsigned translated_after() { return translator::available() ? g_after : 0; }

#ifdef FABRICVP_TRANSLATOR
bool translator::available() { return true; }

translator::translator(const void* const* labels, const decoder_options& decoding, const void* jumps,
                       unsigned jump_entries)
    : m_labels(labels), m_decoding(decoding), m_jumps(jumps), m_jump_entries(jump_entries) {
    static host_code memory;
    static auto* const code = memory.allocate(frame_emitter::size);
    if (!code) return;
    static const frame_emitter frame{code};
    m_enter = reinterpret_cast<decltype(m_enter)>(const_cast<void*>(frame.enter));
    m_leave = frame.leave;
}

bool translator::translate(block& b, host_code& memory) {
    const auto most = block_emitter::most(b.op_count);
    auto* const code = m_enter ? memory.allocate(most) : nullptr;
    if (!code) return false;
    block_emitter e{b, code, most, m_leave, m_jumps, m_jump_entries};
    // The first operation counts entries.
    for (unsigned k = 1; k < b.op_count; ++k) {
        const auto& o = b.ops()[k];
        if (o.handler == m_labels[static_cast<unsigned>(internal_op::block_end)]) {
            e.block_end(k);
            break;
        }
        const auto i = decode(b.positions()[k].bits, m_decoding);
        const bool known = o.handler == m_labels[static_cast<unsigned>(i.op)] && e.operation(k, i.op);
        if (known && !ends_block(i.op)) continue;
        if (known) break;
        if (k == 1) {
            memory.shrink(most);
            return false;
        }
        e.hand_over(k);
        break;
    }
    memory.shrink(most - e.finish());
    return true;
}
#else
bool translator::available() { return false; }
translator::translator(const void* const* labels, const decoder_options& decoding, const void* jumps, unsigned n)
    : m_labels(labels), m_decoding(decoding), m_jumps(jumps), m_jump_entries(n) {}
bool translator::translate(block&, host_code&) { return false; }
#endif
}  // namespace fabricvp::riscv
