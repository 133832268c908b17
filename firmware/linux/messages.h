/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of Unix sockets, with files. */
#ifndef FABRICVP_LINUX_MESSAGES_H
#define FABRICVP_LINUX_MESSAGES_H

#include "lib/libc.h"

/* \returns a socket, -1 if no broker listens */
int message_connect(void);
/* \returns a socket that listens, -1 if another broker does */
int message_listen(void);
bool message_send(int socket, const void* message, size_t bytes);
bool message_send_files(int socket, const void* message, size_t bytes, const int* files, unsigned count);
/* Waits. Files beyond `most` do not come. \returns its bytes, 0 or -1 if the other end is gone */
long message_receive(int socket, void* message, size_t bytes, int* files, unsigned most);

#endif
