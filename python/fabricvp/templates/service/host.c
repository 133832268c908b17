/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the service for something, and checks what it did. */
#include "drivers/gpu/gpu.h"
#include "lib/console.h"
#include "lib/mmio.h"
#include "lib/timer.h"

#include "mailbox.h"

enum { WORDS = 1000, TIMEOUT_US = 10000 };

static uint64_t seen[WORDS];

int main(void) {
    static struct pci_host host;
    static struct gpu_node node;
    static struct gpu_queue_handle queue;
    if (!pci_start(&host) || !gpu_start(&node, &host) || !node.count) return console_printf("there is no GPU\n"), 1;
    const struct gpu* gpu = &node.gpu[0];
    console_printf("the command processor runs %s firmware\n", gpu->own_firmware ? "its own" : "this program's");
    const gpu_address at = gpu_allocate_on(&node, 0, sizeof seen);
    gpu_create_queue(&queue, &node, 0, 64, 0, 1);
    gpu_set_page_tables(&node);

    const uintptr_t box = gpu->registers + GPU_SRAM_WINDOW + MAILBOX;
    mmio_write64(box + offsetof(struct mailbox, at), at);
    mmio_write64(box + offsetof(struct mailbox, words), WORDS);
    mmio_write64(box + offsetof(struct mailbox, value), 42);
    mmio_write32(box + offsetof(struct mailbox, address_space), queue.description.address_space);
    mmio_write32(box + offsetof(struct mailbox, state), MAILBOX_FULL);
    const uint64_t begin = timer_now();
    mmio_write32(gpu->registers + GPU_HOST_REQUEST, 1);
    uint32_t state;
    while ((state = mmio_read32(box + offsetof(struct mailbox, state))) == MAILBOX_FULL &&
           timer_microseconds(timer_now() - begin) < TIMEOUT_US)
        timer_wait(1);
    console_printf("%u words in %lu us\n", WORDS, timer_microseconds(timer_now() - begin));
    if (state != MAILBOX_DONE || gpu_copy_from(&node, seen, at, sizeof seen)) {
        console_printf("the service failed: state %u, %s\n", state,
                       gpu_fault_name(mmio_read32(box + offsetof(struct mailbox, fault))));
        return 1;
    }
    unsigned wrong = 0;
    for (unsigned i = 0; i < WORDS; ++i) wrong += seen[i] != 42 + i;
    console_printf("%s\n", wrong ? "the words are WRONG" : "the words are right");
    return wrong != 0;
}
