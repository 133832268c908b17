/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the GPUs, and serves processes until the last has ended. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/machine.h"
#include "lib/mmio.h"
#include "linux/broker/clients.h"
#include "linux/broker/devices.h"
#include "linux/broker/kernels.h"
#include "linux/broker/run.h"
#include "linux/broker/status.h"
#include "linux/messages.h"

enum {
    FIRST_CLIENT_MS = 10000, /* in which the process that started it opens */
    LOOKS_PER_LIMIT = 8,     /* at kernels, in the time that they may run */
    INTERRUPTS = 1 + 2 * GPU_ADDRESS_SPACES,
    FILES = INTERRUPTS + MAX_GPUS
};

struct gpu_node gpus;
volatile struct broker_shared* shared;
static int shared_file;

int devices_shared_file(void) { return shared_file; }

/* ---- starting ---- */

static void make_shared_page(void) {
    shared_file = memfd_create("fabricvp-shared", MFD_CLOEXEC);
    void* at = shared_file >= 0 && ftruncate(shared_file, BROKER_SHARED_BYTES) == 0
                   ? mmap(NULL, BROKER_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, shared_file, 0)
                   : MAP_FAILED;
    if (at == MAP_FAILED) panic("no memory for the page that processes share");
    shared = at;
}

/* What goes wrong is said on standard error, which is the pipe of the process that waits. */
static void start_gpus(void) {
    static struct pci_host host;
    pci_start(&host);
    if (!host.count) exit(0); /* nothing to say: a machine without GPUs */
    if (!pci_hold_all(&host)) exit(1);
    const char* problem = host_pages_start();
    if (problem) {
        fprintf(stderr, "GPUs: %s\n", problem);
        exit(1);
    }
    if (!gpu_start(&gpus, &host)) exit(1);
    gpu_pages_start();
    make_shared_page();
    host_pages_publish();
    for (unsigned gpu = 0; gpu < gpus.count; ++gpu) wakeups_start(gpu);
    clients_start();
}

static void detach(int report) {
    const int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; ++i) dup2(null, i);
    close(null);
    if (report > 2) close(report);
}

/* ---- serving ---- */

static void send_status(int socket) {
    char* text = NULL;
    size_t bytes = 0;
    FILE* stream = open_memstream(&text, &bytes);
    if (!stream) return;
    status_print(stream);
    fclose(stream);
    message_send(socket, text, bytes);
    free(text);
}

/* What ran is lost. Processes that have queues there find that out when they wait. */
static bool reset_gpu(unsigned gpu) {
    const uintptr_t flush = gpus.gpu[gpu].registers + GPU_FLUSH_PAGE;
    const uint64_t page = mmio_read64(flush);
    shared->resets[gpu] = shared->resets[gpu] + 1;
    shared->last[gpu] = 0;
    if (!pci_reset(gpus.gpu[gpu].function)) return false;
    mmio_write64(flush, page);
    const bool restarted = gpu_restart(&gpus, gpu);
    wakeups_start(gpu);
    wakeups_wake();
    return restarted;
}

static void accept_one(int listener) {
    struct broker_message m;
    const int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (s < 0) return;
    const struct timeval limit = {.tv_sec = 1};
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const long bytes = message_receive(s, &m, sizeof m, NULL, 0);
    const bool whole = bytes >= (long)offsetof(struct broker_message, range);
    if (whole && m.kind == BROKER_OPEN && client_begin(s, m.value)) return;
    if (whole && m.kind == BROKER_STATUS) send_status(s);
    if (whole && m.kind == BROKER_RESET && m.gpu < gpus.count && reset_gpu(m.gpu)) send_status(s);
    close(s);
}

/* Until the broker has to look at what runs, or may end. */
static int wait_ms(bool any, const struct broker_options* options) {
    if (clients_count() && options->timeout_ms) return (int)(options->timeout_ms / LOOKS_PER_LIMIT + 1);
    if (clients_count() || options->stays) return -1;
    return any ? 0 : FIRST_CLIENT_MS;
}

static void serve(int listener, const struct broker_options* options) {
    for (bool any = false;;) {
        struct pollfd files[FILES] = {{listener, POLLIN, 0}};
        for (unsigned i = 0; i < GPU_ADDRESS_SPACES; ++i) {
            const bool is = clients[i].socket >= 0;
            files[1 + 2 * i] = (struct pollfd){is ? clients[i].socket : -1, POLLIN, 0};
            files[2 + 2 * i] = (struct pollfd){is ? clients[i].process : -1, POLLIN, 0};
        }
        for (unsigned gpu = 0; gpu < gpus.count; ++gpu)
            files[INTERRUPTS + gpu] = (struct pollfd){wakeups_file(gpu), POLLIN, 0};
        const int ready = poll(files, INTERRUPTS + gpus.count, wait_ms(any, options));
        for (unsigned gpu = 0; gpu < gpus.count; ++gpu)
            if (files[INTERRUPTS + gpu].revents) wakeups_take(gpu);
        if (!ready && !clients_count()) return;
        if (options->timeout_ms) kernels_limit(options->timeout_ms * UINT64_C(1000000));
        for (unsigned i = 0; i < GPU_ADDRESS_SPACES; ++i)
            if (files[2 + 2 * i].revents || (files[1 + 2 * i].revents && !client_serve(i))) client_end(i);
        if (files[0].revents) accept_one(listener);
        any = true;
    }
}

void broker_run(const struct broker_options* options) {
    const int listener = message_listen();
    if (listener < 0) return; /* another one runs */
    start_gpus();
    detach(options->report);
    serve(listener, options);
}
