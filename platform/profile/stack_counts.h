// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/profile/debug_file.h"

namespace fabricvp {

/// Stacks and how often they were sampled.
class stack_counts {
public:
    /// An address in a file; without one: what `note` says.
    struct frame {
        debug_file* file = nullptr;
        std::uint64_t pc = 0;
        bool operator<(const frame& o) const { return std::tie(file_number, pc) < std::tie(o.file_number, o.pc); }
        unsigned file_number = 0;  ///< orders frames alike in each run; given by add()
    };
    struct stack {
        std::string root;           ///< frames around all others, outermost first, with semicolons between them
        std::vector<frame> frames;  ///< innermost first
        std::string note;           ///< the innermost frame: what is waited for; empty: nothing
    };

    void add(const stack& s, std::uint64_t samples);
    /// By text, "outermost;…;innermost": functions, those that were inlined included.
    std::map<std::string, std::uint64_t> folded() const;

private:
    struct key {
        std::string root, note;
        std::vector<frame> frames;
        bool operator<(const key& o) const { return std::tie(root, note, frames) < std::tie(o.root, o.note, o.frames); }
    };
    std::map<key, std::uint64_t> m_counts;
    std::map<std::string, unsigned> m_numbers;  // of files, by path
};

}  // namespace fabricvp
