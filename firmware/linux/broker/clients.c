/* SPDX-License-Identifier: Apache-2.0 */
/* What the broker does for processes, and when one has ended. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/copy_engine.h"
#include "lib/mmio.h"
#include "linux/broker/clients.h"
#include "linux/broker/devices.h"
#include "linux/messages.h"

enum { QUIET_US = 100 }; /* in which what a copy engine has sent arrives */

struct client clients[GPU_ADDRESS_SPACES];
static unsigned last; /* space that was given last: the others have been unused for longer */

void clients_start(void) {
    for (unsigned space = 0; space < GPU_ADDRESS_SPACES; ++space) clients[space].socket = -1;
}

unsigned clients_count(void) {
    unsigned count = 0;
    for (unsigned space = 0; space < GPU_ADDRESS_SPACES; ++space) count += clients[space].socket >= 0;
    return count;
}

/* ---- begin and end ---- */

static bool send_opened(int socket, unsigned space) {
    struct broker_opened opened = {
        .count = gpus.count, .space = space, .root = gpu_pages_root(space, clients[space].root_used)};
    int files[BROKER_MAX_FILES] = {host_pages_file(), devices_shared_file()};
    for (unsigned gpu = 0; gpu < gpus.count; ++gpu) {
        const struct pci_function* f = gpus.gpu[gpu].function;
        opened.gpu[gpu].bus = f->bus->number;
        opened.gpu[gpu].device = f->device;
        opened.gpu[gpu].resets = shared->resets[gpu];
        for (unsigned b = 0; b < PCI_BARS; ++b) opened.gpu[gpu].bar[b] = f->bars[b].address;
        for (unsigned b = 0; b < BROKER_BARS; ++b) files[2 + BROKER_BARS * gpu + b] = pci_bar_file(f, 2 * b);
    }
    return message_send_files(socket, &opened, sizeof opened, files, 2 + BROKER_BARS * gpus.count);
}

bool client_begin(int socket, uint64_t version) {
    struct broker_message no = {.kind = 1};
    struct ucred peer = {0};
    socklen_t bytes = sizeof peer;
    getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
    const int process = (int)syscall(SYS_pidfd_open, peer.pid, 0);
    for (unsigned i = 1; version == BROKER_VERSION && process >= 0 && i <= GPU_ADDRESS_SPACES; ++i) {
        const unsigned space = (last + i) % GPU_ADDRESS_SPACES;
        struct client* c = &clients[space];
        if (c->socket >= 0 || c->lost) continue;
        last = space;
        shared->timed_out[space] = 0;
        *c = (struct client){socket, process, peer.pid, !c->root_used, false};
        if (!send_opened(socket, space)) client_end(space);
        return true;
    }
    message_send(socket, &no, broker_message_bytes(&no));
    if (process >= 0) close(process);
    return false;
}

/* Of a process that has ended in a copy. */
static void end_copies(unsigned owner) {
    if (shared->copies != owner) return;
    for (unsigned gpu = 0; gpu < gpus.count; ++gpu) {
        const uintptr_t engine = gpus.gpu[gpu].registers + GPU_SDMA_REGISTERS;
        if (shared->last[gpu] != owner) continue;
        for (unsigned c = mmio_read32(engine + COPY_ENGINE_CHANNELS); c-- > 0;)
            mmio_write32(engine + COPY_ENGINE_CONTROL + c * COPY_ENGINE_CHANNEL_STRIDE, 0);
        mmio_read32(engine + COPY_ENGINE_CHANNELS); /* behind the writes */
        shared->last[gpu] = 0;
    }
    usleep(QUIET_US);
    __atomic_store_n(&shared->copies, 0, __ATOMIC_RELEASE);
}

void client_end(unsigned space) {
    struct client* c = &clients[space];
    close(c->socket);
    close(c->process);
    c->socket = -1;
    end_copies(space + 1);
    for (unsigned gpu = 0; gpu < gpus.count; ++gpu)
        if (shared->last[gpu] == space + 1) shared->last[gpu] = 0; /* the space's next process is another one */
    c->lost = !queues_drop(space + 1);
    if (c->lost) return; /* what still runs may use its memory */
    gpu_pages_drop(space + 1);
    host_pages_drop(space + 1);
}

/* ---- requests ---- */

static bool perform(unsigned owner, struct broker_message* m) {
    const uint32_t count = m->count;
    m->count = 0;
    if (m->kind != BROKER_HOST_PAGES && m->gpu >= gpus.count) return false;
    switch (m->kind) {
        case BROKER_HOST_PAGES: m->count = 1; return host_pages_take(owner, m->value, m->range);
        case BROKER_PAGES: return gpu_pages_take(owner, m->gpu, m->value, m->flag, m);
        case BROKER_RETURN_PAGES:
            for (uint32_t i = 0; i < count; ++i) gpu_pages_return(owner, m->gpu, &m->range[i]);
            return true;
        case BROKER_FREE_BYTES: m->value = gpu_pages_bytes(0, m->gpu); return true;
        case BROKER_QUEUE: return queues_take(owner, m->gpu, &m->value);
        case BROKER_RETURN_QUEUE: queues_return(owner, m->gpu, m->value); return true;
        default: return false;
    }
}

bool client_serve(unsigned space) {
    struct broker_message m;
    const long bytes = message_receive(clients[space].socket, &m, sizeof m, NULL, 0);
    if (bytes < (long)offsetof(struct broker_message, range) || (size_t)bytes != broker_message_bytes(&m)) return false;
    m.kind = !perform(space + 1, &m);
    return message_send(clients[space].socket, &m, broker_message_bytes(&m));
}
