// SPDX-License-Identifier: Apache-2.0
// Fuzzes the ELF loader: right files with changed header fields, changed bytes, and noise. A file is refused in one
// line, or everything it asks for lies inside the file and inside the memory.
//
// usage: fuzz_elf [rounds] [seed]
#include <systemc>

#include "common/mutator.h"
#include "platform/common/input_error.h"
#include "platform/elf_builder.h"
#include "platform/loader/boot_plan.h"
#include "platform/loader/elf_image.h"

namespace {

using namespace fabricvp;

const memory_range memory = {"node0", 0x80000000, 1 << 20};

void require(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
}

class elf_round {
public:
    explicit elf_round(std::uint64_t seed) : m_random(seed) {}

    /// \returns whether the file was accepted
    bool run() {
        const auto contents = make();
        try {
            boot_plan plan(memory);
            const auto entry = plan.add_elf(contents, "fuzzed.elf", "firmware");
            check_plan(plan);
            check_image(elf_image(contents, "fuzzed.elf"), contents, entry);
            for (const char* name : {"tohost", "start", "x", ""}) plan.symbol(name);
            return true;
        } catch (const input_error& e) {
            fuzz::check_message(e);
            return false;
        }
    }

private:
    static void check_plan(const boot_plan& plan) {
        for (const auto& p : plan.load_regions()) {
            require(p.size > 0 && p.bytes.size() <= p.size, "a piece is larger in the file than in memory");
            require(
                p.address >= memory.base && p.size <= memory.size && p.address - memory.base <= memory.size - p.size,
                "a piece lies outside of the memory");
            for (const auto& other : plan.load_regions())
                require(&p == &other || p.address + p.size <= other.address || other.address + other.size <= p.address,
                        "pieces overlap");
        }
    }

    static void check_image(const elf_image& image, const std::string& contents, std::uint64_t entry) {
        require(image.entry() == entry, "two readings differ");
        bool inside = false;
        for (const auto& s : image.segments()) {
            require(s.bytes.data() >= contents.data() &&
                        s.bytes.data() + s.bytes.size() <= contents.data() + contents.size(),
                    "a segment's bytes lie outside of the file");
            inside = inside || (entry >= s.physical && entry <= s.last());
        }
        require(inside, "the entry point lies outside of every segment");
    }

    std::uint64_t number() {
        static const std::vector<std::uint64_t> interesting = {0,
                                                               1,
                                                               2,
                                                               3,
                                                               7,
                                                               8,
                                                               24,
                                                               56,
                                                               64,
                                                               0xff,
                                                               0xfffe,
                                                               0xffff,
                                                               0x7fffffff,
                                                               0x80000000,
                                                               0xffffffff,
                                                               0x100000000,
                                                               0x8000000000000000,
                                                               0xffffffffffffffff,
                                                               0xfffffffffffffff8,
                                                               0x800ff000,
                                                               0x800fffff,
                                                               0x80100000,
                                                               0xffffffff80000000};
        const auto n = m_random.one_of(interesting);
        return m_random.pick(3) == 0 ? n + m_random.pick(64) - 32 : n;
    }

    std::string make() {
        if (m_random.pick(50) == 0) return m_random.noise(m_random.pick(400));
        test::elf_builder b(0x80000000 + 4 * m_random.pick(3));
        b.add(0x80000000, m_random.noise(1 + m_random.pick(200)));
        for (auto more = m_random.pick(4); more-- > 0;)
            b.add(0x80001000 + 0x1000 * m_random.pick(8), m_random.noise(m_random.pick(100)), m_random.pick(2) * 0x200);
        if (m_random.pick(2))
            b.symbols = {{"start", 0x80000000}, {"tohost", 0x80001000}, {m_random.noise(m_random.pick(20)), number()}};
        for (auto changes = m_random.pick(3); changes-- > 0;) change_segment(b);
        auto contents = b.build();
        for (auto changes = m_random.pick(3); changes-- > 0;) change_field(contents);
        static const std::vector<std::string> tokens = {std::string(1, '\0'), std::string(8, '\xff'),
                                                        std::string(8, '\0'),
                                                        "\x7f"
                                                        "ELF",
                                                        "tohost"};
        if (m_random.pick(3) == 0)
            for (auto changes = m_random.pick(3); changes-- > 0;) m_random.mutate(contents, tokens);
        return contents;
    }

    void change_segment(test::elf_builder& b) {
        auto& h = m_random.one_of(b.segments).header;
        auto& header = const_cast<Elf64_Phdr&>(h);
        Elf64_Xword* fields[] = {&header.p_offset, &header.p_vaddr, &header.p_paddr, &header.p_filesz, &header.p_memsz};
        *fields[m_random.pick(5)] = number();
    }

    /// Overwrites an aligned field of the headers or tables.
    void change_field(std::string& contents) {
        const std::size_t sizes[] = {1, 2, 4, 8};
        const auto size = sizes[m_random.pick(4)];
        const auto reach = m_random.pick(2) ? std::min<std::size_t>(contents.size(), 232) : contents.size();
        if (reach < size) return;
        const auto at = m_random.pick(reach / size) * size;
        const auto value = number();
        std::memcpy(contents.data() + at, &value, size);
    }

    fuzz::mutator m_random;
};

}  // namespace

int sc_main(int argc, char* argv[]) {
    return fuzz::run("fuzz_elf", argc, argv, [](std::uint64_t seed) { return elf_round(seed).run(); });
}
