/* SPDX-License-Identifier: Apache-2.0 */
/* A process's connection to the broker. */
#ifndef FABRICVP_LINUX_CLIENT_CLIENT_H
#define FABRICVP_LINUX_CLIENT_CLIENT_H

#include <sys/types.h>

#include "linux/protocol.h"

/* Starts the broker if none runs. \returns false, with the reason on standard error, without GPUs that can be used */
bool client_open(void);
/* \returns a socket of the broker, which is started if none runs, -1 with the reason on standard error */
int client_connect(void);
/* Becomes the broker; returns if it cannot. */
void client_run_broker(char* const* arguments);
/* Maps what devices or others have. \returns NULL if it cannot be */
void* client_map(int file, size_t bytes);
/* Takes the huge page that no process can do without. \returns false if there is none */
bool client_take_memory(void);
/* Where in the file of huge pages one of this process's is, by its address. */
off_t client_file_offset(uintptr_t at);
/* What the broker has said, and its files. */
extern struct broker_opened client_opened;
extern int client_files[BROKER_MAX_FILES];
extern volatile struct broker_shared* client_shared;
/* Sends `m` and receives the reply in its place. \returns false if the broker refuses; ends the program if it is gone
 */
bool client_ask(struct broker_message* m);

/* A file whose mapping at an offset is a GPU's memory there, in pages that other devices can be given; -1: there is
 * none
 */
int client_pages(const struct gpu* g);

#endif
