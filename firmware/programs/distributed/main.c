/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an application over all GPUs of all nodes. On the kernel command line stand `app=NAME`, and where the defaults
 * are not to be `size=N`, `seed=N` and options of the application's own (abi/apps.h); the same at all nodes. One node
 * needs no RDMA adapter. */
#include "programs/distributed/distributed.h"

#include "drivers/bootstrap/measure.h"
#include "lib/command_line.h"
#include "lib/console.h"
#include "lib/csr.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/result.h"
#include "lib/words.h"

static const struct known_app {
    const char* name;
    uint64_t size;
    uint64_t (*bytes)(const struct distributed*);
    bool (*run)(struct distributed*);
} apps[] = {
#define ROW(name, size, unit, bytes, help) {#name, size, name##_bytes, name##_run},
    GPU_DISTRIBUTED_APPS(ROW)};
enum { APPS = sizeof apps / sizeof *apps };

static struct distributed d;
uint64_t RANDOM_SHIFT;

static uint64_t number(const char* line, const char* key, uint64_t min, uint64_t max, uint64_t otherwise) {
    uint64_t value;
    if (!command_line_number(command_line_value(line, key), otherwise, &value)) usage_error("%s is no number", key);
    if (value < min || value > max) usage_error("%s=%lu: %lu to %lu", key, value, min, max);
    return value;
}

static uint64_t option(const struct known_app* app, const char* line, const char* key) {
#define OPTION(of, option_key, least, most, default_value, help)      \
    if (strcmp(app->name, #of) == 0 && strcmp(key, #option_key) == 0) \
        return number(line, key, (uint64_t)(least), (uint64_t)(most), (uint64_t)(default_value));
    GPU_DISTRIBUTED_APP_OPTIONS(OPTION)
#undef OPTION
    return 0;
}

static void check_keys(const struct known_app* app, const char* line) {
    static const char* keys[] = {"size", "seed", "nodes",
#define OPTION(of, option_key, least, most, default_value, help) NULL,
                                 GPU_DISTRIBUTED_APP_OPTIONS(OPTION)
#undef OPTION
    };
    unsigned count = 3;
#define OPTION(of, option_key, least, most, default_value, help) \
    if (strcmp(app->name, #of) == 0) keys[count++] = #option_key;
    GPU_DISTRIBUTED_APP_OPTIONS(OPTION)
#undef OPTION
    command_line_only(command_line_behind(line), keys, count);
}

void distributed_begin(struct distributed* run, const char* label) {
    ring_barrier(&run->ring);
    if (!run->ring.node) region_begin(label);
    run->began = clock_cycles();
}

void distributed_end(struct distributed* run) {
    run->cycles = clock_cycles() - run->began;
    if (!run->ring.node) region_end();
}

bool distributed_mismatch(const struct distributed* run, unsigned gpu, const char* what, uint64_t index) {
    console_printf("node%u gpu%u: %s %lu is wrong\n", run->ring.node, gpu, what, index);
    return false;
}

static const struct known_app* find(const char* name) {
    for (const struct known_app* a = apps; a < apps + APPS; ++a)
        if (word_is(name, a->name)) return a;
    usage_error("app=NAME: say which application runs: allreduce, mm_ring, halo");
}

/* Not inlined: it may keep numbers in floating-point registers, which main() has to switch on before. */
static __attribute__((noinline)) int run_app(void) {
    static struct bootstrap bootstrap;
    static struct pci_host pci;
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    const char* name = command_line_find(line, "app");
    command_line_only(line, (const char* const[]){"nodes", "app"}, 2);
    name = name ? name + strlen("app=") : "";
    const struct known_app* app = find(name);
    check_keys(app, name);
    const unsigned nodes = machine.nodes ? machine.nodes : (unsigned)number(line, "nodes", 1, BOOTSTRAP_MAX_RANKS, 1);
    RANDOM_SHIFT = (number(name, "seed", 0, UINT64_MAX, 1) - 1) * 0xd1342543de82ef95;
    d.size = number(name, "size", 1, GPU_APP_MAX, app->size);
    d.steps = option(app, name, "steps");
    d.columns = option(app, name, "columns");
    if (nodes > 1)
        bootstrap_init(&bootstrap, nodes);
    else if (!pci_start(&pci))
        panic("no PCIe host bridge");
    clock_start();
    ring_open(&d.ring, nodes > 1 ? &bootstrap.pci : &pci, nodes > 1 ? &bootstrap : NULL, app->bytes(&d));
    const bool ok = app->run(&d);
    if (!d.ring.node) {
        result_begin(app->name);
        result_u64("nodes", nodes);
        result_u64("gpus", d.ring.size);
        result_u64("size", d.size);
        result_u64("time_ps", clock_picoseconds(d.cycles));
        result_end();
    }
    ring_barrier(&d.ring);
    if (nodes > 1) bootstrap_finalize(&bootstrap);
    console_printf("%-10s %s\n", app->name, ok ? "ok" : "FAILED");
    region_note(ok ? "app ok" : "app wrong");
    return ok ? 0 : 1;
}

int main(void) {
    csr_set(mstatus, MSTATUS_FLOATS);
    return run_app();
}
