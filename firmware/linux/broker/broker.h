/* SPDX-License-Identifier: Apache-2.0 */
/* The broker of GPUs: a process that owns them, and gives others address spaces, queues and memory. What has an owner
 * has the number of its address space + 1; 0: none. */
#ifndef FABRICVP_LINUX_BROKER_BROKER_H
#define FABRICVP_LINUX_BROKER_BROKER_H

#include <sys/types.h>

#include "linux/protocol.h"

extern struct gpu_node gpus;
extern volatile struct broker_shared* shared;

/* ---- clients: one an address space ---- */

struct client {
    int socket;  /* -1: none */
    int process; /* a pidfd */
    pid_t pid;
    uint32_t root_used; /* which of the space's two roots */
    bool lost;          /* the command processor has not given back its queues */
};
extern struct client clients[GPU_ADDRESS_SPACES];

/* ---- interrupts (wakeups.c) ---- */

/* After a GPU has begun, again after a reset. */
void wakeups_start(unsigned gpu);
/* Where its interrupts are told of, -1: nowhere. */
int wakeups_file(unsigned gpu);
/* Takes one, and wakes who waits. */
void wakeups_take(unsigned gpu);
/* Wakes who waits, for whatever reason. */
void wakeups_wake(void);

/* ---- the host's memory (host_pages.c) ---- */

/* Takes all free huge pages. \returns why it cannot, NULL if it has some */
const char* host_pages_start(void);
int host_pages_file(void);
/* Tells processes where in the file they are. */
void host_pages_publish(void);
/* `count` that lie behind each other. \returns false if there are not so many */
bool host_pages_take(unsigned owner, uint64_t count, struct broker_range* range);
void host_pages_drop(unsigned owner);
uint64_t host_pages_count(unsigned owner); /* 0: free ones */
/* Where the broker has a physical address of a huge page, NULL if it is none. */
const void* host_pages_at(uint64_t physical);

/* ---- memory of GPUs (gpu_pages.c) ---- */

void gpu_pages_start(void);
bool gpu_pages_take(unsigned owner, unsigned gpu, uint64_t count, bool contiguous, struct broker_message* reply);
/* Ranges that are not the owner's stay as they are. */
void gpu_pages_return(unsigned owner, unsigned gpu, const struct broker_range* range);
void gpu_pages_drop(unsigned owner);
uint64_t gpu_pages_bytes(unsigned owner, unsigned gpu);
/* Of the root of an address space's page tables, one of two, so that the command processor sees that it is another
 * process's. */
uint64_t gpu_pages_root(unsigned space, unsigned which);

/* ---- queues (queues.c) ---- */

/* \returns false if none is left */
bool queues_take(unsigned owner, unsigned gpu, uint64_t* queue);
void queues_return(unsigned owner, unsigned gpu, uint64_t queue);
/* Ends all kernels of an owner. Queues that the command processor does not give back stay taken: false. */
bool queues_drop(unsigned owner);
unsigned queues_owner(unsigned gpu, unsigned queue);
struct gpu_queue queues_entry(unsigned gpu, unsigned queue);
/* Ends what a queue runs; its owner gets an error. */
void queues_abort(unsigned gpu, unsigned queue);

#endif
