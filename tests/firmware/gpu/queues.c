/* SPDX-License-Identifier: Apache-2.0 */
/* User-mode queues: where rings and signals may lie, barrier packets, order, priorities, caches, interrupts. */
#include "abi/hca_post.h"
#include "abi/stream_packet.h"
#include "driver.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/timer.h"
#include "lib/traps.h"

enum { PACKETS = 16 };

static gpu_address log_at; /* of stamp: a count, then each stamp */

static void check(const char* what, bool good) { console_printf("%-40s %s\n", what, good ? "ok" : "FAILED"); }

static uint64_t packet_of(struct gpu_queue_handle* q, unsigned type, uint64_t a, uint64_t b) {
    const struct aql_barrier p = {.dependency = {a, 0, b}};
    uint64_t words[8];
    memcpy(words, &p, sizeof words);
    return gpu_submit(q, words, type);
}

static uint64_t user_signal(unsigned n) { /* of host memory, at 1 */
    static struct aql_signal* pages;
    static gpu_address at;
    if (!pages) {
        pages = driver_pages(1);
        at = gpu_map_host(&node, pages, GPU_PAGE, true);
    }
    pages[n].value = 1;
    return at + n * sizeof *pages;
}
static void clear(uint64_t signal) {
    __asm__ volatile("fence rw, rw" ::: "memory");
    ((volatile struct aql_signal*)gpu_host_address(&node, signal))->value = 0;
}

static bool pending(const struct gpu_queue_handle* q, uint64_t packet) { return gpu_signal(q, packet)->value == 1; }

static void clear_log(void) {
    const uint64_t zeros[32] = {0};
    gpu_write(&node, log_at, zeros, sizeof zeros);
}
static bool log_is(unsigned count, const uint64_t* who) {
    uint64_t seen[32];
    gpu_read(&node, seen, log_at, sizeof seen);
    if (seen[0] != count) return false;
    for (unsigned i = 0; i < count; ++i)
        if (seen[1 + i] != who[i]) return false;
    return true;
}

static void places(void) {
    static const char* const names[] = {"ring on the device, signals in the host", "ring and signals in the host",
                                        "ring and signals on the device", "ring in the host, signals on the device"};
    for (unsigned flags = 0; flags < 4; ++flags) {
        struct gpu_queue_handle q;
        gpu_create_queue(&q, &node, 0, 4, flags | GPU_SMALL_SCRATCH, 1);
        bool good = true;
        for (unsigned round = 0; round < 10; ++round) good &= *driver_works(&q) == 'o'; /* around the ring twice */
        check(names[flags], good && gpu_destroy_queue(&q));
    }
}

static void barriers(struct gpu_queue_handle* q) {
    uint64_t a = user_signal(0), b = user_signal(1);
    const uint64_t both = packet_of(q, AQL_TYPE_BARRIER_AND, a, b);
    const uint64_t kernel = driver_launch(q, "stamp", 1, log_at, 1);
    timer_wait(50);
    bool good = pending(q, both) && pending(q, kernel);
    clear(a);
    timer_wait(50);
    good &= pending(q, both) && pending(q, kernel);
    clear(b);
    good &= gpu_wait(q, both) == 0 && gpu_wait(q, kernel) == 0;
    check("barrier-AND waits for all", good);

    a = user_signal(0), b = user_signal(1);
    const uint64_t either = packet_of(q, AQL_TYPE_BARRIER_OR, a, b);
    timer_wait(50);
    good = pending(q, either);
    clear(b);
    good &= gpu_wait(q, either) == 0;
    check("barrier-OR waits for one", good);
    check("barrier of nothing", gpu_wait(q, packet_of(q, AQL_TYPE_BARRIER_AND, 0, 0)) == 0);

    const uint64_t zero = 0;
    struct gpu_queue_handle other;
    gpu_create_queue(&other, &node, 0, PACKETS, GPU_SMALL_SCRATCH, 1);
    gpu_write(&node, log_at, &zero, 8);
    const uint64_t first = driver_launch(&other, "stamp", 1, log_at, 2);
    const uint64_t chain = packet_of(q, AQL_TYPE_BARRIER_AND, gpu_signal_address(&other, first), 0);
    check("barrier on another queue's kernel", gpu_wait(q, chain) == 0 && !pending(&other, first));
    gpu_destroy_queue(&other);
}

/* A kernel that waits for the host, and a second one: behind the barrier bit it must not start. */
static void order(struct gpu_queue_handle* q) {
    clear_log();
    const gpu_address flag = log_at + 1024;
    for (unsigned barrier = 0; barrier < 2; ++barrier) {
        const uint32_t zero = 0, one = 1;
        gpu_write(&node, flag, &zero, 4);
        const uint64_t slow = driver_launch(q, "await", 1, flag, 0);
        const struct bad_arguments arguments = {log_at, 10 + barrier};
        const gpu_address kernargs = log_at + 2048;
        gpu_write(&node, kernargs, &arguments, sizeof arguments);
        const struct aql_kernel_dispatch p = {.dimensions = 1,
                                              .workgroup_size = {64},
                                              .grid_size = {64},
                                              .kernel_object = driver_kernel("stamp").object,
                                              .kernarg_address = kernargs};
        uint64_t words[8];
        memcpy(words, &p, sizeof words);
        words[0] |= barrier ? AQL_HEADER_BARRIER : 0;
        const uint64_t quick = gpu_submit(q, words, AQL_TYPE_KERNEL_DISPATCH);
        timer_wait(100);
        bool good = pending(q, slow) && pending(q, quick) == (barrier == 1);
        gpu_write(&node, flag, &one, 4);
        good &= gpu_wait(q, slow) == 0 && gpu_wait(q, quick) == 0;
        check(barrier ? "the barrier bit waits for what is before" : "without it kernels overlap", good);
    }
    check("both kernels ran", log_is(2, (const uint64_t[]){10, 11}));
}

/* A packet that is not written holds up those behind it, even if their doorbells ring. */
static void unwritten(struct gpu_queue_handle* q) {
    clear_log();
    const gpu_address at = q->ring + (q->next & (q->packets - 1)) * 64;
    const uint64_t first = driver_launch(q, "stamp", 1, log_at, 21); /* its doorbell comes twice; that does no harm */
    gpu_wait(q, first);
    const gpu_address gap = at + 64 < q->ring + q->packets * 64 ? at + 64 : q->ring;
    ++q->next; /* another producer's place */
    const uint64_t behind = driver_launch(q, "stamp", 1, log_at, 23);
    timer_wait(50);
    bool good = pending(q, behind);
    const struct aql_barrier nothing = {.header = AQL_TYPE_BARRIER_AND};
    uint64_t words[8];
    memcpy(words, &nothing, sizeof words);
    gpu_write(&node, gap + 8, words + 1, 56);
    gpu_write(&node, gap, words, 8);
    q->gpu->doorbells[q->index] = behind - 1; /* late, and lower than what was rung */
    good &= gpu_wait(q, behind) == 0;
    check("an unwritten packet is waited for", good && log_is(2, (const uint64_t[]){21, 23}));
}

/* While a kernel holds the dispatcher back, the others pile up: the important ones come first. */
static void priorities(void) {
    struct gpu_queue_handle low, middle, high;
    const unsigned apart =
        mmio_read32(node.gpu[0].registers + GPU_CP_HARTS); /* queues of one hart share its attention */
    struct gpu_queue_handle filler[16];
    gpu_create_queue(&low, &node, 0, PACKETS, GPU_SMALL_SCRATCH, 0);
    for (unsigned i = 1; i < apart; ++i) gpu_create_queue(&filler[i], &node, 0, PACKETS, GPU_SMALL_SCRATCH, 0);
    gpu_create_queue(&middle, &node, 0, PACKETS, GPU_SMALL_SCRATCH, 1);
    for (unsigned i = 1; i < apart; ++i) gpu_create_queue(&filler[apart + i], &node, 0, PACKETS, GPU_SMALL_SCRATCH, 0);
    gpu_create_queue(&high, &node, 0, PACKETS, GPU_SMALL_SCRATCH, 2);
    clear_log();
    uint64_t go = user_signal(2), last[3] = {0};
    /* A gate in each, so that all kernels become ready at once. */
    struct gpu_queue_handle* all[] = {&low, &middle, &high};
    for (unsigned i = 0; i < 3; ++i) packet_of(all[i], AQL_TYPE_BARRIER_AND, go, 0);
    for (unsigned n = 0; n < 3; ++n)
        for (unsigned i = 0; i < 3; ++i) last[i] = driver_launch(all[i], "stamp", 1, log_at, 30 + i);
    clear(go);
    bool good = true;
    for (unsigned i = 0; i < 3; ++i) good &= gpu_wait(all[i], last[i]) == 0;
    uint64_t seen[10];
    gpu_read(&node, seen, log_at, sizeof seen);
    unsigned sum[3] = {0};
    for (unsigned i = 1; i < 10; ++i) sum[seen[i] - 30] += i;
    check("all kernels of three queues ran", good && seen[0] == 9);
    check("more important queues come first", sum[2] < sum[1] && sum[1] < sum[0]);
    for (unsigned i = 0; i < 3; ++i) gpu_destroy_queue(all[i]);
    for (unsigned i = 1; i < apart; ++i) {
        gpu_destroy_queue(&filler[i]);
        gpu_destroy_queue(&filler[apart + i]);
    }
}

/* Queues of one hart and of one importance: each has its turn. */
static void round_robin(void) {
    enum { QUEUES = 3, EACH = 4 };
    static struct gpu_queue_handle all[QUEUES * 16];
    const unsigned apart = mmio_read32(node.gpu[0].registers + GPU_CP_HARTS), count = QUEUES * apart;
    for (unsigned i = 0; i < count; ++i) gpu_create_queue(&all[i], &node, 0, PACKETS, GPU_SMALL_SCRATCH, 1);
    const uint64_t go = user_signal(3);
    uint64_t last[QUEUES], when[EACH][QUEUES];
    for (unsigned i = 0; i < QUEUES; ++i) packet_of(&all[i * apart], AQL_TYPE_BARRIER_AND, go, 0);
    for (unsigned n = 0; n < EACH; ++n)
        for (unsigned i = 0; i < QUEUES; ++i) {
            const struct aql_vendor v = {.operation = AQL_VENDOR_TIMESTAMP,
                                         .argument = {log_at + 8 * (QUEUES * n + i)}};
            uint64_t words[8];
            memcpy(words, &v, sizeof words);
            last[i] = gpu_submit(&all[i * apart], words, AQL_TYPE_VENDOR);
        }
    clear(go);
    bool good = true;
    for (unsigned i = 0; i < QUEUES; ++i) good &= gpu_wait(&all[i * apart], last[i]) == 0;
    gpu_read(&node, when, log_at, sizeof when);
    for (unsigned n = 1; n < EACH; ++n)
        for (unsigned i = 0; i < QUEUES; ++i)
            for (unsigned j = 0; j < QUEUES; ++j) good &= when[n - 1][i] < when[n][j];
    check("equal queues take turns", good);
    for (unsigned i = 0; i < count; ++i) gpu_destroy_queue(&all[i]);
}

/* One compute unit's L1 cache holds a word; the host changes it. Only a packet that acquires sees the change. */
static void scopes(struct gpu_queue_handle* q) {
    const gpu_address words_at = log_at;
    const struct bad_arguments arguments = {words_at, 0};
    const gpu_address kernargs = log_at + 2048;
    gpu_write(&node, kernargs, &arguments, sizeof arguments);
    struct aql_kernel_dispatch p = {.dimensions = 1,
                                    .workgroup_size = {64},
                                    .grid_size = {64u * node.gpu[0].compute_units},
                                    .kernel_object = driver_kernel("copy_word").object,
                                    .kernarg_address = kernargs};
    uint64_t words[8];
    memcpy(words, &p, sizeof words);
    const unsigned release = AQL_FENCE_SYSTEM << AQL_HEADER_RELEASE_SHIFT,
                   barrier = AQL_HEADER_BARRIER | AQL_TYPE_KERNEL_DISPATCH;
    const unsigned acquires[] = {AQL_FENCE_SYSTEM, AQL_FENCE_NONE, AQL_FENCE_AGENT, AQL_FENCE_NONE};
    uint32_t seen[4];
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t value = 100 + i;
        gpu_write(&node, words_at, &value, 4);
        if (i == 3) { /* what a barrier packet acquires counts for those behind it */
            const uint64_t nothing[8] = {0};
            gpu_wait(q, gpu_submit(q, nothing, AQL_TYPE_BARRIER_AND));
        }
        gpu_wait(q, gpu_submit_as(q, words, (uint16_t)(barrier | release | acquires[i] << AQL_HEADER_ACQUIRE_SHIFT)));
        gpu_read(&node, &seen[i], words_at + 64, 4);
    }
    /* Which compute unit runs group 0 is not ours to say: what it sees without an acquire is the old word, or, where
     * the unit had never looked, the new one. */
    check("acquire at system scope", seen[0] == 100);
    check("no acquire shows what the cache holds", seen[1] == 100 || node.gpu[0].compute_units > 1);
    check("acquire at agent scope", seen[2] == 102);
    check("acquire of a barrier packet", seen[3] == 103);
}

static void vendor(struct gpu_queue_handle* q) {
    const uint64_t pattern[4] = {1, 2, 3, 0x123456789abcdef0};
    uint64_t back[5] = {0};
    gpu_write(&node, log_at, pattern, sizeof pattern);
    struct aql_vendor v = {.operation = AQL_VENDOR_COPY, .argument = {log_at, log_at + 512, sizeof pattern}};
    uint64_t words[8];
    memcpy(words, &v, sizeof words);
    bool good = gpu_wait(q, gpu_submit(q, words, AQL_TYPE_VENDOR)) == 0;
    gpu_read(&node, back, log_at + 512, sizeof pattern);
    check("vendor: copy", good && memcmp(back, pattern, sizeof pattern) == 0);
    v = (struct aql_vendor){.operation = AQL_VENDOR_COPY, .argument = {log_at + 1, log_at + 1027, 13}};
    memcpy(words, &v, sizeof words);
    good = gpu_wait(q, gpu_submit(q, words, AQL_TYPE_VENDOR)) == 0;
    gpu_read(&node, back, log_at + 1027, 13);
    check("vendor: copy of bytes", good && memcmp(back, (const char*)pattern + 1, 13) == 0);
    v = (struct aql_vendor){.operation = AQL_VENDOR_TIMESTAMP, .argument = {log_at}};
    memcpy(words, &v, sizeof words);
    const uint64_t stamp = gpu_submit(q, words, AQL_TYPE_VENDOR);
    good = gpu_wait(q, stamp) == 0;
    gpu_read(&node, back, log_at, 8);
    volatile struct aql_signal* s = gpu_signal(q, stamp);
    check("vendor: timestamp", good && back[0] >= s->start_ns && back[0] <= s->end_ns);
    v = (struct aql_vendor){.operation = AQL_VENDOR_INVALIDATE_TLB};
    memcpy(words, &v, sizeof words);
    check("vendor: invalidation of TLBs",
          gpu_wait(q, gpu_submit(q, words, AQL_TYPE_VENDOR)) == 0 && *driver_works(q) == 'o');
}

/* Words that a queue writes, and waits for. */
static void streams(struct gpu_queue_handle* q) {
    const uint64_t words[4] = {1, 0, 0, HCA_CQE_HARDWARE_OWNED}, arrived = 7ull << 32 | 1, come = 0x40;
    uint64_t packet[8], back[8];
    gpu_write(&node, log_at, words, sizeof words);
    const struct aql_stream_write w = {
        .operation = AQL_STREAM_WRITE, .count = 2, .write = {{log_at + 64, 0x1122334455667788}, {log_at + 72, 5}}};
    memcpy(packet, &w, sizeof packet);
    bool good = gpu_wait(q, gpu_submit(q, packet, AQL_TYPE_VENDOR)) == 0;
    gpu_read(&node, back, log_at + 64, 16);
    check("stream: words written", good && back[0] == 0x1122334455667788 && back[1] == 5);

    const struct aql_stream_wait wait = {.operation = AQL_STREAM_WAIT,
                                         .condition = AQL_STREAM_GEQ,
                                         .at = log_at,
                                         .mask = 0xffffffffull << 32,
                                         .value = 6ull << 32};
    memcpy(packet, &wait, sizeof packet);
    const uint64_t reached = gpu_submit(q, packet, AQL_TYPE_VENDOR);
    timer_wait(20);
    good = gpu_signal(q, reached)->value == 1;
    gpu_write(&node, log_at, &arrived, sizeof arrived);
    check("stream: a word is waited for", good && gpu_wait(q, reached) == 0);

    const struct aql_stream_completion c = {
        .operation = AQL_STREAM_COMPLETION, .consumer = 3, .at = log_at, .record = log_at + 64};
    memcpy(packet, &c, sizeof packet);
    const uint64_t completed = gpu_submit(q, packet, AQL_TYPE_VENDOR);
    timer_wait(20);
    good = gpu_signal(q, completed)->value == 1;
    gpu_write(&node, log_at + 8 * HCA_CQE_LAST, &come, sizeof come);
    good = good && gpu_wait(q, completed) == 0;
    gpu_read(&node, back, log_at, sizeof words);
    gpu_read(&node, back + 4, log_at + 64, 8);
    check("stream: a completion is taken",
          good && back[HCA_CQE_LAST] == HCA_CQE_HARDWARE_OWNED && back[4] == (0x1122334400000000 | hca_swap32(3)));
}

static void interrupts(struct gpu_queue_handle* q) {
    struct gpu* g = &node.gpu[0];
    const enum pci_delivery delivery = gpu_use_interrupts(g, PCI_MSIX);
    console_printf("interrupts by %s\n", pci_delivery_names[delivery]);
    const uint32_t before = g->interrupts[GPU_VECTOR_SIGNAL];
    bool good = true;
    for (unsigned i = 0; i < 3; ++i) good &= *driver_works(q) == 'o';
    check("three kernels, three interrupts", good && g->interrupts[GPU_VECTOR_SIGNAL] - before == 3);
    check("a fault interrupts", gpu_wait(q, driver_launch(q, "illegal", 1, 0, 0)) == GPU_FAULT_ILLEGAL &&
                                    g->interrupts[GPU_VECTOR_FAULT] == 1);
    gpu_reset_queue(q);
    gpu_use_interrupts(g, PCI_POLLED);
    check("polling again", *driver_works(q) == 'o' && g->interrupts[GPU_VECTOR_SIGNAL] - before <= 4);
}

/* Queues of harts that the driver has chosen. Two of one hart take turns, whatever their numbers. */
static void harts(void) {
    const unsigned count = mmio_read32(node.gpu[0].registers + GPU_CP_HARTS);
    struct gpu_queue_handle a, b;
    gpu_create_queue(&a, &node, 0, PACKETS, GPU_SMALL_SCRATCH, 1);
    gpu_create_queue(&b, &node, 0, PACKETS, GPU_SMALL_SCRATCH, 1);
    bool good = true;
    for (unsigned hart = 0; hart < count; ++hart) {
        good &= gpu_assign_queue(&a, hart) && gpu_assign_queue(&b, count - 1 - hart);
        good &= *driver_works(&a) == 'o' && *driver_works(&b) == 'o';
    }
    check("queues go to any hart", good);
    check("no hart, no change", !gpu_assign_queue(&a, count) && *driver_works(&a) == 'o');
    gpu_destroy_queue(&a);
    gpu_destroy_queue(&b);
}

static void many(void) {
    static struct gpu_queue_handle all[40];
    bool good = true;
    uint64_t last[40];
    for (unsigned i = 0; i < 40; ++i)
        gpu_create_queue(&all[i], &node, 0, 4, GPU_SIGNALS_ON_DEVICE | GPU_SMALL_SCRATCH, i % 3);
    clear_log();
    const gpu_address words = log_at;
    for (unsigned round = 0; round < 2; ++round)
        for (unsigned i = 0; i < 40; ++i) last[i] = driver_launch(&all[i], "good", 1, words, 0);
    for (unsigned i = 0; i < 40; ++i) good &= gpu_wait(&all[i], last[i]) == 0 && gpu_destroy_queue(&all[i]);
    check("forty queues", good);
}

int main(void) {
    driver_start();
    log_at = gpu_allocate_on(&node, 0, GPU_PAGE);
    struct gpu_queue_handle q;
    gpu_create_queue(&q, &node, 0, PACKETS, GPU_SMALL_SCRATCH, 1);
    places();
    barriers(&q);
    order(&q);
    unwritten(&q);
    priorities();
    round_robin();
    scopes(&q);
    vendor(&q);
    streams(&q);
    interrupts(&q);
    harts();
    many();
    return 0;
}
