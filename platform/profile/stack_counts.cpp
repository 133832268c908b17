// SPDX-License-Identifier: Apache-2.0
#include "platform/profile/stack_counts.h"

#include <algorithm>

namespace fabricvp {
namespace {

/// A frame's name without what separates frames and counts.
std::string plain(std::string name) {
    std::replace(name.begin(), name.end(), ';', ':');
    std::replace(name.begin(), name.end(), '\n', ' ');
    return name;
}

}  // namespace

void stack_counts::add(const stack& s, std::uint64_t samples) {
    key k{s.root, s.note, s.frames};
    for (auto& f : k.frames)
        f.file_number = m_numbers.emplace(f.file->path(), static_cast<unsigned>(m_numbers.size())).first->second;
    m_counts[std::move(k)] += samples;
}

std::map<std::string, std::uint64_t> stack_counts::folded() const {
    std::map<std::string, std::uint64_t> all;
    for (const auto& [k, samples] : m_counts) {
        std::string text = k.root;
        for (auto f = k.frames.rbegin(); f != k.frames.rend(); ++f) {
            // Behind a call, the address belongs to what follows it.
            const bool call = f + 1 != k.frames.rend();
            const auto places = f->file->places(call ? f->pc - 1 : f->pc);
            for (auto p = places.rbegin(); p != places.rend(); ++p) text += ';' + plain(p->function);
            if (places.empty()) text += ";[unknown]";
        }
        if (!k.note.empty()) text += ';' + k.note;
        all[text] += samples;
    }
    return all;
}

}  // namespace fabricvp
