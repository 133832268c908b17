/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of verbs_check share: two ends, each a device with memory that the peer may use, and what that memory
 * must hold. After every operation all bytes of both are compared. */
#ifndef VERBS_CHECK_H
#define VERBS_CHECK_H

#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = (1 << 20) + (64 << 10), QKEY = 0x1234567, GRH = 40, MTU = 2048 };

struct end {
    struct ibv_context* context;
    struct ibv_pd* pd;
    struct ibv_comp_channel* channel;
    struct ibv_cq* cq;
    struct ibv_mr* mr;
    struct ibv_srq* srq; /* where a test uses one */
    uint8_t *memory, *expected;
    uint16_t lid;
};

extern struct end ends[2];
extern unsigned checks;

/* Ends the program with a line that says what was wrong. */
_Noreturn void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));
void require(int good, const char* what);
void passed(const char* what);

/* A pair of queue pairs, one of each end. */
struct options {
    enum ibv_qp_type type;
    unsigned rnr_retries, timeout; /* 7 and 14 unless said */
    unsigned depth;                /* of queues; 32 unless said */
    int with_srq;
    uint32_t wrong_peer; /* not 0: the queue pair that the first one takes for its peer */
};
void connect_pair(struct ibv_qp* qp[2], struct options o);
void destroy_pair(struct ibv_qp* qp[2]);

/* The next completion of an end; there must be one. */
struct ibv_wc completion(struct end* e);
/* There must be none for a while. */
void silence(struct end* e);
void good(struct ibv_wc wc, enum ibv_wc_opcode opcode);
void bad(struct ibv_wc wc, enum ibv_wc_status status);

/* Local memory of a request, cut into up to three segments of odd sizes. */
unsigned cut(struct end* e, size_t at, size_t bytes, struct ibv_sge sge[3]);
void post(struct ibv_qp* qp, struct ibv_send_wr* wr);
void post_receive(struct ibv_qp* qp, struct end* e, size_t at, size_t bytes, uint64_t id);

/* Fills both memories with something new, or compares them with what is expected. */
void refill(void);
void compare(const char* what, size_t bytes);
/* Says that bytes have been copied. */
void expect_copy(struct end* to, size_t at, const struct end* from, size_t from_at, size_t bytes);

void check_data(int only_reliable); /* verbs_data.c */
void check_queues(void);            /* verbs_queues.c */
void check_errors(void);            /* verbs_errors.c */

#endif
