/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/compnet/backend.h"

#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/timer.h"
#include "network/service.h"

enum { LOG_SQ_SIZE = BACKEND_LOG_SQ_SIZE, LOG_COMPLETIONS = 7, PITCH = 8192, ACKNOWLEDGE_TIMEOUT_US = 10000 };

const char* const backend_names[] = {"compnet", "ghn", "gpu_native", "hdn", "cpu", "gds", NULL};
const char* const backend_queue_placement_names[] = {"poster", "gpu", "host", NULL};
const char* const backend_request_names[] = {"host", "gpu", NULL};

const char* backend_name(enum backend_kind kind) { return backend_names[kind]; }

void backend_barrier(struct backend* s) {
    for (unsigned i = 0; i < s->bootstrap->comm.size; ++i)
        if (i != s->bootstrap->comm.rank) bootstrap_barrier_with(s->bootstrap, i);
}

static struct network_segments make_segments(const struct backend* s) {
    return (struct network_segments){.comm = {s->bootstrap->comm.rank, s->bootstrap->comm.size}};
}

struct network_segments backend_payload_segments(const struct backend* s) {
    struct network_segments all = make_segments(s);
    for (unsigned i = 0; i < all.comm.size; ++i)
        all.memory[i] = i == all.comm.rank ? s->payload.lanes : s->remote[i].payload;
    return all;
}

struct network_segments backend_control_segments(const struct backend* s) {
    struct network_segments all = make_segments(s);
    for (unsigned i = 0; i < all.comm.size; ++i)
        all.memory[i] = i == all.comm.rank ? s->control.lanes : s->remote[i].control;
    return all;
}

/* ---- what they are told ---- */

/* Queue pairs with every other node, for a poster: a thread or a work-group. */
static void make_qps(struct backend* s, struct network_peer* peers) {
    const bool lanes = s->kind == BACKEND_COMPNET || s->kind == BACKEND_GPU_NATIVE || s->kind == BACKEND_GDS;
    const bool in_gpu = s->queue_pairs == BACKEND_QUEUES_WITH_POSTER ? lanes : s->queue_pairs == BACKEND_QUEUES_IN_GPU;
    const struct endpoint_shape shape = {
        .qps = 1,
        .log_sq_size = LOG_SQ_SIZE,
        .log_rq_size = 1,
        .log_cq = LOG_COMPLETIONS,
        .lanes = lanes,
        .queues_in_gpu = in_gpu && s->kind != BACKEND_GDS, /* there the program writes them */
        .cqs_in_gpu = in_gpu,
        .records_in_gpu = in_gpu,
        .ack_timeout = BACKEND_ACK_TIMEOUT,
        .payload_in_gpu = false,
        .payload = HCA_PAGE};
    for (unsigned i = 0; i < s->bootstrap->comm.size; ++i) {
        if (i == s->bootstrap->comm.rank || (s->peers && !(s->peers >> i & 1))) continue;
        struct endpoint* e = heap_allocate(sizeof *e);
        if (!e) panic("backend: out of memory");
        endpoint_open(e, s->bootstrap, s->node, i, &shape);
        peers[i] = (struct network_peer){endpoint_rdma_qps(e), endpoint_rdma_cqs(e), s->mr.key, s->remote[i].rkey};
    }
}

static void make_memory(struct backend* s) {
    const uint64_t bytes = (s->payload_bytes + HCA_PAGE - 1) & ~(uint64_t)(HCA_PAGE - 1);
    s->payload = rdma_buffer_allocate(s->node, bytes + HCA_PAGE, s->kind != BACKEND_CPU);
    if (!rdma_buffer_register(&s->mr, &s->bootstrap->pd, &s->payload, VERBS_ALL_RIGHTS))
        panic("backend: the payload cannot be registered");
    s->control = s->payload;
    s->control_mr = s->mr;
    s->control.lanes += bytes;
    s->control.memory.at += bytes;
    if (!backend_is_host_driven(s)) return;
    s->control = rdma_buffer_allocate(s->node, HCA_PAGE, false);
    if (!rdma_buffer_register(&s->control_mr, &s->bootstrap->pd, &s->control, VERBS_ALL_RIGHTS))
        panic("backend: flags cannot be registered");
}

static void exchange_keys(struct backend* s) {
    const struct backend_remote local = {s->payload.lanes, s->control.lanes, s->mr.key, s->control_mr.key};
    for (unsigned i = 0; i < s->bootstrap->comm.size; ++i)
        if (i != s->bootstrap->comm.rank) bootstrap_exchange(s->bootstrap, i, &local, &s->remote[i], sizeof local);
}

/* Queue g is thread g % threads' own: those of one thread lie together. */
static uint64_t offset_of(const struct backend* s, unsigned group) {
    const unsigned each = (s->groups + s->threads - 1) / s->threads;
    return (uint64_t)(group % s->threads * each + group / s->threads) * PITCH;
}

static void write_access(struct backend* s) {
    s->access = rdma_buffer_allocate(s->node, s->groups * sizeof(struct network_access), true);
    for (unsigned g = 0; g < s->groups; ++g) {
        struct network_access a = {
            .backend = s->kind == BACKEND_GPU_NATIVE ? NETWORK_GPU_NATIVE : NETWORK_BY_SERVICE_THREAD,
            .peers = s->bootstrap->comm.size,
            .log_entries = s->log_entries};
        if (s->kind == BACKEND_GPU_NATIVE)
            make_qps(s, a.peer);
        else
            a.queue = s->queues.lanes + offset_of(s, g);
        if (s->rings) {
            a.doorbells = s->doorbells.lanes + g % s->threads * sizeof(struct network_doorbells);
            a.doorbell = g / s->threads;
        }
        rdma_buffer_write(s->node, &s->access, g * sizeof a, &a, sizeof a);
    }
}

/* ---- threads ---- */

static struct network_service* host_threads[BACKEND_MAX_THREADS];
static volatile bool stop_requested;

static void serve(void* argument) {
    struct network_service* t = argument;
    while (!stop_requested)
        if (!network_service_poll(t)) relax();
}

static uintptr_t processor_entry(const struct backend* s, unsigned hart) {
    return s->node->gpu[0].registers + GPU_SRAM_WINDOW + GPU_SRAM_NETWORK + hart * sizeof(struct gpu_network);
}

static void set_processor(struct backend* s, unsigned hart, uint32_t state) {
    const uintptr_t at = processor_entry(s, hart);
    mmio_write64(at + offsetof(struct gpu_network, descriptor),
                 s->descriptors.lanes + hart * sizeof(struct network_service_descriptor));
    mmio_write64(at + offsetof(struct gpu_network, lines), gpu_physical(s->node, s->queues.lanes));
    mmio_write64(at + offsetof(struct gpu_network, lines_bytes), s->queues.memory.bytes);
    mmio_write32(at + offsetof(struct gpu_network, lock), s->lock);
    mmio_write32(at + offsetof(struct gpu_network, state), state);
    mmio_write32(s->node->gpu[0].registers + GPU_HOST_REQUEST, 1);
    for (unsigned waited_us = 0; mmio_read32(at + offsetof(struct gpu_network, acknowledged)) != state;
         waited_us += 10) {
        if (waited_us > ACKNOWLEDGE_TIMEOUT_US)
            panic("backend: hart %u of the command processor does not answer", hart);
        timer_wait(10);
    }
}

static void start_thread(struct backend* s, unsigned thread) {
    if (s->kind == BACKEND_COMPNET) {
        set_processor(s, thread, GPU_QUEUE_ACTIVE);
        return;
    }
    struct network_service* t = heap_allocate(sizeof *t);
    if (!t) panic("backend: out of memory");
    memset(t, 0, sizeof *t);
    network_service_start(t, (const struct network_service_descriptor*)s->descriptors.memory.at + thread, 0);
    host_threads[thread] = t;
    if (!hart_start(thread + 1, serve, t)) panic("backend: hart %u of the host is missing", thread + 1);
}

static void start_threads(struct backend* s) {
    const bool in_gpu = s->kind == BACKEND_COMPNET;
    const unsigned each = (s->groups + s->threads - 1) / s->threads;
    const uint64_t bytes = (uint64_t)s->threads * each * PITCH;
    const unsigned harts = in_gpu ? mmio_read32(s->node->gpu[0].registers + GPU_CP_HARTS) : machine.harts - 1;
    if (s->threads > harts)
        usage_error("threads=%u: %u at most, harts %s", s->threads, harts,
                    in_gpu ? "of the command processor" : "of the host besides the one that runs the program");
    s->queues = rdma_buffer_allocate(s->node, bytes, in_gpu || s->requests_in_gpu);
    if (s->rings) s->doorbells = rdma_buffer_allocate(s->node, s->threads * sizeof(struct network_doorbells), true);
    s->descriptors = rdma_buffer_allocate(s->node, s->threads * sizeof(struct network_service_descriptor), in_gpu);
    stop_requested = false;
    for (unsigned i = 0; i < s->threads; ++i) {
        const uint64_t first = (in_gpu ? s->queues.lanes : s->queues.memory.at) + (uint64_t)i * each * PITCH;
        struct network_service_descriptor descriptor = {.queues = (s->groups - i + s->threads - 1) / s->threads,
                                                        .log_entries = s->log_entries,
                                                        .peers = s->bootstrap->comm.size,
                                                        .first_queue = first,
                                                        .pitch = PITCH};
        if (s->rings) descriptor.doorbells = s->doorbells.lanes + i * sizeof(struct network_doorbells);
        make_qps(s, descriptor.peer);
        rdma_buffer_write(s->node, &s->descriptors, i * sizeof descriptor, &descriptor, sizeof descriptor);
        start_thread(s, i);
    }
}

void backend_open(struct backend* s) {
    make_memory(s);
    exchange_keys(s);
    if (s->kind == BACKEND_COMPNET || s->kind == BACKEND_GHN) start_threads(s);
    if (backend_is_in_kernel(s))
        write_access(s);
    else
        make_qps(s, s->peer);
    backend_barrier(s);
}

void backend_close(struct backend* s) {
    backend_barrier(s);
    stop_requested = true;
    if (mmio_read32(s->node->gpu[0].registers + GPU_CP_STATUS) == GPU_FIRMWARE_CRASHED)
        return; /* a crashed service does not answer */
    for (unsigned i = 0; s->kind == BACKEND_COMPNET && i < s->threads; ++i) set_processor(s, i, GPU_QUEUE_FREE);
    for (unsigned i = 0; s->kind == BACKEND_GHN && i < s->threads; ++i) hart_join(i + 1);
}
