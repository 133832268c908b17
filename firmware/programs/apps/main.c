/* SPDX-License-Identifier: Apache-2.0 */
/* Runs GPU applications, one after the other. On the kernel command line stand `app=NAME` and behind it, where the
 * defaults are not to be, `size=N`, `gpus=N`, `placement=POLICY`, `dispatch=POLICY`, `limit=MS` (for which a kernel may
 * run), `declared=1`, `places=` and `schedules=` (declared.h), and options of the application's own (abi/apps.h); then
 * perhaps the next `app=NAME`. */
#include "lib/command_line.h"
#include "programs/apps/app.h"
#include "programs/apps/declared.h"

#include "lib/console.h"
#include "lib/csr.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"
#include "lib/timer.h"
#include "lib/words.h"

enum { QUEUE_PACKETS = 64 };

#define DECLARE(name, size, unit, bytes, help) bool app_##name(struct app* app);
GPU_APPS(DECLARE)
bool app_kernel_job(struct app* app);

#define BYTES(name, size, unit, bytes, help) \
    static double bytes_of_##name(double n, double density, double width) { return (void)density, (void)width, bytes; }
GPU_APPS(BYTES)
static double bytes_of_kernel(double n, double density, double width) { /* its job says what it needs */
    (void)n, (void)density, (void)width;
    return 0;
}

static const struct known_app {
    const char* name;
    app_function run;
    uint64_t size;
    double (*bytes)(double n, double density, double width); /* of device memory at a size */
} apps[] = {
#define ROW(name, size, unit, bytes, help) {#name, app_##name, size, bytes_of_##name},
    GPU_APPS(ROW){"kernel", app_kernel_job, 1, bytes_of_kernel}};

static bool start(struct pci_host* host, struct gpu_node* node) {
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
    const unsigned linked = gpu_connected_count(node);
    if (linked < node->count)
        console_printf("only the first %u of %u GPUs reach each other's memory; the others rest\n", linked,
                       node->count);
    node->count = linked;
    return true;
}

static bool number(const char* name, const char* key, uint64_t otherwise, uint64_t* value) {
    if (command_line_number(command_line_value(name, key), otherwise, value)) return true;
    console_printf("%s is no number of 64 bits\n", key);
    return false;
}

static double option_or_0(struct app* app, const char* key) {
    return app_has_option(app, key) ? app_option(app, key) : 0;
}

/* Whether an application can run at this size: there is something to do, and the GPUs that take part hold it. */
static bool size_is_valid(const struct known_app* known, struct app* app) {
    if (app->size == 0 || app->size > GPU_APP_MAX) {
        console_printf("size=%lu: %s takes 1 to %lu\n", app->size, known->name, (uint64_t)GPU_APP_MAX);
        return false;
    }
    if (machine.initrd && known->run == app_spmv) return true; /* the matrix in it says how large it is */
    const double copies = option_or_0(app, "data_parallel") == 1 ? app->node->count : 1;
    double room = 0, all = 0;
    for (unsigned g = 0; g < app->node->count; ++g) {
        const double own = (double)app->node->gpu[g].memory_bytes;
        all += own;
        if (!g || own < room) room = own;
    }
    if (copies == 1) room = all; /* otherwise each GPU holds its own */
    const double density = option_or_0(app, "density"), width = option_or_0(app, "width");
    if (known->bytes((double)app->size / copies, density, width) <= room) return true;
    console_printf("size=%lu: %s needs more than the %lu MiB of device memory that there are\n", app->size, known->name,
                   (uint64_t)all >> 20);
    return false;
}

/* What the command line says behind the name of an application. */
static bool set_up(struct app* app, const char* name, unsigned gpus) {
    static unsigned queues;
    static struct gpu_queue_handle queue[MAX_GPUS];
    struct gpu_node* node = app->node;
    uint64_t wanted, limit_ms;
    if (!number(name, "gpus", gpus, &wanted) || !number(name, "limit", GPU_WAIT_LIMIT_US / 1000, &limit_ms))
        return false;
    if (wanted == 0 || wanted > gpus) {
        console_printf("gpus=%lu: this machine has %u\n", wanted, gpus);
        return false;
    }
    node->count = (unsigned)wanted;
    if (limit_ms > ~(uint64_t)0 / 1000) {
        console_printf("limit=%lu: too long\n", limit_ms);
        return false;
    }
    node->limit_us = limit_ms * 1000;
    const char *placement = command_line_value(name, "placement"), *dispatch = command_line_value(name, "dispatch");
    if (placement && word_is(placement, "first_touch_settled")) {
        console_printf("placement=first_touch_settled is now placement=first_touch_recorded\n");
        return false;
    }
    if ((placement && !gpu_placement_named(placement, &app->placement)) ||
        (dispatch && !gpu_dispatch_named(dispatch, &app->dispatch))) {
        console_printf("no such placement or dispatch policy\n");
        return false;
    }
    for (; queues < node->count; ++queues) gpu_create_queue(&queue[queues], node, queues, QUEUE_PACKETS, 0, 1);
    app->queue = queue;
    return true;
}

/* All of the application once, with pages on the GPU of their first touch. */
static bool run_profiling_pass(app_function run, const struct app* app) {
    struct app pass = *app;
    pass.placement = GPU_PLACE_FIRST_TOUCH;
    pass.profiling_pass = true;
    if (run(&pass) && !pass.failed) {
        result_begin("placement_pass");
        result_u64("time_us", timer_microseconds(pass.measured));
        result_end();
        return true;
    }
    console_printf("the pass that places pages FAILED\n");
    region_note("app wrong");
    return false;
}

static bool run(struct gpu_node* node, const char* name, unsigned gpus) {
    unsigned n = 0;
    while (n < sizeof apps / sizeof *apps && !word_is(name, apps[n].name)) ++n;
    if (n == sizeof apps / sizeof *apps) {
        console_printf("say which application runs: app=NAME of");
        for (unsigned i = 0; i < n; ++i) console_printf(" %s", apps[i].name);
        console_printf("\n");
        return false;
    }
    struct app app = {.node = node, .line = name};
    uint64_t seed, declared = 0;
    const bool ready = number(name, "declared", 0, &declared) && number(name, "size", apps[n].size, &app.size) &&
                       number(name, "seed", 1, &seed) && app_options_are_valid(name) && set_up(&app, name, gpus) &&
                       size_is_valid(&apps[n], &app);
    if (!ready) {
        console_printf("%-10s FAILED\n", apps[n].name);
        region_note("app wrong");
        return false;
    }
    app_set_seed(&app, seed);
    app.declares = declared_begin(name, declared != 0);
    const uint64_t begin = timer_now();
    if (app.placement == GPU_PLACE_FIRST_TOUCH_RECORDED && !run_profiling_pass(apps[n].run, &app)) return false;
    const bool right = apps[n].run(&app) && !app.failed;
    const uint64_t total_us = timer_microseconds(timer_now() - begin);
    if (app.measured) {
        result_begin("kernels");
        result_u64("time_us", timer_microseconds(app.measured));
        result_end();
    }
    result_begin("total");
    result_u64("time_us", total_us);
    result_end();
    console_printf("%-10s %s\n", apps[n].name, right ? "ok" : "FAILED");
    region_note(right ? "app ok" : "app wrong");
    return right;
}

/* Not inlined: it may keep numbers in floating-point registers, which main() has to switch on before. */
static __attribute__((noinline)) int run_all(void) {
    static struct pci_host host;
    static struct gpu_node node;
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    const char* name = command_line_find(line, "app");
    command_line_only(line, (const char* const[]){"app"}, 1);
    for (const char* of = name; of; of = command_line_find(of + 1, "app")) app_check_keys(of + strlen("app="));
    if (!start(&host, &node)) return 1;
    const unsigned gpus = node.count;
    bool right = true;
    do {
        name = name ? name + strlen("app=") : "";
        right = run(&node, name, gpus) && right;
        name = command_line_find(name, "app");
    } while (name);
    return right ? 0 : 1;
}

int main(void) {
    csr_set(mstatus, MSTATUS_FLOATS);
    return run_all();
}
