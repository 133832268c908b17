// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/target_description.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "platform/gdb/csr_names.h"

namespace fabricvp::gdb {

namespace {

using namespace register_number;

constexpr const char* integer_names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                         "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                         "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
constexpr const char* float_names[] = {"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
                                       "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
                                       "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
constexpr unsigned fflags = 1, fcsr = 3, satp = 0x180;

void add(std::string& to, const std::string& name, unsigned number, const char* type) {
    to += fmt::format("<reg name=\"{}\" bitsize=\"{}\" type=\"{}\" regnum=\"{}\"/>\n", name, 8 * register_size(number),
                      type, number);
}

const char* integer_type(unsigned n) {
    if (n == 1) return "code_ptr";
    return n == 2 || n == 3 || n == 4 || n == 8 ? "data_ptr" : "int";
}

}  // namespace

unsigned register_size(unsigned number) { return number >= first_csr + fflags && number <= first_csr + fcsr ? 4 : 8; }

std::string describe_target(riscv::debug_target& target, const std::vector<riscv::debug_target*>& threads) {
    std::string xml =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n"
        "<architecture>riscv:rv64</architecture>\n<feature name=\"org.gnu.gdb.riscv.cpu\">\n";
    for (unsigned n = 0; n < std::size(integer_names); ++n) add(xml, integer_names[n], n, integer_type(n));
    add(xml, "pc", pc, "code_ptr");
    xml += "</feature>\n";

    std::uint64_t value = 0;
    const bool has_float = target.read_register(first_float, value);
    if (has_float) {
        xml += "<feature name=\"org.gnu.gdb.riscv.fpu\">\n";
        for (unsigned n = 0; n < std::size(float_names); ++n) add(xml, float_names[n], first_float + n, "ieee_double");
        for (unsigned n = fflags; n <= fcsr; ++n) add(xml, csr_name(n), first_csr + n, "int");
        xml += "</feature>\n";
    }

    xml += "<feature name=\"org.gnu.gdb.riscv.csr\">\n";
    for (unsigned n = 0; n < csr_count; ++n)
        if (target.has_csr(n) && !(n >= fflags && n <= fcsr)) add(xml, csr_name(n), first_csr + n, "int");
    xml += "</feature>\n";

    if (target.read_register(privilege, value)) {
        xml += "<feature name=\"org.gnu.gdb.riscv.virtual\">\n";
        add(xml, "priv", privilege, "int");
        xml += "</feature>\n";
    }
    const auto wide =
        std::find_if(threads.begin(), threads.end(), [](auto* t) { return t->additional_register(0) != nullptr; });
    if (wide != threads.end()) {
        xml += "<feature name=\"org.fabricvp.gpu\">\n";
        for (unsigned n = 0; (*wide)->additional_register(n); ++n)
            add(xml, (*wide)->additional_register(n), first_further + n, "uint64");
        xml += "</feature>\n";
    }
    return xml + "</target>\n";
}

std::string describe_memory(riscv::debug_target& target, const std::vector<gdb_region>& regions) {
    constexpr std::uint64_t kernel_half = std::uint64_t{1} << 63;
    std::string xml =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE memory-map PUBLIC \"+//IDN gnu.org//DTD GDB Memory Map V1.0//EN\" "
        "\"http://sourceware.org/gdb/gdb-memory-map.dtd\">\n<memory-map>\n";
    const auto add_memory = [&](const char* type, std::uint64_t base, std::uint64_t size) {
        xml += fmt::format("<memory type=\"{}\" start=\"{:#x}\" length=\"{:#x}\"/>\n", type, base, size);
    };
    std::uint64_t translation = 0;
    const bool has_translation = target.has_csr(satp) && target.read_register(first_csr + satp, translation);
    if (!has_translation || (translation >> 60) == 0) {
        for (const auto& r : regions) add_memory(r.writable ? "ram" : "rom", r.base, r.size);
        if (has_translation) add_memory("ram", kernel_half, kernel_half);
    }
    return xml + "</memory-map>\n";
}

}  // namespace fabricvp::gdb
