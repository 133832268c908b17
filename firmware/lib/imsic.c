/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/imsic.h"

#include "abi/imsic.h"
#include "lib/csr.h"
#include "lib/harts.h"
#include "lib/machine.h"
#include "lib/traps.h"

enum { EXTERNAL = 11 };

static struct {
    imsic_handler handler;
    void* context;
} users[IMSIC_HIGHEST_IDENTITY + 1];
static struct spinlock lock;
static uintptr_t pages[MAX_HARTS]; /* 0: none */
static unsigned identities;
static bool searched;

/* By number, which older assemblers take too: miselect, mireg, mtopei. */
static void write_register(unsigned select, unsigned long value) {
    __asm__ volatile("csrw 0x350, %1; csrw 0x351, %0" ::"r"(value), "r"((unsigned long)select) : "memory");
}
/* One instruction: a message that arrives in the meantime is not lost. */
static void set_bits(unsigned select, unsigned long bits) {
    __asm__ volatile("csrw 0x350, %1; csrs 0x351, %0" ::"r"(bits), "r"((unsigned long)select) : "memory");
}
static void clear_bits(unsigned select, unsigned long bits) {
    __asm__ volatile("csrw 0x350, %1; csrc 0x351, %0" ::"r"(bits), "r"((unsigned long)select) : "memory");
}
static unsigned claim(void) {
    unsigned long top;
    __asm__ volatile("csrrw %0, 0x35c, x0" : "=r"(top)::"memory");
    return (unsigned)(top >> IMSIC_TOPEI_IDENTITY_SHIFT);
}

/* Entry k of interrupts-extended is the hart whose page is the k-th. */
static void find_files(fdt_node node) {
    const struct fdt* t = &machine.tree;
    uint64_t base = 0, length = 0;
    uint32_t size = 0;
    if (!fdt_reg(t, node, 0, &base, &length)) return;
    fdt_property(t, node, "interrupts-extended", &size);
    for (uint32_t k = 0; k < size / 8; ++k) {
        if (fdt_cell(t, node, "interrupts-extended", 2 * k + 1, 0) != EXTERNAL) continue;
        const fdt_node controller = fdt_find_phandle(t, fdt_cell(t, node, "interrupts-extended", 2 * k, 0));
        const uint32_t hart = fdt_cell(t, fdt_parent(t, controller), "reg", 0, ~0u);
        if (hart >= MAX_HARTS) continue;
        pages[hart] = (uintptr_t)base + (uintptr_t)k * IMSIC_FILE_STRIDE;
        identities = fdt_cell(t, node, "riscv,num-ids", 0, 0);
    }
}

static void search(void) {
    if (searched) return;
    const struct fdt* t = &machine.tree;
    for (fdt_node n = -1; (n = fdt_find_compatible(t, n, "riscv,imsics")) >= 0;) find_files(n);
    if (identities > IMSIC_HIGHEST_IDENTITY) identities = IMSIC_HIGHEST_IDENTITY;
    searched = true;
}

bool imsic_available(void) { return imsic_message_address(hart_id()) != 0; }

unsigned imsic_identities(void) {
    search();
    return identities;
}

uintptr_t imsic_message_address(unsigned hart) {
    search();
    return hart < MAX_HARTS && pages[hart] ? pages[hart] + IMSIC_SETEIPNUM_LE : 0;
}

unsigned imsic_allocate(imsic_handler handler, void* context) {
    search();
    unsigned identity = 1;
    const unsigned long were = spin_lock(&lock);
    while (identity <= identities && users[identity].handler) ++identity;
    if (identity <= identities) {
        users[identity].context = context;
        users[identity].handler = handler;
    } else {
        identity = 0;
    }
    spin_unlock(&lock, were);
    return identity;
}

void imsic_free(unsigned identity) {
    if (identity && identity <= identities) users[identity].handler = NULL;
}

static void external(struct trap_frame* frame) {
    (void)frame;
    for (unsigned identity; (identity = claim()) != 0;)
        if (users[identity].handler) users[identity].handler(identity, users[identity].context);
}

void imsic_enable(unsigned identity, bool on) {
    if (!identity || identity > identities || !imsic_available()) panic("no interrupt identity %u", identity);
    const unsigned word = identity / 64 * 2;
    const unsigned long bit = 1ul << identity % 64;
    const unsigned long were_on = csr_read(mstatus) & MSTATUS_MIE;
    interrupts_off(); /* a handler may choose another register */
    if (on) {
        interrupt_handle(EXTERNAL, external);
        set_bits(IMSIC_EIE0 + word, bit);
        write_register(IMSIC_EIDELIVERY, 1);
    } else {
        clear_bits(IMSIC_EIE0 + word, bit);
        clear_bits(IMSIC_EIP0 + word, bit);
    }
    if (were_on) interrupts_on();
}
