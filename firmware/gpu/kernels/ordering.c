/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "abi/hca_post.h"
#include "crc32.h"
#include "gpu.h"
#include "ordering.h"

enum { MAX_TRIES = 100000 };

LDS struct crc32 crc;
LDS uint32_t wrong_words;

/* Where data and flag are, in registers: arguments lie in memory, and would be read again after each look. */
struct view {
    const volatile uint32_t* data;
    const uint64_t* flag;
    uint32_t words, lane, lanes, polls, crc_offset;
    bool completion, check;
};

/* Waits for round `round`. \returns whether it has come; `sum` is the CRC that came along */
GPU_INLINE bool wait_for(const struct view* v, const uint64_t* flag, uint32_t round, uint32_t* sum) {
    uint64_t found = 0;
    uint32_t left = v->polls;
    if (v->completion) {
        while (!hca_cqe_software_owned(load_scoped_u64(flag + HCA_CQE_LAST)) && --left) {
        }
        *sum = hca_swap32((uint32_t)load_scoped_u64(flag + 2));
    } else {
        do found = load_scoped_u64(flag);
        while ((uint32_t)found != round && --left);
        *sum = (uint32_t)(found >> 32);
    }
    return left != 0;
}

/* Reads all words once. \returns how many are wrong, and the CRC of what was read */
GPU_INLINE uint32_t read_all(const struct view* v, uint32_t round, bool bypass_l1, bool check, uint32_t* sum) {
    uint32_t part = 0, wrong = 0;
    for (uint32_t i = v->lane; i < v->words; i += v->lanes) {
        const uint32_t word = bypass_l1 ? load_scoped_u32(&v->data[i]) : v->data[i];
        wrong += word != ordering_word(round, i);
        if (check) part = crc32_word(&crc, part, word);
    }
    if (wrong) (void)atomic_add_u32(&wrong_words, wrong);
    if (check) *sum = crc32_of_group(&crc, v->crc_offset, part);
    barrier();
    const uint32_t all = *(volatile uint32_t*)&wrong_words;
    barrier();
    if (v->lane == 0) wrong_words = 0;
    barrier();
    return all;
}

/* Reads bypassing L1 until all words are right. \returns how often */
GPU_INLINE uint32_t read_again(const struct view* v, uint32_t round, bool* correct_immediately) {
    uint32_t tries = 1, unused;
    *correct_immediately = !read_all(v, round, true, false, &unused);
    if (*correct_immediately) return tries;
    while (tries < MAX_TRIES && read_all(v, round, true, false, &unused)) ++tries;
    return tries;
}

GPU_INLINE void run_reader(const struct ordering_arguments* a) {
    struct ordering_result r = {0};
    struct view v = {a->data,
                     a->flag,
                     a->words,
                     (uint32_t)local_id(0),
                     (uint32_t)group_size(0),
                     a->polls,
                     0,
                     a->flag_kind == ORDERING_COMPLETION,
                     a->check};
    const uint32_t read_kind = a->read, rounds = a->rounds, completions = a->completions;
    v.crc_offset = crc32_prepare(&crc, v.words);
    if (v.lane == 0) wrong_words = 0;
    barrier();
    r.aborted = compute_unit_id() != ORDERING_READER_UNIT;
    for (uint32_t round = 1; round <= rounds && !r.aborted; ++round) {
        uint32_t expected_crc = 0, sum = 0, wrong;
        const uint64_t* flag =
            v.completion ? v.flag + (uint64_t)((round - 1) & (completions - 1)) * HCA_CQE_WORDS : v.flag;
        r.aborted = !wait_for(&v, flag, round, &expected_crc);
        const uint64_t begin = gpu_cycle();
        if (read_kind == ORDERING_ACQUIRE) fence_acquire(GPU_SCOPE_SYSTEM);
        const uint64_t acquired = gpu_cycle();
        wrong = read_kind == ORDERING_BYPASS ? read_all(&v, round, true, v.check, &sum)
                                             : read_all(&v, round, false, v.check, &sum);
        const uint64_t read = gpu_cycle();
        if (r.aborted) break;
        ++r.rounds;
        r.acquiring += acquired - begin;
        r.reading += read - acquired;
        r.found += v.check && wrong && sum != expected_crc;
        r.missed += v.check && wrong && sum == expected_crc;
        r.alarms += v.check && !wrong && sum != expected_crc;
        if (wrong) {
            bool immediately;
            const uint32_t tries = read_again(&v, round, &immediately);
            /* L1 holds nothing old after an acquire, and is not asked past it. */
            const bool stale = read_kind == ORDERING_PLAIN && immediately;
            r.words += wrong;
            ++r.wrong;
            r.stale += stale;
            r.early += !stale;
            r.tries += tries;
            r.aborted = tries == MAX_TRIES;
            r.repairing += gpu_cycle() - read;
        }
        (void)read_all(&v, round, false, false,
                       &sum); /* L1 keeps this round's words, as if something had been done with them */
        if (v.lane == 0) *a->done = round;
    }
    if (v.lane) return;
    *a->result = r;
    fence_release(GPU_SCOPE_SYSTEM);
    *(volatile uint32_t*)a->stop = 1;
}

/* Keeps the bank of the first line busy, from other compute units. */
GPU_INLINE void load(const struct ordering_arguments* a) {
    if (compute_unit_id() == ORDERING_READER_UNIT) return;
    const uint32_t first = (uint32_t)((group_id(0) - 1) * group_size(0) + local_id(0));
    const char* line = (const char*)a->load + (uint64_t)(first % a->lines) * a->stride;
    while (!load_scoped_u32(a->stop))
        for (unsigned i = 0; i < 32; ++i) (void)load_scoped_u32(line);
}

/* The first work-group looks at what RDMA writes; others are in its way. */
KERNEL(ordering, struct ordering_arguments) {
    if (group_id(0) == 0)
        run_reader(args);
    else
        load(args);
}
