/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "linux/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/gpu/images.h"
#include "lib/machine.h"
#include "linux/messages.h"

enum { TRIES = 1000, RETRY_US = 1000 }; /* a broker that is about to end keeps the socket for a moment */

struct broker_opened client_opened;
int client_files[BROKER_MAX_FILES];
volatile struct broker_shared* client_shared;
static int broker = -1;

/* ---- starting it ---- */

/* Its program is in this one; it runs from memory, so that the file of this one can be replaced. */
void client_run_broker(char* const* arguments) {
    const struct image* image = find_image("broker");
    const int program = memfd_create(BROKER_SOCKET, MFD_CLOEXEC);
    if (program >= 0 && write(program, image->start, image->bytes) == (ssize_t)image->bytes)
        fexecve(program, arguments, environ);
}

static void report_to(int report) {
    char number[16];
    snprintf(number, sizeof number, "%d", report);
    char* const arguments[] = {(char*)BROKER_SOCKET, (char*)"--report", number, NULL};
    client_run_broker(arguments);
    dprintf(report, "the broker of GPUs cannot be started: %s\n", strerror(errno));
    _exit(1);
}

/* As a child of init, with a session of its own. \returns false if it has said why it cannot run */
static bool start_broker(void) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0) return false;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            const int kept = dup(report[1]); /* without O_CLOEXEC */
            close(report[0]);
            close(report[1]);
            report_to(kept);
        }
        _exit(0);
    }
    close(report[1]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    char text[512];
    bool good = child > 0;
    for (ssize_t n; (n = read(report[0], text, sizeof text)) != 0;) {
        if (n < 0) continue; /* a signal */
        good = false;
        fwrite(text, 1, (size_t)n, stderr);
    }
    close(report[0]);
    return good;
}

/* ---- talking to it ---- */

static bool say_hello(void) {
    struct broker_message m = {.kind = BROKER_OPEN, .value = BROKER_VERSION};
    if (!message_send(broker, &m, broker_message_bytes(&m))) return false;
    const long bytes = message_receive(broker, &client_opened, sizeof client_opened, client_files, BROKER_MAX_FILES);
    if (bytes == sizeof client_opened && !client_opened.kind) return true;
    if (bytes > 0) fprintf(stderr, "the broker of GPUs refuses: it is of another version, or has no address space\n");
    client_opened.count = 0;
    return bytes > 0;
}

int client_connect(void) {
    for (unsigned tries = 0; tries < TRIES; ++tries) {
        const int s = message_connect();
        if (s >= 0) return s;
        if (!start_broker()) break;
        if (tries) usleep(RETRY_US);
    }
    return -1;
}

bool client_open(void) {
    for (unsigned tries = 0; tries < TRIES; ++tries) {
        broker = client_connect();
        if (broker < 0) return false;
        if (say_hello()) break; /* a broker that was about to end says nothing */
        close(broker);
        broker = -1;
        usleep(RETRY_US);
    }
    if (broker < 0 || !client_opened.count) return false;
    void* shared = client_map(client_files[1], BROKER_SHARED_BYTES);
    if (!shared) panic("the broker's page cannot be mapped");
    client_shared = shared;
    if (client_take_memory()) return true;
    fprintf(stderr, "GPUs: no huge page is left for this process: others have them (`gpus PAGES` reserves more)\n");
    return false;
}

bool client_ask(struct broker_message* m) {
    if (!message_send(broker, m, broker_message_bytes(m)) || message_receive(broker, m, sizeof *m, NULL, 0) <= 0)
        panic("the broker of GPUs is gone");
    return m->kind == 0;
}
