/* SPDX-License-Identifier: Apache-2.0 */
/* The advanced interrupt architecture as software sees it: interrupt files by messages of one's own, priorities,
 * thresholds, claims, messages between harts, and an APLIC that turns interrupt lines into messages. Every line is the
 * same on QEMU's `virt,aia=aplic-imsic`. */
#include "abi/aplic.h"
#include "abi/clint.h"
#include "abi/goldfish_rtc.h"
#include "abi/imsic.h"
#include "lib/aplic.h"
#include "lib/console.h"
#include "lib/csr.h"
#include "lib/harts.h"
#include "lib/imsic.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/timer.h"
#include "lib/traps.h"

enum { MSI = 3, MTI = 7, SEI = 9, MEI = 11 };
#define MTOPEI 0x35c
#define STOPEI 0x15c
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define READ(n)                                                     \
    ({                                                              \
        unsigned long v_;                                           \
        __asm__ volatile("csrr %0, " TEXT(n) : "=r"(v_)::"memory"); \
        v_;                                                         \
    })
#define CLAIM(n)                                                            \
    ({                                                                      \
        unsigned long v_;                                                   \
        __asm__ volatile("csrrw %0, " TEXT(n) ", x0" : "=r"(v_)::"memory"); \
        v_;                                                                 \
    })
#define INDIRECT_READ(select, data, which)                                 \
    ({                                                                     \
        unsigned long v_;                                                  \
        __asm__ volatile("csrw " TEXT(select) ", %1; csrr %0, " TEXT(data) \
                         : "=r"(v_)                                        \
                         : "r"((unsigned long)(which))                     \
                         : "memory");                                      \
        v_;                                                                \
    })
#define INDIRECT_WRITE(select, data, which, value)                                                       \
    __asm__ volatile("csrw " TEXT(select) ", %0; csrw " TEXT(data) ", %1" ::"r"((unsigned long)(which)), \
                     "r"((unsigned long)(value))                                                         \
                     : "memory")
#define M_READ(which) INDIRECT_READ(0x350, 0x351, which)
#define M_WRITE(which, value) INDIRECT_WRITE(0x350, 0x351, which, value)
#define S_READ(which) INDIRECT_READ(0x150, 0x151, which)
#define S_WRITE(which, value) INDIRECT_WRITE(0x150, 0x151, which, value)

static uintptr_t m_page, s_page, root_domain, child_domain;

/* `line`: 11 for what signals machine mode, 9 for supervisor mode. */
static uintptr_t find(const char* compatible, unsigned line, bool through_files) {
    const struct fdt* t = &machine.tree;
    for (fdt_node n = -1; (n = fdt_find_compatible(t, n, compatible)) >= 0;) {
        const fdt_node harts = through_files ? fdt_find_phandle(t, fdt_cell(t, n, "msi-parent", 0, 0)) : n;
        uint64_t address = 0, size = 0;
        if (fdt_cell(t, harts, "interrupts-extended", 1, 0) == line && fdt_reg(t, n, 0, &address, &size))
            return address;
    }
    return 0;
}

static unsigned long identity(unsigned long top) { return top >> IMSIC_TOPEI_IDENTITY_SHIFT; }
static unsigned pending(unsigned code) { return csr_read(mip) >> code & 1; }

/* ---- one interrupt file ---- */

static void test_machine_file(void) {
    M_WRITE(IMSIC_EIDELIVERY, 0);
    M_WRITE(IMSIC_EITHRESHOLD, 0);
    for (unsigned w = 0; w < 8; w += 2) {
        M_WRITE(IMSIC_EIP0 + w, 0);
        M_WRITE(IMSIC_EIE0 + w, ~0ul);
    }
    console_printf("enable bits      %lx %lx\n", M_READ(IMSIC_EIE0), M_READ(IMSIC_EIE0 + 6));
    static const unsigned sent[] = {200, 9, 64, 3, 255, 0, 256, 0x80000003};
    for (unsigned i = 0; i < sizeof sent / sizeof *sent; ++i) mmio_write32(m_page, sent[i]);
    mmio_write32(m_page + 8, 7); /* no register */
    console_printf("pending          %lx %lx %lx %lx\n", M_READ(IMSIC_EIP0), M_READ(IMSIC_EIP0 + 2),
                   M_READ(IMSIC_EIP0 + 4), M_READ(IMSIC_EIP0 + 6));
    console_printf("read back        %x\n", mmio_read32(m_page));
    console_printf("not delivered    mtopei %lx, MEIP %u\n", READ(MTOPEI), pending(MEI));
    M_WRITE(IMSIC_EIDELIVERY, 1);
    console_printf("delivered        mtopei %lx, MEIP %u\n", READ(MTOPEI), pending(MEI));
    M_WRITE(IMSIC_EITHRESHOLD, 3);
    console_printf("threshold 3      mtopei %lx, MEIP %u\n", READ(MTOPEI), pending(MEI));
    M_WRITE(IMSIC_EITHRESHOLD, 4);
    console_printf("threshold 4      mtopei %lx, MEIP %u\n", READ(MTOPEI), pending(MEI));
    M_WRITE(IMSIC_EITHRESHOLD, 0);
    M_WRITE(IMSIC_EIE0, ~8ul);
    console_printf("3 disabled       mtopei %lx\n", READ(MTOPEI));
    M_WRITE(IMSIC_EIE0, ~0ul);
    console_printf("claims          ");
    for (unsigned long top; (top = CLAIM(MTOPEI)) != 0;) console_printf(" %lu", identity(top));
    console_printf(", then MEIP %u\n", pending(MEI));
    mmio_write32(m_page, 17);
    mmio_write32(m_page, 17);
    M_WRITE(IMSIC_EIP0 + 2, 2); /* identity 65, without a message */
    console_printf("twice and forced %lu", identity(CLAIM(MTOPEI)));
    console_printf(" %lu %lu\n", identity(CLAIM(MTOPEI)), identity(CLAIM(MTOPEI)));
    for (unsigned w = 0; w < 8; w += 2) M_WRITE(IMSIC_EIE0 + w, 0);
}

static volatile unsigned long supervisor_claims[4];
static volatile unsigned supervisor_count;
static void on_supervisor(struct trap_frame* frame) {
    (void)frame;
    const unsigned long top = CLAIM(STOPEI);
    if (supervisor_count < 4) supervisor_claims[supervisor_count] = identity(top);
    ++supervisor_count;
}

/* Not delegated, interrupts of the supervisor's file come to machine mode as number 9. */
static void test_supervisor_file(void) {
    S_WRITE(IMSIC_EIE0, 1ul << 40 | 1ul << 20);
    S_WRITE(IMSIC_EIDELIVERY, 1);
    mmio_write32(s_page, 40);
    mmio_write32(s_page, 20);
    mmio_write32(s_page, 21);
    console_printf("supervisor       stopei %lx, SEIP %u, mtopei %lx\n", READ(STOPEI), pending(SEI), READ(MTOPEI));
    interrupt_handle(SEI, on_supervisor);
    interrupt_enable(SEI, true);
    interrupts_on();
    interrupts_off();
    interrupt_enable(SEI, false);
    console_printf("taken            %u: %lu %lu, SEIP %u, pending %lx\n", supervisor_count, supervisor_claims[0],
                   supervisor_claims[1], pending(SEI), S_READ(IMSIC_EIP0));
    S_WRITE(IMSIC_EIP0, 0);
    S_WRITE(IMSIC_EIE0, 0);
}

/* ---- priorities of major interrupts ---- */

static unsigned long top_code(void) { return READ(0xfb0) >> 16; }

static void test_major_priorities(void) {
    const unsigned long enabled = csr_read(mie);
    csr_write(mie, MIE_SOFTWARE | MIE_TIMER);
    M_WRITE(0x30, 0); /* reset need not clear them, nor disarm the timer */
    M_WRITE(0x32, 0);
    mmio_write64(machine.clint + CLINT_MTIMECMP, ~0ul);
    while (pending(MTI)) {
    }
    console_printf("mtopi            %lx\n", READ(0xfb0));
    mmio_write64(machine.clint + CLINT_MTIMECMP, 0);
    while (!pending(MTI)) {
    }
    console_printf("timer            %lu\n", top_code());
    mmio_write32(machine.clint, 1);
    while (!pending(MSI)) {
    }
    M_WRITE(0x30, 3ul << 8 * MTI | 2ul << 8 * MSI);
    console_printf("software first   %lx\n", READ(0xfb0));
    M_WRITE(0x30, 2ul << 8 * MTI | 3ul << 8 * MSI);
    console_printf("timer by iprio   %lx\n", READ(0xfb0));
    M_WRITE(0x30, 3ul << 8 * MTI | 3ul << 8 * MSI);
    M_WRITE(0x32, ~0ul);
    console_printf("iprio            %lx, %lx of external\n", M_READ(0x30) & 0xff000000ff000000,
                   M_READ(0x32) >> 24 & 0xff);
    M_WRITE(0x30, 0);
    M_WRITE(0x32, 0);
    mmio_write32(machine.clint, 0);
    mmio_write64(machine.clint + CLINT_MTIMECMP, ~0ul);
    csr_write(mie, enabled);
}

/* ---- messages between harts ---- */

static volatile unsigned messages_of[MAX_HARTS];
static unsigned call;
static volatile bool ready, stop;

static void on_call(unsigned which, void* context) {
    (void)which;
    (void)context;
    ++messages_of[hart_id()];
}

static void listen(void* unused) {
    (void)unused;
    imsic_enable(call, true);
    interrupt_enable(MEI, true);
    interrupts_on();
    ready = true;
    while (!stop) relax();
    interrupts_off();
    interrupt_enable(MEI, false);
    imsic_enable(call, false);
}

static void test_calls(void) {
    call = imsic_allocate(on_call, NULL);
    hart_start(1, listen, NULL);
    while (!ready) relax();
    for (unsigned i = 1; i <= 3; ++i) {
        mmio_write32(imsic_message_address(1), call);
        while (messages_of[1] < i) relax();
    }
    stop = true;
    hart_join(1);
    imsic_free(call);
    console_printf("calls            %u on hart 1, %u on hart 0\n", messages_of[1], messages_of[0]);
}

/* ---- the APLIC ---- */

enum { LINE = 20, DELEGATED = 21, FIRST = 30, SECOND = 31, THIRD = 32 };

static uint32_t source(uintptr_t domain, uintptr_t array, unsigned number) {
    return mmio_read32(domain + array + 4 * (number - 1));
}
static void set_source(uintptr_t domain, uintptr_t array, unsigned number, uint32_t value) {
    mmio_write32(domain + array + 4 * (number - 1), value);
}

static unsigned bit_of_line(uintptr_t words) { return mmio_read32(root_domain + words) >> LINE & 1; }

static void test_messages_of_lines(void) {
    /* Reset promises nothing about sources. */
    for (unsigned w = 0; w < 4; ++w) mmio_write32(root_domain + APLIC_CLRIE + 4 * w, ~0u);
    aplic_set_message_addresses();
    M_WRITE(IMSIC_EIE0, 1ul << FIRST | 1ul << SECOND);
    S_WRITE(IMSIC_EIE0, 1ul << THIRD);
    console_printf("domain           %x\n", mmio_read32(root_domain + APLIC_DOMAINCFG));
    set_source(root_domain, APLIC_SOURCECFG, LINE, APLIC_SOURCE_DETACHED);
    set_source(root_domain, APLIC_TARGET, LINE, FIRST);
    mmio_write32(root_domain + APLIC_SETIENUM, LINE);
    mmio_write32(root_domain + APLIC_SETIPNUM, LINE);
    console_printf("held back        pending %u, enabled %u, mtopei %lx\n", bit_of_line(APLIC_SETIP),
                   bit_of_line(APLIC_SETIE), READ(MTOPEI));
    mmio_write32(root_domain + APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE);
    console_printf("sent             pending %u, mtopei %lx\n", bit_of_line(APLIC_SETIP), READ(MTOPEI));
    CLAIM(MTOPEI);
    mmio_write32(root_domain + APLIC_CLRIENUM, LINE);
    mmio_write32(root_domain + APLIC_SETIPNUM, LINE);
    console_printf("disabled         pending %u, mtopei %lx\n", bit_of_line(APLIC_SETIP), READ(MTOPEI));
    mmio_write32(root_domain + APLIC_CLRIPNUM, LINE);
    console_printf("cleared          pending %u\n", bit_of_line(APLIC_SETIP));
    mmio_write32(root_domain + APLIC_GENMSI, SECOND);
    console_printf("generated        mtopei %lx\n", CLAIM(MTOPEI));

    set_source(root_domain, APLIC_SOURCECFG, DELEGATED, APLIC_SOURCECFG_DELEGATE);
    set_source(child_domain, APLIC_SOURCECFG, DELEGATED, APLIC_SOURCE_DETACHED);
    set_source(child_domain, APLIC_TARGET, DELEGATED, THIRD);
    mmio_write32(child_domain + APLIC_SETIENUM, DELEGATED);
    mmio_write32(child_domain + APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE);
    console_printf("delegated        %x, there %x\n", source(root_domain, APLIC_SOURCECFG, DELEGATED),
                   source(child_domain, APLIC_SOURCECFG, DELEGATED));
    mmio_write32(child_domain + APLIC_SETIPNUM_LE, DELEGATED);
    console_printf("to supervisor    stopei %lx, mtopei %lx\n", CLAIM(STOPEI), READ(MTOPEI));
    set_source(root_domain, APLIC_SOURCECFG, DELEGATED, 0);
    set_source(root_domain, APLIC_SOURCECFG, LINE, 0);
    M_WRITE(IMSIC_EIE0, 0);
    S_WRITE(IMSIC_EIE0, 0);
}

/* The real-time clock's alarm: a line that stays high until its cause is cleared. */
static volatile unsigned alarms;
static volatile uint32_t line_before, line_after;
static void on_alarm(unsigned line) {
    line_before = mmio_read32(root_domain + APLIC_IN_CLRIP + line / 32 * 4) >> line % 32 & 1;
    mmio_write32(machine.rtc + RTC_CLEAR_INTERRUPT, 1);
    line_after = mmio_read32(root_domain + APLIC_IN_CLRIP + line / 32 * 4) >> line % 32 & 1;
    ++alarms;
}

static void set_alarm(uint64_t nanoseconds) {
    const uint64_t low = mmio_read32(machine.rtc + RTC_TIME_LOW);
    const uint64_t at = ((uint64_t)mmio_read32(machine.rtc + RTC_TIME_HIGH) << 32 | low) + nanoseconds;
    mmio_write32(machine.rtc + RTC_IRQ_ENABLED, 1);
    mmio_write32(machine.rtc + RTC_ALARM_HIGH, (uint32_t)(at >> 32));
    mmio_write32(machine.rtc + RTC_ALARM_LOW, (uint32_t)at);
}

static void test_line(void) {
    external_handle(machine.rtc_irq, on_alarm);
    interrupt_enable(MEI, true);
    interrupts_on();
    for (unsigned i = 1; i <= 3; ++i) {
        set_alarm(200000);
        const uint64_t begin = timer_now();
        while (alarms < i && timer_now() - begin < machine.timebase) {
        }
    }
    interrupts_off();
    interrupt_enable(MEI, false);
    external_handle(machine.rtc_irq, NULL);
    mmio_write32(machine.rtc + RTC_IRQ_ENABLED, 0);
    console_printf("alarms           %u, the line was %u, then %u\n", alarms, line_before, line_after);
}

int main(void) {
    console_printf("\nAIA\n");
    m_page = find("riscv,imsics", MEI, false);
    s_page = find("riscv,imsics", SEI, false);
    root_domain = find("riscv,aplic", MEI, true);
    child_domain = find("riscv,aplic", SEI, true);
    console_printf("imsic            0x%lx, 0x%lx, %u identities\n", m_page, s_page, imsic_identities());
    console_printf("aplic            0x%lx, 0x%lx\n", root_domain, child_domain);
    if (!m_page || !s_page || !root_domain || !child_domain) return 1;
    test_machine_file();
    test_supervisor_file();
    test_major_priorities();
    test_calls();
    test_messages_of_lines();
    test_line();
    console_printf("end\n");
    return 0;
}
