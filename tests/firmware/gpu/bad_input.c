/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that can go wrong with a kernel, a packet, a queue or the command processor's firmware: what the host
 * hears, and that the GPU goes on. */
#include "abi/hca_post.h"
#include "abi/kernel_descriptor.h"
#include "abi/stream_packet.h"
#include "driver.h"
#include "drivers/gpu/elf.h"
#include "drivers/gpu/images.h"
#include "lib/machine.h"
#include "lib/mmio.h"
#include "lib/timer.h"

static struct gpu_queue_handle queue, other;
static gpu_address buffer, read_only;

static void print_result(const char* what, unsigned outcome) {
    console_printf("\n%s: %s\n", what, gpu_fault_name(outcome));
    if (!gpu_print_faults(&node, &node.gpu[0])) console_printf("no record\n");
}

/* The faulty queue comes back; the other one has not noticed. */
static void recover(void) {
    console_printf("other queue %s, ", driver_works(&other));
    console_printf("reset %s, ", gpu_reset_queue(&queue) ? "ok" : "FAILED");
    console_printf("this queue %s\n", driver_works(&queue));
}

static void kernel(const char* what, const char* name, uint64_t at, uint64_t lane) {
    print_result(what, gpu_wait(&queue, driver_launch(&queue, name, 4, at, lane)));
    recover();
}

static struct aql_kernel_dispatch good_packet(void) {
    return (struct aql_kernel_dispatch){.dimensions = 1,
                                        .workgroup_size = {64, 1, 1},
                                        .grid_size = {64, 1, 1},
                                        .kernel_object = driver_kernel("load").object,
                                        .kernarg_address = queue.kernargs};
}

/* The packet's own signal tells the error too, a little later than the queue. */
static bool check_signal(uint64_t packet, unsigned outcome) {
    for (unsigned tries = 0; tries < 100; ++tries) {
        if (gpu_signal(&queue, packet)->value == -(int64_t)outcome) return true;
        timer_wait(1);
    }
    return false;
}

static void packet(const char* what, const void* words, unsigned type) {
    uint64_t copy[8];
    memcpy(copy, words, sizeof copy);
    const uint64_t number = gpu_submit(&queue, copy, type);
    const unsigned outcome = gpu_wait(&queue, number);
    print_result(what, outcome);
    if (!copy[7] && !check_signal(number, outcome)) console_printf("its signal does not tell\n");
    recover();
}

/* A kernel descriptor on the device, of the image of a good one. */
static struct aql_kernel_dispatch packet_of(struct kernel_descriptor k, const struct aql_kernel_dispatch* good) {
    struct aql_kernel_dispatch p = *good;
    p.kernel_object = buffer + 256;
    k.image_offset += p.kernel_object - good->kernel_object;
    gpu_write(&node, p.kernel_object, &k, sizeof k);
    return p;
}

static void descriptors(void) {
    const struct aql_kernel_dispatch good = good_packet();
    struct kernel_descriptor k, bad;
    gpu_read(&node, &k, good.kernel_object, sizeof k);
    struct aql_kernel_dispatch p = packet_of(k, &good);
    uint64_t words[8];
    memcpy(words, &p, sizeof words);
    console_printf("\ncopied descriptor: %s\n",
                   gpu_fault_name(gpu_wait(&queue, gpu_submit(&queue, words, AQL_TYPE_KERNEL_DISPATCH))));
    recover();
    bad = k, bad.magic ^= 1, p = packet_of(bad, &good);
    packet("descriptor without its magic number", &p, AQL_TYPE_KERNEL_DISPATCH);
    bad = k, bad.entry = GPU_LDS_BASE, p = packet_of(bad, &good);
    packet("descriptor with an entry out of the code", &p, AQL_TYPE_KERNEL_DISPATCH);
    bad = k, bad.entry += 2, p = packet_of(bad, &good);
    packet("descriptor with an entry between instructions", &p, AQL_TYPE_KERNEL_DISPATCH);
    bad = k, bad.flags = KERNEL_FLAGS + 1, p = packet_of(bad, &good);
    packet("descriptor with unknown flags", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good, p.kernel_object += 4;
    packet("misaligned kernel object", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good, p.kernel_object = 0x1000;
    packet("kernel object below all address spaces", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good, p.kernarg_address += 8;
    packet("misaligned arguments", &p, AQL_TYPE_KERNEL_DISPATCH);
    const struct aql_barrier b = {.dependency = {buffer + 8}};
    packet("misaligned dependency", &b, AQL_TYPE_BARRIER_AND);
}

static void kernels(void) {
    kernel("illegal instruction", "illegal", 0, 197);
    kernel("jump out of the code", "run_off", GPU_SCRATCH_BASE, 70);
    kernel("jump behind the image", "run_off", GPU_CODE_BASE + GPU_PAGE, 3);
    kernel("barrier that half of the lanes reach", "deadlock", 0, 32);
    kernel("load where nothing is mapped", "load", buffer + GPU_PAGE, 130);
    kernel("load from no aperture", "load", 0x1000, 131);
    kernel("store to a read-only page", "store", read_only, 67);
    kernel("store to kernel arguments", "store", GPU_KERNARG_BASE, 68);
    kernel("misaligned load", "load", buffer + 2, 9);
    kernel("misaligned store", "store", buffer + 1, 10);
}

static void packets(void) {
    struct aql_kernel_dispatch p = good_packet();
    packet("packet of no type", &p, 9);
    packet("agent dispatch", &p, AQL_TYPE_AGENT_DISPATCH);
    p.grid_size[0] = 0;
    packet("empty grid", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.workgroup_size[0] = 0;
    packet("empty work-group", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.workgroup_size[0] = GPU_MAX_WORKGROUP_ITEMS + 1;
    packet("work-group above the limit", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.dimensions = 0;
    packet("no dimensions", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.group_segment_bytes = 1 << 20;
    packet("more local memory than there is", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.private_segment_bytes = 4 * GPU_SCRATCH_SIZE;
    packet("more scratch memory than there is", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.kernel_object = buffer;
    packet("kernel object that is none", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.kernel_object = buffer + GPU_PAGE;
    packet("kernel object nowhere", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.kernel_object = ~7ull;
    packet("kernel object outside of all address spaces", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.kernarg_address = 0;
    packet("no arguments", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.completion_signal = buffer + 8;
    packet("misaligned signal", &p, AQL_TYPE_KERNEL_DISPATCH);
    p = good_packet(), p.completion_signal = read_only;
    packet("signal that cannot be written", &p, AQL_TYPE_KERNEL_DISPATCH);
    struct aql_barrier b = {.dependency = {0, buffer + GPU_PAGE}};
    packet("dependency nowhere", &b, AQL_TYPE_BARRIER_AND);
    gpu_signal(&other, 0)->value = -(int64_t)GPU_FAULT_ILLEGAL;
    b = (struct aql_barrier){.dependency = {gpu_signal_address(&other, 0)}};
    packet("dependency that failed", &b, AQL_TYPE_BARRIER_AND);
    const struct aql_vendor v = {.operation = 99};
    packet("vendor packet of no kind", &v, AQL_TYPE_VENDOR);
    const struct aql_vendor copy = {.operation = AQL_VENDOR_COPY, .argument = {buffer, buffer + GPU_PAGE, 64}};
    packet("copy to nowhere", &copy, AQL_TYPE_VENDOR);
}

/* An adapter's completion with an error: the last word has the opcode, and belongs to the poller. */
static void streams(void) {
    const uint64_t nowhere = buffer + GPU_PAGE, failed = (uint64_t)HCA_CQE_ERROR_SEND << 32;
    struct aql_stream_write w = {.operation = AQL_STREAM_WRITE};
    packet("write of no words", &w, AQL_TYPE_VENDOR);
    w.count = AQL_STREAM_MAX_WRITES + 1;
    packet("write of more words than there are", &w, AQL_TYPE_VENDOR);
    w = (struct aql_stream_write){.operation = AQL_STREAM_WRITE, .count = 2, .write = {{buffer, 1}, {nowhere, 2}}};
    packet("write to nowhere", &w, AQL_TYPE_VENDOR);
    w.write[1].to = buffer + 4;
    packet("misaligned write", &w, AQL_TYPE_VENDOR);
    struct aql_stream_wait wait = {.operation = AQL_STREAM_WAIT, .condition = 2, .at = buffer};
    packet("wait for no condition", &wait, AQL_TYPE_VENDOR);
    wait = (struct aql_stream_wait){.operation = AQL_STREAM_WAIT, .at = nowhere};
    packet("wait for what is nowhere", &wait, AQL_TYPE_VENDOR);
    wait = (struct aql_stream_wait){
        .operation = AQL_STREAM_WAIT, .at = buffer, .mask = ~0ull, .value = 12345, .timeout = 20000};
    packet("wait for what never comes", &wait, AQL_TYPE_VENDOR);
    struct aql_stream_completion c = {.operation = AQL_STREAM_COMPLETION, .at = buffer + 8};
    packet("misaligned completion", &c, AQL_TYPE_VENDOR);
    gpu_write(&node, buffer + 8 * HCA_CQE_LAST, &failed, sizeof failed);
    c.at = buffer;
    packet("completion that tells an error", &c, AQL_TYPE_VENDOR);
}

/* A queue whose description says something wrong: what comes of the second packet, as the first may still be good. */
static void odd_queue(const char* what, uint64_t* field, uint64_t wrong) {
    const uint64_t right = *field;
    *field = wrong;
    gpu_reset_queue(&queue);
    *field = right;
    gpu_wait(&queue, driver_launch(&queue, "good", 1, buffer, 0));
    print_result(what, gpu_wait(&queue, driver_launch(&queue, "good", 1, buffer, 0)));
    recover();
}

static void queues(void) {
    gpu_signal(&queue, queue.next)->value = 1;
    queue.gpu->doorbells[queue.index] = queue.next + queue.packets;
    print_result("doorbell beyond the ring", gpu_wait(&queue, queue.next));
    recover();

    const uint64_t ring = queue.description.ring;
    gpu_reset_queue(&queue);
    queue.description.ring = buffer + GPU_PAGE;
    gpu_reset_queue(&queue);
    queue.description.ring = ring;
    print_result("ring nowhere", gpu_wait(&queue, driver_launch(&queue, "good", 1, buffer, 0)));
    recover();

    odd_queue("misaligned ring", &queue.description.ring, ring + 8);
    const uint32_t size = queue.description.packets;
    queue.description.packets = 12;
    gpu_reset_queue(&queue);
    queue.description.packets = size;
    print_result("ring of twelve packets", gpu_wait(&queue, driver_launch(&queue, "good", 1, buffer, 0)));
    recover();
    odd_queue("index that cannot be written", &queue.description.read_index, buffer + GPU_PAGE);

    node.limit_us = 1000;
    const uint64_t never = driver_launch(&queue, "endless", 2, 0, 0);
    print_result("kernel without an end", gpu_wait(&queue, never));
    node.limit_us = GPU_WAIT_LIMIT_US;
    recover();
}

/* Instructions that are none, in the function that looks at doorbells. */
static void firmware(void) {
    const struct image* image = find_image("cp");
    const uint64_t victim = elf_symbol(image->start, image->bytes, "queues_doorbells") - GPU_LOCAL(0);
    for (unsigned i = 4; i <= 8; i += 4)
        mmio_write32(node.gpu[0].registers + GPU_SRAM_WINDOW + (victim & ~3ull) + i, 0);
    print_result("firmware that crashes", gpu_wait(&queue, driver_launch(&queue, "good", 1, buffer, 0)));
    console_printf("restart %s, ", gpu_restart(&node, 0) ? "ok" : "FAILED");
    gpu_reset_queue(&other);
    recover();
}

int main(void) {
    driver_start();
    gpu_create_queue(&queue, &node, 0, 16, 0, 1);
    gpu_create_queue(&other, &node, 0, 16, 0, 1);
    buffer = gpu_allocate_on(&node, 0, GPU_PAGE);
    read_only = gpu_map_host(&node, driver_pages(1), GPU_PAGE, false);
    console_printf("at first %s\n", driver_works(&queue));
    kernels();
    packets();
    streams();
    descriptors();
    queues();
    firmware();
    console_printf("\nat last %s\n", driver_works(&queue));
    return 0;
}
