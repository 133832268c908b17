// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/csr_names.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace fabricvp::gdb {

namespace {

struct named {
    unsigned number;
    const char* name;
};

// Sorted by number. Volume II of the RISC-V manual, chapter "CSR listing"; the AIA, Smstateen and Sstc specifications.
constexpr named names[] = {
    {0x001, "fflags"},    {0x002, "frm"},        {0x003, "fcsr"},          {0x008, "vstart"},     {0x009, "vxsat"},
    {0x00a, "vxrm"},      {0x00f, "vcsr"},       {0x015, "seed"},          {0x100, "sstatus"},    {0x104, "sie"},
    {0x105, "stvec"},     {0x106, "scounteren"}, {0x10a, "senvcfg"},       {0x10c, "sstateen0"},  {0x10d, "sstateen1"},
    {0x10e, "sstateen2"}, {0x10f, "sstateen3"},  {0x140, "sscratch"},      {0x141, "sepc"},       {0x142, "scause"},
    {0x143, "stval"},     {0x144, "sip"},        {0x14d, "stimecmp"},      {0x150, "siselect"},   {0x151, "sireg"},
    {0x15c, "stopei"},    {0x180, "satp"},       {0x200, "vsstatus"},      {0x204, "vsie"},       {0x205, "vstvec"},
    {0x240, "vsscratch"}, {0x241, "vsepc"},      {0x242, "vscause"},       {0x243, "vstval"},     {0x244, "vsip"},
    {0x24d, "vstimecmp"}, {0x280, "vsatp"},      {0x300, "mstatus"},       {0x301, "misa"},       {0x302, "medeleg"},
    {0x303, "mideleg"},   {0x304, "mie"},        {0x305, "mtvec"},         {0x306, "mcounteren"}, {0x308, "mvien"},
    {0x309, "mvip"},      {0x30a, "menvcfg"},    {0x30c, "mstateen0"},     {0x30d, "mstateen1"},  {0x30e, "mstateen2"},
    {0x30f, "mstateen3"}, {0x310, "mstatush"},   {0x320, "mcountinhibit"}, {0x340, "mscratch"},   {0x341, "mepc"},
    {0x342, "mcause"},    {0x343, "mtval"},      {0x344, "mip"},           {0x34a, "mtinst"},     {0x34b, "mtval2"},
    {0x350, "miselect"},  {0x351, "mireg"},      {0x35c, "mtopei"},        {0x5a8, "scontext"},   {0x600, "hstatus"},
    {0x602, "hedeleg"},   {0x603, "hideleg"},    {0x604, "hie"},           {0x605, "htimedelta"}, {0x606, "hcounteren"},
    {0x607, "hgeie"},     {0x60a, "henvcfg"},    {0x643, "htval"},         {0x644, "hip"},        {0x645, "hvip"},
    {0x64a, "htinst"},    {0x680, "hgatp"},      {0x747, "mseccfg"},       {0x7a0, "tselect"},    {0x7a1, "tdata1"},
    {0x7a2, "tdata2"},    {0x7a3, "tdata3"},     {0x7a4, "tinfo"},         {0x7a5, "tcontrol"},   {0x7a8, "mcontext"},
    {0x7b0, "dcsr"},      {0x7b1, "dpc"},        {0x7b2, "dscratch0"},     {0x7b3, "dscratch1"},  {0xb00, "mcycle"},
    {0xb02, "minstret"},  {0xc00, "cycle"},      {0xc01, "time"},          {0xc02, "instret"},    {0xda0, "scountovf"},
    {0xdb0, "stopi"},     {0xe12, "hgeip"},      {0xf11, "mvendorid"},     {0xf12, "marchid"},    {0xf13, "mimpid"},
    {0xf14, "mhartid"},   {0xf15, "mconfigptr"}, {0xfb0, "mtopi"},
};

// Registers that come in numbered rows.
struct numbered {
    unsigned first, last, index;
    const char* name;
};

constexpr numbered rows[] = {
    {0x323, 0x33f, 3, "mhpmevent"},   {0x3a0, 0x3af, 0, "pmpcfg"},     {0x3b0, 0x3ef, 0, "pmpaddr"},
    {0xb03, 0xb1f, 3, "mhpmcounter"}, {0xc03, 0xc1f, 3, "hpmcounter"},
};

}  // namespace

std::string csr_name(unsigned number) {
    const auto at = std::lower_bound(std::begin(names), std::end(names), number,
                                     [](const named& n, unsigned wanted) { return n.number < wanted; });
    if (at != std::end(names) && at->number == number) return at->name;
    for (const auto& r : rows)
        if (number >= r.first && number <= r.last) return fmt::format("{}{}", r.name, number - r.first + r.index);
    return fmt::format("csr{}", number);
}

}  // namespace fabricvp::gdb
