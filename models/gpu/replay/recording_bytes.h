// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace fabricvp::gpu::replay {

/// A file is no recording, or not a whole one; what() says why, without the file's name.
class recording_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Numbers of seven bits a byte, the lowest first; the eighth says that more follow.
inline void put(std::string& to, std::uint64_t n) {
    for (; n >= 0x80; n >>= 7) to += static_cast<char>(n | 0x80);
    to += static_cast<char>(n);
}
inline std::uint64_t zigzag(std::int64_t n) {
    return static_cast<std::uint64_t>(n) << 1 ^ static_cast<std::uint64_t>(n >> 63);
}
inline std::int64_t unzigzag(std::uint64_t n) {
    return static_cast<std::int64_t>(n >> 1) ^ -static_cast<std::int64_t>(n & 1);
}
inline void put_text(std::string& to, const std::string& text) {
    put(to, text.size());
    to += text;
}

[[noreturn]] inline void throw_corrupted() { throw recording_error("is corrupted"); }

inline std::uint64_t get(const char*& at, const char* end) {
    std::uint64_t n = 0;
    for (unsigned shift = 0; at != end && shift < 64; shift += 7) {
        const auto byte = static_cast<unsigned char>(*at++);
        n |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) return n;
    }
    throw_corrupted();
}
template <class T>
T get_as(const char*& at, const char* end) {
    const auto n = get(at, end);
    if (n > static_cast<T>(~T{0})) throw_corrupted();
    return static_cast<T>(n);
}
inline std::string get_text(const char*& at, const char* end) {
    const auto size = get(at, end);
    if (size > static_cast<std::uint64_t>(end - at)) throw_corrupted();
    const std::string text(at, size);
    at += size;
    return text;
}

}  // namespace fabricvp::gpu::replay
