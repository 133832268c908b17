// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/common/input_error.h"

namespace fabricvp::fuzz {

/// Seeded changes to bytes: the same seed gives the same input on every machine.
class mutator {
public:
    explicit mutator(std::uint64_t seed) : m_random(seed) {}

    std::size_t pick(std::size_t count) { return m_random() % count; }

    template <class T>
    const T& one_of(const std::vector<T>& from) {
        return from[pick(from.size())];
    }

    std::string noise(std::size_t size) {
        std::string bytes;
        while (bytes.size() < size) bytes.push_back(static_cast<char>(pick(256)));
        return bytes;
    }

    void mutate(std::string& text, const std::vector<std::string>& tokens) {
        const auto at = pick(text.size() + 1);
        switch (pick(8)) {
            case 0: text.insert(at, 1, static_cast<char>(pick(256))); break;
            case 1: text.insert(at, one_of(tokens)); break;
            case 2: text.erase(at, 1 + pick(8)); break;
            case 3:
                if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << pick(8)));
                break;
            case 4: text.resize(at); break;
            case 5: text.insert(pick(text.size() + 1), text.substr(at, pick(40))); break;
            case 6: text.replace(at, pick(6), one_of(tokens)); break;
            case 7:
                if (at < text.size()) text[at] = static_cast<char>(pick(256));
                break;
        }
    }

private:
    std::mt19937_64 m_random;
};

/// What a refusal must look like: one printable line that is not too long.
inline void check_message(const input_error& e) {
    const std::string line = e.what();
    if (line.empty() || line.size() > 2500) throw std::runtime_error("a message is empty or too long");
    for (const char c : line)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            throw std::runtime_error("a message holds control characters");
}

/// Runs `round(seed)` for `argv[1]` seeds from `argv[2]` on. \returns the exit status
template <class Round>
int run(const char* name, int argc, char* argv[], Round round) {
    const auto rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1000;
    const auto first = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1;
    std::uint64_t accepted = 0;
    for (std::uint64_t n = 0; n < rounds; ++n) {
        const auto seed = first * 1'000'000'007 + n;
        try {
            accepted += round(seed);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "%s: %s (round %llu of seed %llu)\n", name, e.what(),
                         static_cast<unsigned long long>(n), static_cast<unsigned long long>(first));
            return 1;
        }
    }
    std::printf("%s: %llu inputs, %llu of them accepted\n", name, static_cast<unsigned long long>(rounds),
                static_cast<unsigned long long>(accepted));
    return accepted > 0 && accepted < rounds ? 0 : 1;  // a fuzzer that sees only one side tests nothing
}

}  // namespace fabricvp::fuzz
