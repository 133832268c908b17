/* SPDX-License-Identifier: Apache-2.0 */
/* What a running kernel sees of data that another node writes into its GPU's memory: node 1 writes words, and then says
 * so (a flag, or a completion); a kernel of node 0 waits for that and looks at the words. Options stand on the
 * kernel command line of node 0, which tells the other one. Lines that begin with "# " have measured figures. */
#include "drivers/bootstrap/measure.h"
#include "drivers/bootstrap/options.h"
#include "drivers/gpu/gpu.h"
#include "gpu/kernels/ordering.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"

/* The piece of device memory: data, flag (in a bank of its own), what the kernel has done, completions, lines for the
 * load. */
enum {
    DATA = 0,
    MAX_BYTES = 1 << 16,
    FLAG_AT = MAX_BYTES + 64 + 3 * 128,
    DONE_AT = FLAG_AT + 128,
    STOP_AT = DONE_AT + 128,
    RESULT_AT = STOP_AT + 128,
    COMPLETIONS_AT = 2 * MAX_BYTES,
    LOAD_AT = 4 * MAX_BYTES,
    MAX_ROUNDS = (1 << LOG_CQ) - 1,
    LANES = 64,
    LOADED_LINES = 64
};

enum { NODES, BYTES, ROUNDS, FLAG, READ, CHECK, FLUSH, HOST_COMPLETIONS, LOAD, STRIDE, OPTIONS };
static const char* const flag_names[] = {"same_write", "separate_write", "completion", NULL}; /* enum ordering_flag */
static const char* const read_names[] = {"plain", "acquire", "bypass", NULL};                 /* enum ordering_read */
static struct option options[OPTIONS] = {
    [NODES] = {"nodes", 2, 2, 2},
    [BYTES] = {"bytes", 4096, 4, MAX_BYTES}, /* of data, a multiple of 4 */
    [ROUNDS] = {"rounds", 100, 1, MAX_ROUNDS},
    [FLAG] = {"flag", ORDERING_SEPARATE_WRITE, .names = flag_names},
    [READ] = {"read", ORDERING_ACQUIRE, .names = read_names},
    [CHECK] = {"check", 1},                /* 1: the kernel computes CRCs */
    [FLUSH] = {"flush", 0},                /* 1: the writer reads from the GPU's memory between data and flag */
    [HOST_COMPLETIONS] = {"host_cq", 0},   /* 1: the completion queue lies in the host's memory, not in the GPU's */
    [LOAD] = {"load", 0},                  /* wavefronts that keep a bank of L2 busy */
    [STRIDE] = {"stride", 1024, 64, 8192}, /* bytes from one line of a bank to the next: banks times their interleave */
};

enum { MAX_POLLS = 100000 };

static struct bootstrap bootstrap;
static struct gpu_node node;
static struct gpu_queue_handle queue;
static struct channel channel;
static gpu_address block;
static struct verbs_memory host_completions;

static void check_options(void) {
    option_multiple(&options[BYTES], 4, "whole words");
    if (options[FLUSH].value && options[FLAG].value == ORDERING_SAME_WRITE)
        usage_error("flush=1: not with flag=same_write, where data and flag are one write");
    option_multiple(&options[STRIDE], 64, "whole lines");
}

static uint32_t crc32(const uint8_t* data, uint64_t bytes) {
    uint32_t crc = ~UINT32_C(0);
    for (uint64_t i = 0; i < bytes; ++i) {
        crc ^= data[i];
        for (unsigned bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ UINT32_C(0xedb88320) : crc >> 1;
    }
    return ~crc;
}

/* ---- the node with the GPU ---- */

static struct verbs_memory in_block(uint64_t offset, uint64_t bytes) {
    const uint64_t physical = gpu_physical(&node, block) + offset;
    return (struct verbs_memory){gpu_host_address(&node, block + offset),
                                 node.gpu[0].function->bars[GPU_BAR_MEMORY].address + (physical & GPU_PA_OFFSET_MASK),
                                 bytes};
}
static struct verbs_memory device_memory(struct bootstrap* p, uint64_t bytes) {
    (void)p;
    return in_block(DATA, bytes);
}
/* Two queues are asked for: of sends, then of receives, and no send is posted here. */
static struct verbs_memory device_completions(struct bootstrap* p, uint64_t bytes) {
    static unsigned number;
    (void)p;
    return in_block(COMPLETIONS_AT + number++ * (uint64_t)HCA_PAGE * 2, bytes);
}
static struct verbs_memory own_completions(struct bootstrap* p, uint64_t bytes) {
    (void)p;
    host_completions =
        verbs_host_memory(heap_allocate_aligned((bytes + HCA_PAGE - 1) & ~(uint64_t)(HCA_PAGE - 1), HCA_PAGE), bytes);
    return host_completions;
}

static void post_receives(void) {
    for (uint64_t i = 0; i < options[ROUNDS].value; ++i)
        if (verbs_post_receive(&channel.qp, &(struct verbs_receive_request){.id = i}, 1) != 1)
            panic("a receive does not fit");
}

static struct gpu_kernel kernel(void) { return gpu_linked_kernel(&node, "ordering_kernel", "ordering"); }

static void print(const struct ordering_result* r) {
    result_begin("ordering");
    result_u64("rounds", r->rounds);
    result_u64("wrong", r->wrong);
    result_u64("stale", r->stale);
    result_u64("early", r->early);
    result_u64("words", r->words);
    result_u64("found", r->found);
    result_u64("missed", r->missed);
    result_u64("alarms", r->alarms);
    result_end();
    result_begin("ordering_cycles");
    result_u64("clock_mhz", node.gpu[0].clock / 1000000);
    result_u64("acquiring", r->acquiring);
    result_u64("reading", r->reading);
    result_u64("repairing", r->repairing);
    result_u64("tries", r->tries);
    result_end();
}

static bool read_words(void) {
    const bool completions = options[FLAG].value == ORDERING_COMPLETION;
    gpu_create_queue(&queue, &node, 0, 4, GPU_SMALL_SCRATCH, 1);
    post_receives();
    const gpu_address cq = options[HOST_COMPLETIONS].value
                               ? gpu_map_host(&node, (void*)host_completions.at, HCA_PAGE * 2, false)
                               : block + COMPLETIONS_AT + HCA_PAGE * 2;
    const struct ordering_arguments a = {.data = block + DATA,
                                         .flag = completions ? cq
                                                 : options[FLAG].value == ORDERING_SAME_WRITE
                                                     ? block + DATA + ((options[BYTES].value + 7) & ~UINT64_C(7))
                                                     : block + FLAG_AT,
                                         .done = block + DONE_AT,
                                         .result = block + RESULT_AT,
                                         .load = block + LOAD_AT,
                                         .stop = block + STOP_AT,
                                         .words = (uint32_t)options[BYTES].value / 4,
                                         .rounds = (uint32_t)options[ROUNDS].value,
                                         .flag_kind = (uint32_t)options[FLAG].value,
                                         .read = (uint32_t)options[READ].value,
                                         .check = (uint32_t)options[CHECK].value,
                                         .completions = 1 << LOG_CQ,
                                         .stride = (uint32_t)options[STRIDE].value,
                                         .lines = LOADED_LINES,
                                         .polls = MAX_POLLS};
    const struct gpu_grid grid = {.items = {(uint32_t)(1 + options[LOAD].value) * LANES, 1, 1}, .group = {LANES, 1, 1}};
    const uint64_t packet = gpu_dispatch(&queue, kernel(), &grid, &a, sizeof a);
    bootstrap_barrier_with(&bootstrap, 1);
    region_begin("ordering");
    const unsigned fault = gpu_wait(&queue, packet);
    region_end();
    if (fault) {
        gpu_print_faults(&node, &node.gpu[0]);
        console_printf("the kernel has failed: %s\n", gpu_fault_name(fault));
        return false;
    }
    struct ordering_result r;
    gpu_read(&node, &r, block + RESULT_AT, sizeof r);
    print(&r);
    return !r.aborted && r.rounds == options[ROUNDS].value && !r.missed && !r.alarms;
}

/* ---- the node that writes ---- */

enum {
    OWN_FLAG = MAX_BYTES + 64,
    OWN_DONE = OWN_FLAG + 64,
    OWN_BYTES = OWN_DONE + 64,
    MAX_REQUESTS = 3,
    POSTED_ALONE = 32
};

static void wait_until_seen(uint64_t round) {
    struct verbs_sge e;
    struct verbs_completion c;
    const struct verbs_send_request r = channel_request(&channel, HCA_OP_READ, &e, OWN_DONE, DONE_AT, 8);
    for (unsigned tries = 0;; ++tries) {
        const unsigned status = channel_send(&channel, &r, &c);
        if (status) panic("the other node cannot be read: %s", verbs_syndrome_name(status));
        if (*(volatile uint64_t*)channel_at(&channel, OWN_DONE) == round) return;
        if (tries == 20000) panic("round %lu is not seen", round);
    }
}

/* Data, what flushes them, what tells of them; by one doorbell. */
static void write_round(uint64_t round) {
    const uint64_t bytes = options[BYTES].value, padded = (bytes + 7) & ~UINT64_C(7);
    uint32_t* words = (uint32_t*)channel_at(&channel, 0);
    for (uint32_t i = 0; i < bytes / 4; ++i) words[i] = ordering_word((uint32_t)round, i);
    const uint32_t sum = crc32((const uint8_t*)words, bytes);
    const uint64_t flag = round | (uint64_t)sum << 32;
    const bool behind = options[FLAG].value == ORDERING_SAME_WRITE,
               completion = options[FLAG].value == ORDERING_COMPLETION;
    memcpy(channel_at(&channel, behind ? padded : OWN_FLAG), &flag, sizeof flag);
    struct verbs_sge e[MAX_REQUESTS];
    struct verbs_send_request all[MAX_REQUESTS];
    unsigned count = 0;
    all[count] = channel_request(&channel, HCA_OP_WRITE, &e[count], 0, DATA, (uint32_t)(behind ? padded + 8 : bytes));
    ++count;
    if (options[FLUSH].value) {
        all[count] = channel_request(&channel, HCA_OP_READ, &e[count], OWN_DONE, DONE_AT, 8);
        ++count;
    }
    if (!behind) {
        all[count] = channel_request(&channel, completion ? HCA_OP_WRITE_IMMEDIATE : HCA_OP_WRITE, &e[count], OWN_FLAG,
                                     FLAG_AT, completion ? 0 : 8);
        if (completion)
            all[count].elements = 0;
        else
            all[count].flags |= VERBS_INLINE;
        all[count].immediate = sum;
        if (options[FLUSH].value) all[count].flags |= VERBS_FENCE;
        ++count;
    }
    if (verbs_post_send(&channel.qp, all, count) != count) panic("requests do not fit");
    struct verbs_completion c;
    for (unsigned i = 0; i < count; ++i)
        if (!verbs_wait(&channel.send_cq, &c, BOOTSTRAP_TIMEOUT_US) || c.syndrome)
            panic("round %lu: %s", round, verbs_syndrome_name(c.syndrome));
}

static bool write_all(void) {
    bootstrap_barrier_with(&bootstrap, 0);
    clock_start();
    uint64_t cycles = 0;
    for (uint64_t round = 1; round <= options[ROUNDS].value; ++round) {
        const uint64_t begin = clock_cycles();
        write_round(round);
        wait_until_seen(round);
        cycles += clock_cycles() - begin;
    }
    result_begin("round");
    result_u64("time_ps", clock_picoseconds(cycles) / options[ROUNDS].value);
    result_end();
    return true;
}

int main(void) {
    program_begin(&bootstrap, options, OPTIONS, check_options);
    const bool writer = bootstrap.comm.rank == 1;
    struct channel_shape s = {.type = HCA_QP_RC,
                              .log_sq_size = 7,
                              .log_rq_size = 9,
                              .elements = 1,
                              .inline_bytes = POSTED_ALONE,
                              .bytes = writer ? OWN_BYTES : COMPLETIONS_AT};
    if (!writer) {
        gpu_require(&node, &bootstrap.pci);
        block = gpu_allocate_large(&node, 0, GPU_LARGE_PAGE);
        s.memory = device_memory;
        s.cqs = options[HOST_COMPLETIONS].value ? own_completions : device_completions;
    }
    channel_open(&channel, &bootstrap, bootstrap.comm.rank ^ 1, &s);
    const bool right = writer ? write_all() : read_words();
    bootstrap_barrier_with(&bootstrap, bootstrap.comm.rank ^ 1);
    return program_end(right);
}
