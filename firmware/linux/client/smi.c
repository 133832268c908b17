/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is started by another name is a tool, as busybox is: fabricvp-smi, or fabricvp-broker. So tools are of
 * the build of programs. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "linux/client/client.h"
#include "linux/messages.h"

enum { MAX_TEXT = 64 << 10 };

static int ask(struct broker_message* m) {
    static char text[MAX_TEXT];
    const int broker = client_connect();
    if (broker < 0) return 1;
    const bool sent = message_send(broker, m, broker_message_bytes(m));
    const long bytes = sent ? message_receive(broker, text, sizeof text, NULL, 0) : -1;
    if (bytes <= 0) {
        fprintf(stderr, "fabricvp-smi: the broker of GPUs cannot do it\n");
        return 1;
    }
    fwrite(text, 1, (size_t)bytes, stdout);
    return 0;
}

static int smi(int argc, char** argv) {
    struct broker_message m = {.kind = BROKER_STATUS};
    char* end = NULL;
    if (argc == 3 && strcmp(argv[1], "--reset") == 0) {
        m.kind = BROKER_RESET;
        m.gpu = (uint32_t)strtoul(argv[2], &end, 10);
    }
    if (argc != 1 && (!end || *end || end == argv[2])) {
        fprintf(stderr, "usage: fabricvp-smi [--reset GPU]\n");
        return 2;
    }
    return ask(&m);
}

/* Without the ends of what has not begun. */
static void leave(int status) {
    fflush(NULL);
    _exit(status);
}

__attribute__((constructor(102))) static void be_a_tool(int argc, char** argv) {
    if (argc < 1 || !argv[0]) return;
    const char* slash = strrchr(argv[0], '/');
    const char* name = slash ? slash + 1 : argv[0];
    if (strcmp(name, "fabricvp-smi") == 0) leave(smi(argc, argv));
    if (strcmp(name, BROKER_SOCKET) == 0) {
        client_run_broker(argv);
        fprintf(stderr, "fabricvp-broker: %s\n", strerror(errno));
        leave(1);
    }
}
