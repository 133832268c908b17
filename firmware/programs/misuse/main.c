/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use queue pairs wrongly: what is dropped, what fails, what a program hears of it, and that others
 * are unharmed. Each case leaves a second queue pair, with a page of doorbells of its own, at work. Both nodes run
 * this; node 0 has the kernel. */
#include "drivers/gpu_rdma/endpoint.h"
#include "gpu/kernels/rdma_misuse.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"

enum { BYTES = 4096, LOG_SQ_SIZE = 4, LOG_CQ_ENTRIES = 5, POLLS = 2000, UNTOUCHED = 0xa5, WORD = 8 };
static const uint64_t first_word = 0x1122334455667788;

static struct bootstrap bootstrap;
static struct gpu_node node;
static struct gpu_queue_handle queue;
static struct endpoint one, other; /* whose queues are used wrongly; whose are not */
enum { STRAYS = 3 };
static struct endpoint strays[STRAYS]; /* for requests that name another domain's memory */
static struct rdma_buffer results;
static struct neighbour { /* another process of this node: a protection domain of its own, and memory that it has
                             registered */
    struct verbs_pd pd;
    struct rdma_buffer memory;
    struct verbs_mr mr;
} neighbour;
struct named {
    uint64_t address;
    uint32_t key;
};
static struct named others_neighbour; /* that of the other node */
static unsigned wrong;

struct state { /* how far the queues of an endpoint have come */
    uint32_t head, consumer;
    uint64_t writes;
};
static struct state of_one, of_other;

static void report(const char* what, bool ok) {
    console_printf("%s %s\n", what, ok ? "ok" : "FAILED");
    wrong += !ok;
}

static struct gpu_kernel kernel(void) { return gpu_linked_kernel(&node, "rdma_misuse", "rdma_misuse"); }

static struct rdma_misuse_arguments arguments_of(struct endpoint* e, const struct state* s) {
    struct rdma_misuse_arguments a = {.result = results.lanes,
                                      .local = e->payload.lanes,
                                      .remote = e->remote.address + s->writes * WORD,
                                      .lkey = e->mr.key,
                                      .rkey = e->remote.rkey,
                                      .head = s->head,
                                      .consumer = s->consumer,
                                      .doorbell_entries = 1,
                                      .polls = POLLS};
    rdma_buffer_read(&node, &a.qp, &e->descriptors, 0, sizeof a.qp);
    rdma_buffer_read(&node, &a.cq, &e->descriptors, sizeof a.qp, sizeof a.cq);
    return a;
}

/* \returns the fault that ended the kernel, 0 if none did */
static unsigned run(const struct rdma_misuse_arguments* a, struct rdma_misuse_result* r) {
    const struct gpu_grid grid = {.items = {1, 1, 1}, .group = {1, 1, 1}};
    const unsigned fault = gpu_wait(&queue, gpu_dispatch(&queue, kernel(), &grid, a, sizeof *a));
    rdma_buffer_read(&node, r, &results, 0, sizeof *r);
    return fault;
}

/* One write as it should be. */
static bool works(struct endpoint* e, struct state* s) {
    struct rdma_misuse_result r;
    const struct rdma_misuse_arguments a = arguments_of(e, s);
    if (run(&a, &r) || r.syndrome) return false;
    ++s->head, ++s->consumer, ++s->writes;
    return true;
}

static enum hca_qp_state state_of(struct verbs_qp* q) {
    uint8_t context[HCA_QPC_SIZE];
    if (!verbs_query_qp(q, context)) panic("the queue pair cannot be queried");
    return (enum hca_qp_state)hca_get(context, HCA_QPC_STATE);
}

static void foreign_page(void) {
    struct rdma_misuse_result r;
    struct rdma_misuse_arguments a = arguments_of(&one, &of_one);
    a.qp.doorbell = arguments_of(&other, &of_other).qp.doorbell;
    bool ok = !run(&a, &r) && r.syndrome == RDMA_NO_COMPLETION && r.polls == POLLS;
    a = arguments_of(&one, &of_one);
    a.qp.number ^= 0x800000; /* no queue pair's */
    ok = ok && !run(&a, &r) && r.syndrome == RDMA_NO_COMPLETION;
    report("doorbells of another page, of no queue pair: silence,", ok && state_of(&one.qp[0]) == HCA_QP_RTS);
    report("both queue pairs work", works(&one, &of_one) && works(&other, &of_other));
}

static void unmapped_queue(void) {
    struct rdma_misuse_result r;
    struct rdma_misuse_arguments a = arguments_of(&one, &of_one);
    a.qp.send_queue = node.next + GPU_LARGE_PAGE;
    const unsigned fault = run(&a, &r);
    gpu_print_faults(&node, &node.gpu[0]);
    report("entries in memory that is not mapped: a fault,", fault == GPU_FAULT_UNMAPPED && gpu_reset_queue(&queue));
    a = arguments_of(&one, &of_one);
    a.cq.entries = node.next + GPU_LARGE_PAGE;
    const unsigned second = run(&a, &r); /* the write has been posted */
    ++of_one.head, ++of_one.consumer, ++of_one.writes;
    gpu_print_faults(&node, &node.gpu[0]);
    report("completions in memory that is not mapped: a fault,",
           second == GPU_FAULT_UNMAPPED && gpu_reset_queue(&queue));
    report("both queue pairs work", works(&one, &of_one) && works(&other, &of_other));
}

static void beyond_ring(void) {
    struct rdma_misuse_result r;
    const volatile uint32_t* events = &bootstrap.hca.events[HCA_EVENT_WQ_CATASTROPHIC_ERROR];
    verbs_poll_events(&bootstrap.hca);
    const uint32_t before = *events;
    struct rdma_misuse_arguments a = arguments_of(&one, &of_one);
    a.doorbell_entries = (1 << LOG_SQ_SIZE) + 1;
    const bool silent = !run(&a, &r) && r.syndrome == RDMA_NO_COMPLETION;
    verbs_poll_events(&bootstrap.hca);
    report("posting beyond the ring: an event, the queue pair has failed,",
           silent && *events == before + 1 && state_of(&one.qp[0]) == HCA_QP_ERR);
    report("the other queue pair works", state_of(&other.qp[0]) == HCA_QP_RTS && works(&other, &of_other));
}

static void destroyed_cq(void) {
    struct rdma_misuse_result r;
    static uint8_t before[HCA_CQE_SIZE << LOG_CQ_ENTRIES], after[sizeof before];
    struct rdma_buffer entries = {
        .memory = other.cq[0].buffer.memory, .lanes = arguments_of(&other, &of_other).cq.entries, .in_gpu = true};
    verbs_destroy_cq(&other.cq[0]);
    rdma_buffer_read(&node, before, &entries, 0, sizeof before);
    const struct rdma_misuse_arguments a = arguments_of(&other, &of_other);
    const bool silent = !run(&a, &r) && r.syndrome == RDMA_NO_COMPLETION;
    ++of_other.writes;
    rdma_buffer_read(&node, after, &entries, 0, sizeof after);
    report("a completion queue that is gone: silence, and its memory stays as it was,",
           silent && memcmp(before, after, sizeof before) == 0);
}

/* A request that names memory which its queue pair has no right to. \returns whether the kernel was told so, and its
 * queue pair has failed */
static bool is_refused(unsigned stray, const struct named* local, const struct named* remote, unsigned syndrome) {
    struct rdma_misuse_result r;
    struct endpoint* e = &strays[stray];
    const struct state fresh = {0};
    struct rdma_misuse_arguments a = arguments_of(e, &fresh);
    if (local) a.local = local->address, a.lkey = local->key;
    if (remote) a.remote = remote->address, a.rkey = remote->key;
    return !run(&a, &r) && r.syndrome == syndrome && state_of(&e->qp[0]) == HCA_QP_ERR;
}

static void foreign_memory(void) {
    const struct named local = {neighbour.memory.lanes, neighbour.mr.key},
                       beyond = {strays[2].remote.address + BYTES, strays[2].remote.rkey};
    report("sending what belongs to another process of this node: an error,",
           is_refused(0, &local, NULL, HCA_LOCAL_PROTECTION));
    report("writing to another process of the other node: an error,",
           is_refused(1, NULL, &others_neighbour, HCA_REMOTE_ACCESS));
    report("writing beyond a region's end: an error,", is_refused(2, NULL, &beyond, HCA_REMOTE_ACCESS));
    report("both queue pairs work", works(&one, &of_one) && works(&other, &of_other));
}

/* Memory that must not have been written. */
static bool is_untouched(const struct rdma_buffer* p) {
    static uint64_t words[BYTES / 8];
    bool ok = true;
    rdma_buffer_read(&node, words, p, 0, sizeof words);
    for (unsigned w = 0; w < BYTES / 8; ++w) ok = ok && words[w] == UINT64_C(0x0101010101010101) * UNTOUCHED;
    return ok;
}

static void open_neighbour(void) {
    static uint8_t bytes[BYTES];
    memset(bytes, UNTOUCHED, BYTES);
    neighbour.memory = rdma_buffer_allocate(&node, BYTES, true);
    if (!verbs_open_pd(&neighbour.pd, &bootstrap.hca) ||
        !rdma_buffer_register(&neighbour.mr, &neighbour.pd, &neighbour.memory, VERBS_ALL_RIGHTS))
        panic("there is no neighbour");
    rdma_buffer_write(&node, &neighbour.memory, 0, bytes, BYTES);
    const struct named received = {neighbour.memory.lanes, neighbour.mr.key};
    bootstrap_exchange(&bootstrap, bootstrap.comm.rank ^ 1, &received, &others_neighbour, sizeof received);
}

/* What has been written at the other node: so many words each, and nothing behind. */
static void exchange_and_check(void) {
    uint64_t local[2] = {of_one.writes, of_other.writes}, remote[2];
    bootstrap_exchange(&bootstrap, bootstrap.comm.rank ^ 1, local, remote, sizeof local);
    report("the neighbour's memory is untouched", is_untouched(&neighbour.memory));
    if (!bootstrap.comm.rank) return;
    bool clean = true;
    for (unsigned i = 0; i < STRAYS; ++i) clean = is_untouched(&strays[i].payload) && clean;
    report("nothing that was refused has been written", clean);
    struct endpoint* const all[] = {&one, &other};
    for (unsigned i = 0; i < 2; ++i) {
        static uint64_t words[BYTES / 8];
        bool ok = true;
        rdma_buffer_read(&node, words, &all[i]->payload, 0, sizeof words);
        for (unsigned w = 0; w < BYTES / 8; ++w)
            ok = ok && words[w] == (w < remote[i] ? first_word : UINT64_C(0x0101010101010101) * UNTOUCHED);
        report(i ? "what the other one wrote" : "what the first one wrote", ok);
    }
}

int main(void) {
    bootstrap_init(&bootstrap, 2);
    gpu_require(&node, &bootstrap.pci);
    gpu_create_queue(&queue, &node, 0, 4, GPU_SMALL_SCRATCH, 1);
    results = rdma_buffer_allocate(&node, sizeof(struct rdma_misuse_result), true);
    const struct endpoint_shape shape = {.qps = 1,
                                         .log_sq_size = LOG_SQ_SIZE,
                                         .log_rq_size = 1,
                                         .log_cq = LOG_CQ_ENTRIES,
                                         .lanes = true,
                                         .queues_in_gpu = true,
                                         .cqs_in_gpu = true,
                                         .records_in_gpu = true,
                                         .payload_in_gpu = true,
                                         .payload = BYTES};
    static uint8_t bytes[BYTES];
    open_neighbour();
    for (unsigned i = 0; i < 2 + STRAYS; ++i) {
        struct endpoint* e = i == 0 ? &one : i == 1 ? &other : &strays[i - 2];
        endpoint_open(e, &bootstrap, &node, bootstrap.comm.rank ^ 1, &shape);
        memset(bytes, UNTOUCHED, BYTES);
        if (!bootstrap.comm.rank && i < 2) memcpy(bytes, &first_word, sizeof first_word);
        rdma_buffer_write(&node, &e->payload, 0, bytes, BYTES);
    }
    bootstrap_barrier_with(&bootstrap, bootstrap.comm.rank ^ 1);
    if (!bootstrap.comm.rank) {
        report("both queue pairs work", works(&one, &of_one) && works(&other, &of_other));
        foreign_memory();
        foreign_page();
        unmapped_queue();
        beyond_ring();
        destroyed_cq();
    }
    exchange_and_check();
    bootstrap_finalize(&bootstrap);
    console_printf("%s\n", wrong ? "FAILED" : "all ok, powering off");
    return wrong ? 1 : 0;
}
