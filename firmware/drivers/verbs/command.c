/* SPDX-License-Identifier: Apache-2.0 */
/* The command register. Commands are polled: none is so long that sleeping would pay. */
#include "abi/hca_mailbox.h"
#include "drivers/verbs/internal.h"
#include "lib/mmio.h"
#include "lib/timer.h"

enum { TIMEOUT_US = 1000000, POLLED_TOKEN = 0xffff };

static uint32_t read_register(const struct verbs_device* d, unsigned offset) {
    return hca_swap32(mmio_read32(d->registers + HCA_HCR + offset));
}
static void write_register(const struct verbs_device* d, unsigned offset, uint32_t value) {
    mmio_write32(d->registers + HCA_HCR + offset, hca_swap32(value));
}
static void write_long(const struct verbs_device* d, unsigned offset, uint64_t value) {
    write_register(d, offset, (uint32_t)(value >> 32));
    write_register(d, offset + 4, (uint32_t)value);
}

static bool is_busy(const struct verbs_device* d, uint32_t* word) {
    *word = read_register(d, HCA_HCR_COMMAND);
    return *word >> 23 & 1;
}

static unsigned perform(struct verbs_device* d, unsigned opcode, uint32_t modifier, unsigned op_modifier, uint64_t in,
                        uint64_t out) {
    uint32_t word;
    const uint64_t begin = timer_now();
    write_long(d, HCA_HCR_IN_PARAM, in);
    write_register(d, HCA_HCR_IN_MODIFIER, modifier);
    write_long(d, HCA_HCR_OUT_PARAM, out);
    write_register(d, HCA_HCR_TOKEN, (uint32_t)POLLED_TOKEN << 16);
    write_register(d, HCA_HCR_COMMAND, 1u << 23 | op_modifier << 12 | opcode);
    while (is_busy(d, &word))
        if (!timer_wait_more(begin, TIMEOUT_US)) return d->status = HCA_BUSY;
    const unsigned status = word >> 24;
    if (status) d->status = status;
    return status;
}

unsigned verbs_command(struct verbs_device* d, unsigned opcode, uint32_t modifier, unsigned op_modifier, const void* in,
                       size_t in_bytes, void* out, size_t out_bytes) {
    if (in_bytes) memcpy(d->in, in, in_bytes);
    const unsigned status = perform(d, opcode, modifier, op_modifier, (uintptr_t)d->in, (uintptr_t)d->out);
    if (out_bytes && status == HCA_OK) memcpy(out, d->out, out_bytes);
    return status;
}

unsigned verbs_command_immediate(struct verbs_device* d, unsigned opcode, uint32_t modifier, uint64_t in,
                                 uint64_t* out) {
    const unsigned status = perform(d, opcode, modifier, 0, in, 0);
    if (out) *out = (uint64_t)read_register(d, HCA_HCR_OUT_PARAM) << 32 | read_register(d, HCA_HCR_OUT_PARAM + 4);
    return status;
}

unsigned verbs_map_icm(struct verbs_device* d, uint64_t icm, uint64_t bus, unsigned log_pages) {
    uint8_t entry[HCA_MAP_SIZE] = {0};
    hca_set_long(entry, HCA_MAP_VIRTUAL, icm);
    hca_set_long(entry, HCA_MAP_PHYSICAL, bus | log_pages);
    return verbs_command(d, HCA_MAP_ICM, 1, 0, entry, sizeof entry, NULL, 0);
}
