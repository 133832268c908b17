/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA adapters (abi/hca.h) as verbs: protection domains, memory regions, completion queues, shared receive queues,
 * queue pairs, events, management datagrams. Queues, completions and doorbell records lie where the caller says, in a
 * GPU's memory say. Objects are the caller's structures; what makes one says whether it could. Posting and polling are
 * for one hart at a time and queue, several harts may do it to queues of their own at once: a doorbell is one store,
 * and needs no lock. All else is called by one hart at a time and adapter. */
#ifndef FABRICVP_DRIVERS_VERBS_VERBS_H
#define FABRICVP_DRIVERS_VERBS_VERBS_H

#include "abi/hca.h"
#include "abi/hca_context.h"
#include "abi/hca_mad.h"
#include "abi/hca_post.h"
#include "drivers/pci/pci.h"

enum {
    VERBS_MAX_EQS = 2,
    VERBS_RECORDS = 512,
    VERBS_LOG_QPS = 12,
    VERBS_LOG_CQS = 12,
    VERBS_LOG_SRQS = 10,
    VERBS_LOG_MPTS = 14
};

/* Numbers that are taken and given back. */
struct verbs_pool {
    uint64_t* allocated; /* a bit each */
    uint32_t count, from;
};

/* Memory in one piece, as the hart sees it and as the bus does. */
struct verbs_memory {
    uintptr_t at;
    uint64_t bus, bytes;
};
static inline struct verbs_memory verbs_host_memory(const void* at, uint64_t bytes) {
    return (struct verbs_memory){(uintptr_t)at, (uintptr_t)at, bytes};
}

struct verbs_device;

struct verbs_pd {
    struct verbs_device* device;
    uint32_t number;
};

struct verbs_mr {
    struct verbs_device* device;
    uint32_t index, key; /* key is lkey and rkey */
    uint32_t segment, segments;
    uint64_t address, bytes;
};

/* Memory of a queue: the caller's, or of the heap. */
struct verbs_buffer {
    struct verbs_memory memory;
    struct verbs_mr mr;
    bool own;
};

/* A user access region: a page of doorbells, and the records that belong to it. */
struct verbs_uar {
    struct verbs_device* device;
    uint32_t number;
    uintptr_t doorbells; /* the page, as the hart sees it */
    uint64_t doorbells_bus;
    struct verbs_memory records;
    bool own_records;
    struct verbs_pool pool;
    uint64_t allocated[VERBS_RECORDS / 64];
};

struct verbs_eq {
    unsigned number, log_size;
    volatile uint64_t* entries;
    uint32_t consumer;
};

/* Called, in an interrupt if there are any, for all but completions; `number` is that of a queue, queue pair or port.
 */
typedef void (*verbs_event_handler)(struct verbs_device* device, enum hca_event type, uint32_t number, unsigned detail);

struct verbs_device {
    struct pci_function* function;
    uintptr_t registers, doorbells;
    uint64_t doorbells_bus;
    void* memory[32]; /* of the heap, until it is closed */
    unsigned allocated_blocks;
    uint8_t *in, *out; /* mailboxes */
    uintptr_t clear_interrupt, arm, set_consumer;
    unsigned pin;
    uint64_t* translations; /* all entries, as in ICM from VERBS_ICM_MTT on */
    struct verbs_pool uars, domains, regions, segments, cqs, srqs, qps;
    uint32_t key_generation, qp_generation;
    uint32_t special;     /* number of queue pair 0; two further on is queue pair 1 */
    struct verbs_uar uar; /* used where the caller gives none */
    struct verbs_eq eq[VERBS_MAX_EQS];
    struct verbs_pd eq_pd;
    struct verbs_buffer eq_memory[VERBS_MAX_EQS];
    enum pci_delivery delivery;
    volatile uint32_t interrupts;
    volatile uint32_t events[32]; /* by type, ever */
    verbs_event_handler on_event;
    struct verbs_cq** cq; /* by number */
    struct verbs_qp** qp;
    struct verbs_srq** srq;
    unsigned status; /* enum hca_status of the command that failed last */
};

/* ---- adapters ---- */

/* Adapter `index` of the tree, ready and with its port up. \returns false with a line on the console if it cannot be
 * used */
bool verbs_open(struct verbs_device* device, const struct pci_host* host, unsigned index);
/* All objects must be gone. */
void verbs_close(struct verbs_device* device);
/* Events by the best way at most `best`; until then they are polled. */
enum pci_delivery verbs_use_interrupts(struct verbs_device* device, enum pci_delivery best);
/* Takes what stands in event queues: to be called where there are no interrupts. */
void verbs_poll_events(struct verbs_device* device);

/* A page of doorbells with its records. \param records one page; NULL: of the heap */
bool verbs_open_uar(struct verbs_uar* uar, struct verbs_device* device, const struct verbs_memory* records);
void verbs_close_uar(struct verbs_uar* uar);

/* A management datagram to the adapter's own agent, 256 bytes each way. \returns enum hca_status */
unsigned verbs_mad(struct verbs_device* device, const void* request, void* response);
/* The data of an attribute of subnet management, HCA_MAD_DATA_SIZE bytes. \returns enum hca_status, or the MAD's status
 * << 8 */
unsigned verbs_get(struct verbs_device* device, unsigned attribute, uint32_t modifier, uint8_t* data);
/* Waits until the port is active. \param info its PortInfo, HCA_MAD_DATA_SIZE bytes */
bool verbs_wait_port(struct verbs_device* device, uint8_t* info, uint64_t microseconds);

/* ---- memory ---- */

bool verbs_open_pd(struct verbs_pd* pd, struct verbs_device* device);
void verbs_close_pd(struct verbs_pd* pd);

enum verbs_right {
    VERBS_LOCAL_READ = 1 << 10,
    VERBS_LOCAL_WRITE = 1 << 11,
    VERBS_REMOTE_READ = 1 << 12,
    VERBS_REMOTE_WRITE = 1 << 13,
    VERBS_REMOTE_ATOMIC = 1 << 14,
    VERBS_ALL_RIGHTS = 0x1f << 10
};
enum { VERBS_LOG_PAGE = 12 };
/* `bytes` from virtual address `address` on, in memory of one piece, with translation entries for pages of 2^log_page
 * bytes. */
bool verbs_register(struct verbs_mr* mr, const struct verbs_pd* pd, const struct verbs_memory* memory, uint64_t address,
                    unsigned rights, unsigned log_page);
void verbs_unregister(struct verbs_mr* mr);
/* Host memory at its own addresses. */
static inline bool verbs_register_host(struct verbs_mr* mr, const struct verbs_pd* pd, const void* at, uint64_t bytes,
                                       unsigned rights) {
    const struct verbs_memory memory = verbs_host_memory(at, bytes);
    return verbs_register(mr, pd, &memory, memory.at, rights, VERBS_LOG_PAGE);
}

/* ---- completion queues ---- */

struct verbs_cq {
    struct verbs_device* device;
    struct verbs_uar* uar;
    const struct verbs_pd* pd;
    struct verbs_buffer buffer;
    uint32_t number, log_size, consumer;
    uint32_t consumer_record, arm_record; /* their numbers */
    unsigned armed;                       /* sequence */
    volatile uint32_t events;             /* ever */
};
struct verbs_object_memory { /* where an object's memory lies, and which page its doorbells ring; NULL: the heap, the
                        adapter's own */
    const struct verbs_memory* memory;
    struct verbs_uar* uar;
};
static inline uint64_t verbs_cq_bytes(unsigned log_size) { return (uint64_t)HCA_CQE_SIZE << log_size; }
bool verbs_create_cq(struct verbs_cq* cq, const struct verbs_pd* pd, unsigned log_size,
                     const struct verbs_object_memory* place);
bool verbs_resize_cq(struct verbs_cq* cq, unsigned log_size, const struct verbs_memory* memory);
void verbs_destroy_cq(struct verbs_cq* cq);

struct verbs_completion {
    uint64_t id; /* of the request */
    uint32_t qpn;
    uint8_t syndrome; /* enum hca_syndrome; 0: success, and then: */
    uint8_t opcode;   /* of sends: enum hca_opcode; of receives: the BTH's */
    bool is_send, has_immediate, has_grh;
    uint32_t bytes, immediate; /* of receives, reads, atomics */
    uint32_t source_qpn;       /* of datagrams */
    uint16_t source_lid;
};
/* Up to `most` completions. \returns how many */
unsigned verbs_poll(struct verbs_cq* cq, struct verbs_completion* to, unsigned max);
/* Waits for one, at the longest so long. */
bool verbs_wait(struct verbs_cq* cq, struct verbs_completion* to, uint64_t microseconds);
/* The next completion is an event; one that has come and has not been polled is one at once. */
void verbs_arm(struct verbs_cq* cq, bool solicited_only);
/* Waits until the queue has had more than `events` events, asleep if there are interrupts. */
bool verbs_wait_event(struct verbs_cq* cq, uint32_t events, uint64_t microseconds);

/* ---- work queues ---- */

/* A ring of entries, and the identifiers of what is in it. */
struct verbs_work_queue {
    uint64_t* id; /* NULL: nothing has one; the caller posts without the driver (from a GPU, say) */
    uintptr_t at;
    uint32_t start;                /* offset in the buffer */
    unsigned log_size, log_stride; /* entries; log_size 0: none */
    uint16_t head, tail;           /* posted, completed: counters */
    uint32_t record;
    uint32_t send_bytes; /* of sends: of an entry, that one may fill */
    volatile uint64_t* record_at;
};
static inline uint32_t verbs_wqe_offset(const struct verbs_work_queue* r, uint32_t counter) {
    return r->start + ((counter & ((1u << r->log_size) - 1)) << r->log_stride);
}

struct verbs_sge {
    uint64_t address;
    uint32_t key, bytes; /* below 2 GiB */
};
/* A destination of datagrams. */
struct verbs_address {
    uint16_t lid;
    uint8_t service_level;
    uint32_t qpn, qkey;
    const uint8_t* gid; /* 16 bytes; NULL: no global route header */
};
enum verbs_flag { VERBS_SIGNALLED = 1, VERBS_SOLICITED = 2, VERBS_FENCE = 4, VERBS_INLINE = 8 };
struct verbs_send_request {
    uint64_t id;
    const struct verbs_sge* list; /* keys of inline data do not matter */
    unsigned elements;
    enum hca_opcode opcode;
    unsigned flags;
    uint32_t immediate, rkey;
    uint64_t remote;
    uint64_t swap_add, compare; /* of atomics */
    struct verbs_address to;    /* of datagrams */
};
struct verbs_receive_request {
    uint64_t id;
    const struct verbs_sge* list;
    unsigned elements;
};

struct verbs_srq {
    struct verbs_device* device;
    struct verbs_uar* uar;
    struct verbs_buffer buffer;
    struct verbs_work_queue ring;
    uint32_t number;
    uint16_t* next;       /* free entries, each followed by: */
    uint16_t first, last; /* the last one cannot be posted yet, since it does not know what follows */
};
/* 2^log_size entries, of which one stays free, for `elements` elements each. */
bool verbs_create_srq(struct verbs_srq* srq, const struct verbs_pd* pd, unsigned log_size, unsigned elements,
                      const struct verbs_object_memory* place);
unsigned verbs_post_srq(struct verbs_srq* srq, const struct verbs_receive_request* requests, unsigned count);
/* An event once fewer than `limit` entries are left. */
bool verbs_arm_srq(struct verbs_srq* srq, unsigned limit);
void verbs_destroy_srq(struct verbs_srq* srq);

enum verbs_special { VERBS_ORDINARY, VERBS_SMI, VERBS_GSI }; /* queue pairs 0 and 1, of type HCA_QP_MLX: see mads.h */
struct verbs_qp_shape {
    enum hca_qp_type type;
    enum verbs_special special;
    struct verbs_cq *send_cq, *receive_cq;
    struct verbs_srq* srq;                                /* or NULL */
    unsigned log_sq_size, log_rq_size;                    /* 0: none */
    unsigned max_send_sge, max_receive_sge, inline_bytes; /* the most that a request has */
    bool signal_all;
};
struct verbs_qp {
    const struct verbs_pd* pd;
    struct verbs_device* device;
    struct verbs_uar* uar;
    struct verbs_qp_shape shape;
    struct verbs_buffer buffer;
    struct verbs_work_queue send_queue, receive_queue;
    uint32_t number;
    enum hca_qp_state state; /* that verbs_modify() has brought it to */
};
/* Bytes of its buffer. */
uint64_t verbs_qp_bytes(const struct verbs_qp_shape* shape);
/* \returns false, too, where a send could be longer than the 1008 bytes of which the adapter can be told */
bool verbs_create_qp(struct verbs_qp* qp, const struct verbs_pd* pd, const struct verbs_qp_shape* shape,
                     const struct verbs_object_memory* place);
/* Completions of it that were not polled are gone, as they are when it enters RESET. */
void verbs_destroy_qp(struct verbs_qp* qp);

struct verbs_qp_attributes {
    unsigned rights;  /* VERBS_REMOTE_… that others have through it */
    unsigned log_mtu; /* 8 (256 bytes) … 12 */
    uint32_t remote_qpn, send_psn, receive_psn, qkey;
    uint16_t remote_lid;
    uint8_t service_level, pkey_index;
    uint8_t log_reads;              /* reads and atomics in flight, each way */
    uint8_t ack_timeout, retries;   /* 4.096 µs << this */
    uint8_t rnr_retries, rnr_timer; /* 7 retries: for ever */
};
/* From the state before it to INIT, RTR, RTS; from RTS to SQD, where an event tells that the sends that had begun are
 * complete, and back; to RTS once more where a send of UC or UD has failed (SQE); from any to ERR and RESET. A queue
 * pair is made in RESET. */
bool verbs_modify(struct verbs_qp* qp, enum hca_qp_state to, const struct verbs_qp_attributes* attributes);
/* All the way to RTS. */
bool verbs_connect(struct verbs_qp* qp, const struct verbs_qp_attributes* attributes);
/* Its context as the adapter has it, HCA_QPC_SIZE bytes. */
bool verbs_query_qp(struct verbs_qp* qp, uint8_t* context);

/* As many as there is room for; one doorbell for up to 255 of them. \returns how many; fewer too if one is malformed,
 * and none without a receive queue of its own */
unsigned verbs_post_send(struct verbs_qp* qp, const struct verbs_send_request* requests, unsigned count);
unsigned verbs_post_receive(struct verbs_qp* qp, const struct verbs_receive_request* requests, unsigned count);
static inline unsigned verbs_send_space(const struct verbs_qp* qp) {
    return (1u << qp->send_queue.log_size) - (uint16_t)(qp->send_queue.head - qp->send_queue.tail);
}
/* Datagrams to a multicast group (16 bytes, and a LID from 0xc000 on, to queue pair 0xffffff) come to all that are
 * attached. */
bool verbs_attach(struct verbs_qp* qp, const uint8_t* gid);
bool verbs_detach(struct verbs_qp* qp, const uint8_t* gid);

const char* verbs_syndrome_name(unsigned syndrome);

#endif
