// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "elf_builder.h"
#include "platform/common/input_error.h"
#include "platform/loader/boot_plan.h"
#include "platform/loader/elf_image.h"
#include "platform/loader/image_paths.h"
#include "temporary_folder.h"

using namespace fabricvp;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using fabricvp::test::elf_builder;
using fabricvp::test::temporary_folder;

namespace {

constexpr std::uint64_t base = 0x80000000;

std::string refusal(const std::string& contents) {
    try {
        elf_image(contents, "x.elf").symbol("anything");
    } catch (const input_error& e) {
        CHECK_THAT(e.what(), StartsWith("x.elf: "));
        CHECK(std::string(e.what()).find('\n') == std::string::npos);
        return e.what();
    }
    return "accepted";
}

elf_builder good() {
    elf_builder b(base);
    b.add(base, std::string(64, 'A')).add(base + 0x1000, "data", 0x100);
    b.symbols = {{"start", base}, {"tohost", base + 0x1008}};
    return b;
}

boot_plan plan(std::uint64_t size = 64 << 20) { return boot_plan({"node0", base, size}); }

}  // namespace

TEST_CASE("a good ELF file is read") {
    const auto contents = good().build();
    const elf_image elf(contents, "x.elf");
    CHECK(elf.entry() == base);
    REQUIRE(elf.segments().size() == 2);
    CHECK(elf.segments()[0].bytes == std::string(64, 'A'));
    CHECK(elf.segments()[1].memory_size == 0x100);
    CHECK(elf.symbol("tohost") == base + 0x1008);
    CHECK_FALSE(elf.symbol("tohos"));
    CHECK_FALSE(elf.symbol("tohost2"));
}

TEST_CASE("the entry point and symbols are translated to physical addresses") {
    elf_builder b(0xffffffff80000010);
    b.add(base, std::string(64, 'A'));
    b.segments[0].header.p_vaddr = 0xffffffff80000000;
    const auto contents = b.build();
    const elf_image elf(contents, "x.elf");
    CHECK(elf.entry() == base + 0x10);
    CHECK(elf.physical(0xffffffff80000020) == base + 0x20);
    CHECK_FALSE(elf.physical(base));
}

TEST_CASE("foreign files are named") {
    auto b = good();
    b.header.e_machine = EM_X86_64;
    CHECK_THAT(refusal(b.build()), Contains("for x86-64, not for RISC-V"));
    b = good();
    b.header.e_machine = 0x1234;
    CHECK_THAT(refusal(b.build()), Contains("machine 4660"));
    b = good();
    b.header.e_ident[EI_CLASS] = ELFCLASS32;
    CHECK_THAT(refusal(b.build()), Contains("32-bit"));
    b = good();
    b.header.e_ident[EI_DATA] = ELFDATA2MSB;
    CHECK_THAT(refusal(b.build()), Contains("big-endian"));
    b = good();
    b.header.e_type = ET_REL;
    CHECK_THAT(refusal(b.build()), Contains("not linked"));
    CHECK_THAT(refusal("hello"), Contains("not an ELF file"));
}

TEST_CASE("a file that is cut anywhere is refused") {
    const auto whole = good().build();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(size);
        CHECK(refusal(whole.substr(0, size)) != "accepted");
    }
}

TEST_CASE("headers that contradict themselves are refused") {
    auto b = good();
    b.segments[1].header.p_paddr = base + 0x20;
    CHECK_THAT(refusal(b.build()), Contains("segments overlap at 0x80000020"));
    b = good();
    b.segments[0].header.p_filesz = 1 << 20;
    CHECK_THAT(refusal(b.build()), Contains("larger in the file than in memory"));
    b = good();
    b.segments[0].header.p_offset = ~std::uint64_t{0} - 8;
    CHECK_THAT(refusal(b.build()), Contains("truncated"));
    b = good();
    b.segments[1].header.p_memsz = ~std::uint64_t{0};
    CHECK_THAT(refusal(b.build()), Contains("end of the address space"));
    b = good();
    b.header.e_entry = 0x1000;
    CHECK_THAT(refusal(b.build()), Contains("entry point 0x1000"));
    b = good();
    b.header.e_phentsize = 8;
    CHECK_THAT(refusal(b.build()), Contains("program header table"));
    b = good();
    b.segments.clear();
    CHECK_THAT(refusal(b.build()), Contains("nothing to load"));
    auto contents = good().build();
    Elf64_Ehdr h;
    std::memcpy(&h, contents.data(), sizeof h);
    h.e_phnum = 0xfffe;
    std::memcpy(contents.data(), &h, sizeof h);
    CHECK_THAT(refusal(contents), Contains("truncated"));
    contents = good().build();
    std::memcpy(&h, contents.data(), sizeof h);
    h.e_shoff = ~std::uint64_t{0};
    std::memcpy(contents.data(), &h, sizeof h);
    CHECK_THAT(refusal(contents), Contains("section table"));
}

TEST_CASE("firmware and kernel get their places") {
    temporary_folder folder;
    auto p = plan();
    p.add_stages({folder.file("fw.bin", "firmware"), folder.file("k.bin", "kernel"), "", "", false});
    CHECK(p.entry() == base);
    CHECK(p.next_stage() == base + boot_plan::kernel_offset);
    REQUIRE(p.load_regions().size() == 2);
    CHECK(p.load_regions()[1].bytes == "kernel");
    CHECK_FALSE(p.symbol("tohost"));
}

TEST_CASE("a kernel without firmware is what the harts start with") {
    temporary_folder folder;
    auto p = plan();
    elf_builder b = good();
    b.header.e_entry = base + 0x1000;
    p.add_stages({"", folder.file("k.elf", b.build()), "", "", true});
    CHECK(p.entry() == base + 0x1000);
    CHECK(p.next_stage() == 0);
    CHECK(p.symbol("tohost") == base + 0x1008);
}

TEST_CASE("a Linux image takes the room that its header asks for") {
    temporary_folder folder;
    std::string image(4096, '\0');
    const std::uint64_t size = 0x300000;
    std::memcpy(image.data() + 0x10, &size, sizeof size);
    std::memcpy(image.data() + 0x38, "RSC\x05", 4);
    auto p = plan();
    p.add_stages({folder.file("fw.bin", "firmware"), folder.file("Image", image), "", "", false});
    CHECK(p.load_regions()[1].size == size);
}

TEST_CASE("the RAM disk lies high, below what is reserved") {
    temporary_folder folder;
    auto p = plan();
    p.reserve("the device tree", base + (62 << 20), 0x1000);
    const auto [start, end] = p.add_initrd(folder.file("initrd", std::string(10'000, 'i')));
    CHECK(end - start == 10'000);
    CHECK(start % 4096 == 0);
    CHECK(end <= base + (62 << 20));
    CHECK(start > base + (61 << 20));
}

TEST_CASE("images that do not fit are refused with names and addresses") {
    temporary_folder folder;
    auto p = plan(1 << 20);
    CHECK_THROWS_WITH(p.add_stages({folder.file("big.bin", std::string((1 << 20) + 1, 'x')), "", "", "", false}),
                      Contains("big.bin") && Contains("outside of the memory of node0 (0x80000000 … 0x800fffff)"));
    auto q = plan();
    CHECK_THROWS_WITH(
        q.add_stages({folder.file("fw.bin", std::string(3 << 20, 'x')), folder.file("k.bin", "kernel"), "", "", false}),
        Contains("k.bin") && Contains("overlaps firmware"));
    auto r = plan();
    elf_builder off(0x10000);
    off.add(0x10000, "code");
    CHECK_THROWS_WITH(r.add_elf(folder.file("off.elf", off.build()), "firmware"),
                      Contains("off.elf: 0x10000 … 0x10003 lies outside"));
    elf_builder wide(base);
    wide.add(base, "code", 1ull << 40);
    CHECK_THROWS_WITH(r.add_elf(folder.file("wide.elf", wide.build()), "firmware"),
                      Contains("lies outside of the memory"));
    CHECK_THROWS_WITH(r.add_stages({folder.file("empty", ""), "", "", "", false}), Contains("the file is empty"));
    CHECK_THROWS_WITH(r.add_initrd(folder.file("huge", std::string(65 << 20, 'x'))), Contains("lies outside"));
    CHECK_THROWS_WITH(r.add_raw(folder.path.string(), "binary", base), Contains("is a folder"));
    CHECK_THROWS_WITH(r.add_raw("/no/such/file", "binary", base), Contains("/no/such/file: no such file"));
    CHECK_THROWS_WITH(r.add_raw(folder.file("a", "x"), "binary", ~std::uint64_t{0}), Contains("lies outside"));
}

TEST_CASE("image paths") {
    temporary_folder folder;
    const auto file = folder.file("fw.bin", "x");
    CHECK(find_image("fw.bin", folder.path.string()) == file);
    CHECK(find_image(file, "/elsewhere") == file);
    CHECK_THROWS_WITH(find_image("nothing.bin", folder.path.string()), Contains("nothing.bin: no such file"));
    setenv("FABRICVP_FIRMWARE", folder.path.c_str(), 1);
    CHECK(find_image("firmware:fw.bin", "") == file);
    CHECK_THROWS_WITH(find_image("firmware:fw.bim", ""), Contains("did you mean 'fw.bin'?"));
    setenv("FABRICVP_CONFIGS", folder.path.c_str(), 1);
    folder.file("uboot.yaml", "nodes: 1\n");
    CHECK(find_config("uboot") == (folder.path / "uboot.yaml").string());
    CHECK(find_config("uboot.yaml") == (folder.path / "uboot.yaml").string());
    CHECK_THROWS_WITH(find_config("ubot"), Contains("'ubot': no such configuration, did you mean 'uboot'?"));
    // A folder of results, as `run uboot --out uboot` leaves it, hides no machine.
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path);
    for (const char* name : {"uboot", "results"}) std::filesystem::create_directory(name);
    CHECK(find_config("uboot") == (folder.path / "uboot.yaml").string());
    CHECK(find_config("results") == "results");  // its reader says that it is none
    std::filesystem::current_path(before);
}
