// SPDX-License-Identifier: Apache-2.0
// M, how fast one thread reads memory at random: dependent reads of 64 bytes a second from a table of 256 MiB. Each
// line says, by the sum of its eight words, which is read next, so that no read starts before the one ahead has ended;
// the lines form one cycle, so that none is read again before all others. Pages are as the system gives them unasked.
// Seconds are those of the processor, the median of rounds. Prints one JSON object.
//
//     memory_bench [ROUNDS [READS]]    READS of a round; the table has 4,194,304 lines
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <utility>
#include <vector>

namespace {

struct alignas(64) line {
    std::array<std::uint64_t, 8> words;
};

constexpr std::uint64_t lines = (256u << 20) / sizeof(line);

/// Sattolo's algorithm: a random permutation that is one cycle.
std::vector<std::uint32_t> one_cycle() {
    std::vector<std::uint32_t> next(lines);
    std::iota(next.begin(), next.end(), 0u);
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    for (std::uint64_t i = lines - 1; i > 0; --i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        std::swap(next[i], next[(state >> 32) * i >> 32]);
    }
    return next;
}

std::vector<line> table() {
    const std::vector<std::uint32_t> next = one_cycle();
    std::vector<line> made(lines);
    for (std::uint64_t i = 0; i < lines; ++i) {
        auto& words = made[i].words;
        for (std::uint64_t word = 1; word < words.size(); ++word) words[word] = i * word;
        words[0] = next[i] - std::accumulate(words.begin() + 1, words.end(), std::uint64_t{0});
    }
    return made;
}

/// Reads a second from line `at` on, which becomes the line that is due next.
double measure(const std::vector<line>& from, std::uint64_t reads, std::uint64_t& at) {
    const std::clock_t start = std::clock();
    for (std::uint64_t i = 0; i < reads; ++i) {
        const auto& words = from[at].words;
        at = std::accumulate(words.begin(), words.end(), std::uint64_t{0});
    }
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    return took > 0 ? static_cast<double>(reads) / took : 0;
}

}  // namespace

int main(int argc, char* argv[]) {
    const auto rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5;
    const auto reads = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : lines / 4;
    if (rounds == 0 || reads == 0) {
        std::fputs("usage: memory_bench [ROUNDS [READS]]\n", stderr);
        return 2;
    }
    const std::vector<line> from = table();
    std::uint64_t at = 0;
    std::vector<double> rates;
    for (unsigned long i = 0; i < rounds; ++i) rates.push_back(measure(from, reads, at));
    std::sort(rates.begin(), rates.end());
    const double value = rates[rates.size() / 2];
    if (value == 0 || at >= lines) {
        std::fputs("memory_bench: a round took no time\n", stderr);
        return 1;
    }
    std::printf("{\"value\": %.0f, \"unit\": \"reads/s\"}\n", value);
    return 0;
}
