/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the GPUs, and serves processes until the last has ended. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/machine.h"
#include "linux/broker/clients.h"
#include "linux/broker/devices.h"
#include "linux/broker/run.h"
#include "linux/messages.h"

enum { FIRST_CLIENT_MS = 10000 }; /* in which the process that started it opens */

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
    clients_start();
}

static void detach(int report) {
    const int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; ++i) dup2(null, i);
    close(null);
    if (report > 2) close(report);
}

/* ---- serving ---- */

static void accept_one(int listener) {
    struct broker_message m;
    const int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (s < 0) return;
    const long bytes = message_receive(s, &m, sizeof m, NULL, 0);
    if (bytes < (long)offsetof(struct broker_message, range) || m.kind != BROKER_OPEN || !client_begin(s, m.value))
        close(s);
}

static void serve(int listener, bool stays) {
    for (bool any = false;;) {
        struct pollfd files[1 + 2 * GPU_ADDRESS_SPACES] = {{listener, POLLIN, 0}};
        for (unsigned i = 0; i < GPU_ADDRESS_SPACES; ++i) {
            const bool is = clients[i].socket >= 0;
            files[1 + 2 * i] = (struct pollfd){is ? clients[i].socket : -1, POLLIN, 0};
            files[2 + 2 * i] = (struct pollfd){is ? clients[i].process : -1, POLLIN, 0};
        }
        const bool waits = clients_count() || stays;
        const int ready = poll(files, 1 + 2 * GPU_ADDRESS_SPACES, waits ? -1 : any ? 0 : FIRST_CLIENT_MS);
        if (!ready && !waits) return;
        for (unsigned i = 0; i < GPU_ADDRESS_SPACES; ++i)
            if (files[2 + 2 * i].revents || (files[1 + 2 * i].revents && !client_serve(i))) client_end(i);
        if (files[0].revents) accept_one(listener);
        any = true;
    }
}

void broker_run(int report, bool stays) {
    if (report >= 0) dup2(report, 2);
    const int listener = message_listen();
    if (listener < 0) return; /* another one runs */
    start_gpus();
    detach(report);
    serve(listener, stays);
}
