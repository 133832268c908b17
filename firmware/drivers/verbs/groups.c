/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast groups. The adapter has a hash table of them, whose entries software writes: the first ones are heads of
 * chains, the others continue these. */
#include "drivers/verbs/internal.h"

enum { HEADS = 1 << (VERBS_LOG_MCGS - 1), ENTRIES = 1 << VERBS_LOG_MCGS, VALID = 1u << 31 };

static bool read_entry(struct verbs_device* d, uint32_t index, uint8_t* e) {
    return verbs_command(d, HCA_READ_MGM, index, 0, NULL, 0, e, HCA_MGM_SIZE) == HCA_OK;
}
static bool write_entry(struct verbs_device* d, uint32_t index, const uint8_t* e) {
    return verbs_command(d, HCA_WRITE_MGM, index, 0, e, HCA_MGM_SIZE, NULL, 0) == HCA_OK;
}

static bool is_free(const uint8_t* e) {
    const uint8_t* gid = e + HCA_MGM_GID;
    for (unsigned i = 0; i < 16; ++i)
        if (gid[i]) return false;
    return true;
}

static bool has_members(const uint8_t* e) {
    for (unsigned i = 0; i < HCA_MGM_QPS; ++i)
        if (hca_get32(e + HCA_MGM_QP + 4 * i) & VALID) return true;
    return false;
}

/* The group's entry; or the first of its chain without members, which may become it; or the last one of its chain.
 * \returns VERBS_NONE if a command of the adapter fails */
static uint32_t find(struct verbs_device* d, const uint8_t* gid, uint8_t* e) {
    uint64_t head;
    uint32_t empty = VERBS_NONE;
    memcpy(d->in, gid, 16);
    if (verbs_command_immediate(d, HCA_MGID_HASH, 0, (uintptr_t)d->in, &head)) return VERBS_NONE;
    for (uint32_t index = (uint32_t)head;;) {
        if (!read_entry(d, index, e)) return VERBS_NONE;
        const uint32_t next = hca_get(e, HCA_MGM_NEXT);
        if (!memcmp(e + HCA_MGM_GID, gid, 16)) return index;
        if (empty == VERBS_NONE && !has_members(e)) empty = index;
        if (!next) {
            if (empty == VERBS_NONE || empty == index) return index;
            return read_entry(d, empty, e) ? empty : VERBS_NONE;
        }
        index = next;
    }
}

/* Takes an entry without members out of another chain. */
static uint32_t reclaim(struct verbs_device* d) {
    uint8_t before[HCA_MGM_SIZE], e[HCA_MGM_SIZE];
    for (uint32_t head = 0; head < HEADS; ++head) {
        uint32_t last = head;
        if (!read_entry(d, head, before)) return VERBS_NONE;
        for (uint32_t index; (index = hca_get(before, HCA_MGM_NEXT)) != 0; last = index) {
            if (!read_entry(d, index, e)) return VERBS_NONE;
            if (!has_members(e)) {
                hca_set(before, HCA_MGM_NEXT, hca_get(e, HCA_MGM_NEXT));
                return write_entry(d, last, before) ? index : VERBS_NONE;
            }
            memcpy(before, e, sizeof before);
        }
    }
    return VERBS_NONE;
}

/* An entry that no chain has; one without members where all are in use. */
static uint32_t take_entry(struct verbs_device* d, uint8_t* e) {
    for (uint32_t index = HEADS; index < ENTRIES; ++index) {
        if (!read_entry(d, index, e)) return VERBS_NONE;
        if (is_free(e)) return index;
    }
    return reclaim(d);
}

/* An entry behind the end of a chain whose groups all have members. */
static uint32_t append(struct verbs_device* d, uint32_t last, uint8_t* e, const uint8_t* gid) {
    uint8_t end[HCA_MGM_SIZE];
    memcpy(end, e, sizeof end);
    const uint32_t index = take_entry(d, e);
    if (index == VERBS_NONE) return VERBS_NONE;
    memset(e, 0, HCA_MGM_SIZE);
    memcpy(e + HCA_MGM_GID, gid, 16);
    hca_set(end, HCA_MGM_NEXT, index);
    return write_entry(d, index, e) && write_entry(d, last, end) ? index : VERBS_NONE;
}

bool verbs_attach(struct verbs_qp* qp, const uint8_t* gid) {
    struct verbs_device* d = qp->device;
    uint8_t e[HCA_MGM_SIZE];
    uint32_t index = find(d, gid, e);
    if (index == VERBS_NONE) return false;
    if (!has_members(e))
        memcpy(e + HCA_MGM_GID, gid, 16);
    else if (memcmp(e + HCA_MGM_GID, gid, 16))
        index = append(d, index, e, gid);
    if (index == VERBS_NONE) return false;
    uint8_t* room = NULL;
    for (unsigned i = HCA_MGM_QPS; i-- > 0;) {
        uint8_t* member = e + HCA_MGM_QP + 4 * i;
        if (hca_get32(member) == (VALID | qp->number)) return true;
        if (!(hca_get32(member) & VALID)) room = member;
    }
    if (!room) return false;
    hca_put32(room, VALID | qp->number);
    return write_entry(d, index, e);
}

/* An entry without members stays in its chain, for the next group that needs one. */
bool verbs_detach(struct verbs_qp* qp, const uint8_t* gid) {
    uint8_t e[HCA_MGM_SIZE];
    const uint32_t index = find(qp->device, gid, e);
    if (index == VERBS_NONE || memcmp(e + HCA_MGM_GID, gid, 16)) return false;
    for (unsigned i = 0; i < HCA_MGM_QPS; ++i) {
        uint8_t* member = e + HCA_MGM_QP + 4 * i;
        if (hca_get32(member) != (VALID | qp->number)) continue;
        hca_put32(member, 0);
        return write_entry(qp->device, index, e);
    }
    return false;
}
