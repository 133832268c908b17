/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one GPU application. On the kernel command line stand `app=NAME` and, where the defaults are not to be, `size=N`,
 * `gpus=N`, `placement=POLICY`, `dispatch=POLICY`, `limit=MS` (for which a kernel may run). */
#include "host/apps/app.h"

#include "host/console.h"
#include "host/csr.h"
#include "host/machine.h"
#include "host/region.h"
#include "host/timer.h"
#include "host/words.h"

enum { QUEUE_PACKETS = 64 };

#define DECLARE(name, size, unit, bytes, help) bool app_##name(struct app* app);
GPU_APPS(DECLARE)

static const struct {
    const char* name;
    app_function run;
    uint64_t size;
} apps[] = {
#define ROW(name, size, unit, bytes, help) {#name, app_##name, size},
    GPU_APPS(ROW)};

/* Value of `key=` on the command line, NULL if absent. */
static const char* argument(const char* key) {
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    const size_t length = strlen(key);
    for (; line && *line; ++line)
        if (strncmp(line, key, length) == 0 && line[length] == '=') return line + length + 1;
    return NULL;
}

static uint64_t number(const char* text, uint64_t otherwise) {
    if (!text) return otherwise;
    uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (uint64_t)(*text - '0');
    return value;
}

static bool start(struct app* app, struct pci_host* host, struct gpu_node* node) {
    if (!pci_start(host)) {
        console_printf("no PCIe host bridge\n");
        return false;
    }
    if (!gpu_start(node, host)) return false;
    if (!node->count) {
        console_printf("no GPU\n");
        return false;
    }
    gpu_print(node);
    app->node = node;
    const uint64_t wanted = number(argument("gpus"), node->count);
    if (wanted == 0 || wanted > node->count) {
        console_printf("gpus=%lu: this machine has %u\n", wanted, node->count);
        return false;
    }
    node->count = (unsigned)wanted;
    node->limit_us = number(argument("limit"), node->limit_us / 1000) * 1000;
    const char *placement = argument("placement"), *dispatch = argument("dispatch");
    if ((placement && !gpu_placement_named(placement, &app->placement)) || (dispatch && !gpu_dispatch_named(dispatch, &app->dispatch))) {
        console_printf("no such placement or dispatch policy\n");
        return false;
    }
    for (unsigned g = 0; g < node->count; ++g) gpu_create_queue(&app->queue[g], node, g, QUEUE_PACKETS, 0, 1);
    return true;
}

int main(void) {
    static struct app app;
    static struct pci_host host;
    static struct gpu_node node;
    csr_set(mstatus, 1 << 13); /* floating point on */
    const char* name = argument("app");
    unsigned n = 0;
    while (n < sizeof apps / sizeof *apps && !(name && word_is(name, apps[n].name))) ++n;
    if (n == sizeof apps / sizeof *apps) {
        console_printf("say which application runs: app=NAME of");
        for (unsigned i = 0; i < n; ++i) console_printf(" %s", apps[i].name);
        console_printf("\n");
        return 1;
    }
    if (!start(&app, &host, &node)) return 1;
    app.size = number(argument("size"), apps[n].size);
    app.random = 1;
    const uint64_t begin = timer_now();
    const bool right = apps[n].run(&app) && !app.failed;
    if (app.measured) console_printf("# kernels %lu us\n", timer_microseconds(app.measured));
    console_printf("# %lu us\n", timer_microseconds(timer_now() - begin));
    console_printf("%-10s %s\n", apps[n].name, right ? "ok" : "FAILED");
    region_note(right ? "app ok" : "app wrong");
    return right ? 0 : 1;
}
