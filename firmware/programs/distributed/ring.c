/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/distributed/ring.h"

#include "drivers/gpu/images.h"
#include "gpu/kernels/network_copy.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "lib/timer.h"

enum {
    QUEUE_PACKETS = 64,
    MAX_KERNELS = 8,
    COPY_GROUP = 256,
    COPY_GROUPS = 64,
    ARRIVAL_LIMIT_US = 2000000,
    /* In a channel's memory: what is written to the other node, what is read back from there, and numbers that the
     * other one writes, by direction. */
    OUT_AT = 0,
    FLUSH_AT = 64,
    ARRIVED_AT = 128,
    ARRIVED_PITCH = 64,
    CHANNEL_BYTES = 4096
};

static struct {
    const struct image* image;
    struct gpu_kernel of[MAX_GPUS];
} kernels[MAX_KERNELS];

static bool is_connected(const struct ring* r) { return r->nodes > 1; }
static unsigned end_of(const struct ring* r, enum ring_direction d) { return d == RING_UP ? r->gpus - 1 : 0; }

/* ---- beginning ---- */

static void find_gpus(struct ring* r, struct pci_host* pci) {
    static struct gpu_node all, one[MAX_GPUS];
    gpu_require(&all, pci);
    gpu_print(&all);
    r->gpus = all.count;
    r->linked = gpu_connected_count(&all) == all.count;
    for (unsigned g = 0; g < r->gpus; ++g) {
        if (!r->linked) gpu_isolate(&one[g], &all, g);
        r->member[g].node = r->linked ? &all : &one[g];
    }
}

/* Each node learns how many GPUs all nodes have. */
static void count_members(struct ring* r) {
    r->size = r->gpus;
    for (unsigned n = 0; n < r->nodes; ++n) {
        uint64_t gpus = r->gpus, theirs = 0;
        if (n == r->node) continue;
        bootstrap_exchange(r->bootstrap, n, &gpus, &theirs, sizeof gpus);
        r->size += (unsigned)theirs;
        if (n < r->node) r->first += (unsigned)theirs;
    }
    if (r->size > RING_MAX_MEMBERS) usage_error("%u GPUs: up to %u take part", r->size, RING_MAX_MEMBERS);
}

static void open_member(struct ring* r, unsigned g) {
    struct ring_member* m = &r->member[g];
    m->memory = gpu_allocate_contiguous(m->node, g, r->bytes);
    gpu_create_queue(&m->compute, m->node, g, QUEUE_PACKETS, 0, 1);
    gpu_create_queue(&m->copy, m->node, g, QUEUE_PACKETS, GPU_SMALL_SCRATCH, 2);
}

/* Neighbours in order of their numbers, so that no two nodes wait for each other. */
static void open_channels(struct ring* r) {
    const struct channel_shape shape = {
        .type = HCA_QP_RC, .log_sq_size = 4, .log_rq_size = 1, .elements = 1, .bytes = CHANNEL_BYTES};
    const unsigned neighbour[2] = {(r->node + 1) % r->nodes, (r->node + r->nodes - 1) % r->nodes};
    struct key {
        uint64_t address, rkey;
    } local[2], remote[2];
    for (unsigned d = 0; d < 2; ++d) {
        struct ring_member* m = &r->member[end_of(r, d)];
        const struct verbs_memory memory = {gpu_host_address(m->node, m->memory), gpu_bus_address(m->node, m->memory),
                                            r->bytes};
        if (!m->mr.key &&
            !verbs_register(&m->mr, &r->bootstrap->pd, &memory, m->memory, VERBS_ALL_RIGHTS, VERBS_LOG_PAGE))
            panic("ring: the memory of gpu%u cannot be registered", end_of(r, d));
        local[d] = (struct key){m->memory, m->mr.key};
    }
    for (unsigned n = 0; n < r->nodes; ++n) {
        if (n != neighbour[RING_UP] && n != neighbour[RING_DOWN]) continue;
        struct channel* c = heap_allocate(sizeof *c);
        if (!c) panic("ring: out of memory");
        channel_open(c, r->bootstrap, n, &shape);
        memset(channel_at(c, 0), 0, CHANNEL_BYTES);
        bootstrap_exchange(r->bootstrap, n, local, remote, sizeof local);
        for (unsigned d = 0; d < 2; ++d)
            if (n == neighbour[d]) /* the nearest member there: its first one upwards, its last one downwards */
                r->neighbour[d] = (struct ring_neighbour){c, remote[!d].address, (uint32_t)remote[!d].rkey};
    }
}

void ring_open(struct ring* r, struct pci_host* pci, struct bootstrap* bootstrap, uint64_t bytes) {
    r->bootstrap = bootstrap;
    r->node = bootstrap ? bootstrap->comm.rank : 0;
    r->nodes = bootstrap ? bootstrap->comm.size : 1;
    r->bytes = (bytes + GPU_PAGE - 1) & ~(uint64_t)(GPU_PAGE - 1);
    r->first = 0;
    find_gpus(r, pci);
    count_members(r);
    for (unsigned g = 0; g < r->gpus; ++g) open_member(r, g);
    if (is_connected(r)) open_channels(r);
    ring_load(r, "network_copy");
    ring_barrier(r);
}

void ring_barrier(struct ring* r) {
    if (is_connected(r)) bootstrap_barrier(r->bootstrap);
}

/* ---- kernels ---- */

static struct gpu_kernel find_kernel(struct ring* r, unsigned g, const char* name) {
    const struct image* image = find_image(name);
    if (!image) panic("no kernel '%s'", name);
    unsigned n = 0;
    while (n < MAX_KERNELS && kernels[n].image && kernels[n].image != image) ++n;
    if (n == MAX_KERNELS) panic("ring: too many kernels");
    kernels[n].image = image;
    struct gpu_kernel* k = &kernels[n].of[r->linked ? 0 : g];
    if (k->object) return *k;
    const gpu_address at = gpu_load_image(r->member[g].node, image->start, image->bytes);
    if (at) *k = gpu_find_kernel(r->member[g].node, image->start, image->bytes, at, name);
    if (!k->object) panic("kernel '%s' is malformed", name);
    return *k;
}

void ring_load(struct ring* r, const char* kernel) {
    for (unsigned g = 0; g < r->gpus; ++g) find_kernel(r, g, kernel);
}

uint64_t ring_launch(struct ring* r, unsigned g, const char* kernel, const struct gpu_grid* grid, const void* arguments,
                     uint32_t bytes) {
    return gpu_dispatch(&r->member[g].compute, find_kernel(r, g, kernel), grid, arguments, bytes);
}

static void wait_for(struct ring* r, struct gpu_queue_handle* queue, uint64_t packet) {
    const unsigned fault = gpu_wait(queue, packet);
    if (!fault) return;
    console_printf("gpu%u: a kernel ended with '%s'\n", queue->gpu->index, gpu_fault_name(fault));
    gpu_print_faults(queue->node, queue->gpu);
    r->failed = true;
}

void ring_wait(struct ring* r, unsigned g, uint64_t packet) { wait_for(r, &r->member[g].compute, packet); }

/* ---- transfers ---- */

/* Stores of the giving GPU over the fabric. \returns the packet */
static uint64_t push(struct ring* r, unsigned from, unsigned to, const struct ring_transfer* t) {
    const struct network_copy_arguments a = {.from = r->member[from].memory + t->from,
                                             .to = r->member[to].memory + t->to,
                                             .count = (uint32_t)(t->bytes / 4)};
    const uint64_t groups = (t->bytes / 4 + COPY_GROUP - 1) / COPY_GROUP;
    const struct gpu_grid grid = {.items = {COPY_GROUP * (uint32_t)(groups < COPY_GROUPS ? groups : COPY_GROUPS)},
                                  .group = {COPY_GROUP}};
    return gpu_dispatch(&r->member[from].copy, find_kernel(r, from, "network_copy"), &grid, &a, sizeof a);
}

/* The copy engine of the giving GPU writes over PCI Express; what is read behind the last byte shows that it is there.
 */
static void copy(struct ring* r, unsigned from, unsigned to, const struct ring_transfer* t) {
    const struct ring_member *f = &r->member[from], *w = &r->member[to];
    struct gpu* g = &f->node->gpu[from];
    const uint64_t there = gpu_bus_address(w->node, w->memory) + t->to;
    r->failed |= gpu_copy_post(g, false, there, gpu_physical(f->node, f->memory) + t->from, t->bytes) != 0;
    copy_channel_post_flush(&g->copies[g->copy_channels - 1], there, (uint32_t)t->bytes);
    gpu_copy_start(g, false);
}

static void request(struct ring* r, struct channel* c, struct verbs_send_request q, struct verbs_sge e) {
    struct verbs_completion done;
    q.list = &e;
    const unsigned syndrome = channel_send(c, &q, &done);
    if (!syndrome) return;
    console_printf("node%u: RDMA to node%u: %s\n", r->node, c->with,
                   syndrome == NO_COMPLETION ? "no completion" : verbs_syndrome_name(syndrome));
    r->failed = true;
}

/* Writes to the nearest member of the other node, reads the last bytes back, so that they are in its memory, and tells
 * the number of this transfer. */
static void send(struct ring* r, enum ring_direction d, const struct ring_transfer* t) {
    const struct ring_neighbour* to = &r->neighbour[d];
    const struct ring_member* m = &r->member[end_of(r, d)];
    struct verbs_sge e;
    struct verbs_send_request write = channel_request(to->channel, HCA_OP_WRITE, &e, 0, 0, 0), flush = write;
    write.rkey = flush.rkey = to->rkey;
    write.remote = to->address + t->to;
    request(r, to->channel, write, (struct verbs_sge){m->memory + t->from, m->mr.key, (uint32_t)t->bytes});
    flush.opcode = HCA_OP_READ;
    flush.remote = write.remote + t->bytes - 4;
    e = (struct verbs_sge){to->channel->memory.at + FLUSH_AT, to->channel->mr.key, 4};
    request(r, to->channel, flush, e);
    *(volatile uint64_t*)channel_at(to->channel, OUT_AT) = r->transfers[d];
    const struct verbs_send_request tell =
        channel_request(to->channel, HCA_OP_WRITE, &e, OUT_AT, ARRIVED_AT + ARRIVED_PITCH * d, 8);
    request(r, to->channel, tell, e);
}

static void wait_for_arrival(struct ring* r, enum ring_direction d) {
    const struct channel* c = r->neighbour[!d].channel;
    const volatile uint64_t* arrived = (const volatile uint64_t*)channel_at(c, ARRIVED_AT + ARRIVED_PITCH * d);
    const uint64_t begin = timer_now();
    while (*arrived < r->transfers[d]) {
        bootstrap_poll_delay();
        if (!timer_wait_more(begin, ARRIVAL_LIMIT_US)) panic("ring: nothing comes from node%u", c->with);
    }
    __asm__ volatile("fence iorw, iorw" ::: "memory");
}

void ring_shift(struct ring* r, enum ring_direction d, ring_transfers of, const void* context) {
    uint64_t packet[MAX_GPUS];
    enum { NONE, FABRIC, PCIE } way[MAX_GPUS] = {NONE};
    struct ring_transfer out = {0}, in = {0};
    ++r->transfers[d];
    for (unsigned g = 0; g < r->gpus && r->size > 1; ++g) {
        const struct ring_transfer t = of(context, r->first + g);
        const bool leaves = g == end_of(r, d);
        if (leaves && is_connected(r)) out = t;
        if (!t.bytes || (leaves && is_connected(r))) continue;
        const unsigned to = (g + (d == RING_UP ? 1 : r->gpus - 1)) % r->gpus;
        way[g] = r->linked ? FABRIC : PCIE;
        if (r->linked)
            packet[g] = push(r, g, to, &t);
        else
            copy(r, g, to, &t);
    }
    if (is_connected(r)) {
        const unsigned before = r->first + (d == RING_UP ? r->size - 1 : r->gpus);
        in = of(context, before % r->size);
        if (out.bytes) send(r, d, &out);
    }
    for (unsigned g = 0; g < r->gpus; ++g) {
        if (way[g] == FABRIC) wait_for(r, &r->member[g].copy, packet[g]);
        if (way[g] == PCIE) r->failed |= gpu_copy_wait(&r->member[g].node->gpu[g], false) != 0;
    }
    if (in.bytes) wait_for_arrival(r, d);
}

void ring_write(struct ring* r, unsigned g, uint64_t offset, const void* from, uint64_t bytes) {
    r->failed |= gpu_copy_to(r->member[g].node, r->member[g].memory + offset, from, bytes) != 0;
}

void ring_read(struct ring* r, unsigned g, void* to, uint64_t offset, uint64_t bytes) {
    r->failed |= gpu_copy_from(r->member[g].node, to, r->member[g].memory + offset, bytes) != 0;
}
