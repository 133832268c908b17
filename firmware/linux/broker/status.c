/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/broker/status.h"

#include "linux/broker/kernels.h"

static unsigned count_queues(unsigned owner, unsigned gpu) {
    unsigned count = 0;
    for (unsigned q = 0; q < GPU_QUEUES; ++q)
        count += owner ? queues_owner(gpu, q) == owner : queues_owner(gpu, q) != 0;
    return count;
}

static void print_gpus(FILE* to) {
    fprintf(to, "GPU  bus      compute units  MiB used     all  queues  resets\n");
    for (unsigned gpu = 0; gpu < gpus.count; ++gpu) {
        const struct gpu* g = &gpus.gpu[gpu];
        const uint64_t used = g->memory_bytes - gpu_pages_bytes(0, gpu);
        fprintf(to, "%3u  %02x:%02x.0  %13u  %8lu  %6lu  %6u  %6u\n", gpu, g->function->bus->number,
                g->function->device, g->compute_units, used >> 20, g->memory_bytes >> 20, count_queues(0, gpu),
                shared->resets[gpu]);
    }
}

static void print_name(FILE* to, pid_t pid) {
    char path[32], name[32] = "?";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE* file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%31[^\n]", name) != 1) name[0] = '?';
        fclose(file);
    }
    fprintf(to, "  %-15s", name);
}

static void print_kernels(FILE* to, unsigned owner, unsigned gpu) {
    unsigned waiting = 0;
    const char* between = "  ";
    for (unsigned q = 0; q < GPU_QUEUES; ++q) {
        struct kernels k;
        if (queues_owner(gpu, q) != owner || !kernels_of(gpu, q, &k)) continue;
        waiting += k.waiting;
        if (!*k.name) continue;
        fprintf(to, "%s%s", between, k.name);
        between = ", ";
    }
    if (waiting) fprintf(to, "%s%u waiting", between, waiting);
    fprintf(to, "\n");
}

static void print_processes(FILE* to) {
    fprintf(to, "  PID  process          GPU  MiB used  queues  kernels\n");
    for (unsigned space = 0; space < GPU_ADDRESS_SPACES; ++space)
        for (unsigned gpu = 0; gpu < gpus.count; ++gpu) {
            if (clients[space].socket < 0) continue;
            const uint64_t bytes = gpu_pages_bytes(space + 1, gpu);
            const unsigned queues = count_queues(space + 1, gpu);
            if (gpu && !bytes && !queues) continue;
            fprintf(to, "%5d", (int)clients[space].pid);
            print_name(to, clients[space].pid);
            fprintf(to, "  %3u  %8lu  %6u", gpu, bytes >> 20, queues);
            print_kernels(to, space + 1, gpu);
        }
}

void status_print(FILE* to) {
    uint64_t used = 0;
    for (unsigned space = 0; space < GPU_ADDRESS_SPACES; ++space) used += host_pages_count(space + 1);
    print_gpus(to);
    fprintf(to, "\n");
    print_processes(to);
    fprintf(to, "\nhuge pages: %lu used by processes, %lu free\n", used, host_pages_count(0));
}
