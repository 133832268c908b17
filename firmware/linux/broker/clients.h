/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LINUX_BROKER_CLIENTS_H
#define FABRICVP_LINUX_BROKER_CLIENTS_H

#include "linux/broker/broker.h"

void clients_start(void);
unsigned clients_count(void);
/* A process has opened: gives it an address space, and replies. \returns false if it has refused */
bool client_begin(int socket, uint64_t version);
/* One request. \returns false if the process is gone, or makes no sense */
bool client_serve(unsigned space);
/* Ends its kernels, and takes back what it had. */
void client_end(unsigned space);

#endif
