/* SPDX-License-Identifier: Apache-2.0 */
/* What a GPU's driver does, step by step. drivers/gpu/gpu.h has functions for all of it: gpu_dispatch() is the middle
 * of this file. */
#include "drivers/gpu/gpu.h"
#include "lib/console.h"
#include "lib/timer.h"

#include "arguments.h"

enum { N = 10000, GROUP = 256, PACKETS = 64, TIMEOUT_US = 100000 };

static uint32_t in[N], out[N];

int main(void) {
    static struct pci_host host;
    static struct gpu_node node;
    if (!pci_start(&host) || !gpu_start(&node, &host) || !node.count) return console_printf("there is no GPU\n"), 1;
    gpu_print(&node);

    /* Input in device memory, by the GPU's copy engine; the kernel, an ELF file inside of this program. */
    for (unsigned i = 0; i < N; ++i) in[i] = i;
    const gpu_address from = gpu_allocate_on(&node, 0, sizeof in), to = gpu_allocate_on(&node, 0, sizeof out);
    const struct gpu_kernel kernel = gpu_linked_kernel(&node, "kernel", "triple");
    if (gpu_copy_to(&node, from, in, sizeof in)) return console_printf("the copy failed\n"), 1;

    /* A ring of packets. Arguments of packet n lie beside it, where kernels see them. */
    static struct gpu_queue_handle queue;
    gpu_create_queue(&queue, &node, 0, PACKETS, 0, 1);
    gpu_set_page_tables(&node);
    const struct arguments arguments = {(const uint32_t*)from, (uint32_t*)to, N};
    const gpu_address block = queue.kernargs + queue.next % PACKETS * GPU_KERNARG_BYTES;
    gpu_write(&node, block, &arguments, sizeof arguments);

    /* One AQL packet. gpu_submit() gives it a completion signal, writes it into the ring with its header last, and
     * rings the queue's doorbell. */
    union {
        struct aql_kernel_dispatch dispatch;
        uint64_t words[8];
    } packet = {.dispatch = {.dimensions = 1,
                             .workgroup_size = {GROUP, 1, 1},
                             .grid_size = {N, 1, 1},
                             .kernel_object = kernel.object,
                             .kernarg_address = block}};
    const uint64_t begin = timer_now();
    const uint64_t number = gpu_submit(&queue, packet.words, AQL_TYPE_KERNEL_DISPATCH);

    /* The command processor decrements the signal from 1 to 0, or writes a negative value: gpu_wait() tells then. */
    volatile struct aql_signal* signal = gpu_signal(&queue, number);
    while (signal->value > 0 && timer_microseconds(timer_now() - begin) < TIMEOUT_US) timer_wait(1);
    const uint64_t end = timer_now();
    if (signal->value != 0) {
        console_printf("the kernel failed: %s\n", gpu_fault_name(gpu_wait(&queue, number)));
        gpu_print_faults(&node, &node.gpu[0]);
        return 1;
    }

    if (gpu_copy_from(&node, out, to, sizeof out)) return console_printf("the copy failed\n"), 1;
    unsigned wrong = 0;
    for (unsigned i = 0; i < N; ++i) wrong += out[i] != 3 * i;
    console_printf("packet %lu: %u work-items in %lu us, the kernel %lu ns\n", number, N,
                   timer_microseconds(end - begin), signal->end_ns - signal->start_ns);
    console_printf("%s\n", wrong ? "the result is WRONG" : "the result is right");
    return wrong != 0;
}
