/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "linux/messages.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "linux/protocol.h"

static int open_socket(struct sockaddr_un* at, socklen_t* bytes) {
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(at->sun_path + 1, BROKER_SOCKET, sizeof BROKER_SOCKET - 1); /* behind a 0: the abstract namespace */
    *bytes = offsetof(struct sockaddr_un, sun_path) + sizeof BROKER_SOCKET;
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

int message_connect(void) {
    struct sockaddr_un at;
    socklen_t bytes;
    const int s = open_socket(&at, &bytes);
    if (s < 0 || connect(s, (struct sockaddr*)&at, bytes) == 0) return s;
    close(s);
    return -1;
}

int message_listen(void) {
    struct sockaddr_un at;
    socklen_t bytes;
    const int s = open_socket(&at, &bytes);
    if (s < 0 || (bind(s, (struct sockaddr*)&at, bytes) == 0 && listen(s, SOMAXCONN) == 0)) return s;
    close(s);
    return -1;
}

bool message_send_files(int socket, const void* message, size_t bytes, const int* files, unsigned count) {
    struct iovec part = {(void*)message, bytes};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * BROKER_MAX_FILES)];
    } control;
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int) * count), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), files, sizeof(int) * count);
    }
    ssize_t sent;
    while ((sent = sendmsg(socket, &m, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
    }
    return sent == (ssize_t)bytes;
}

bool message_send(int socket, const void* message, size_t bytes) {
    return message_send_files(socket, message, bytes, NULL, 0);
}

long message_receive(int socket, void* message, size_t bytes, int* files, unsigned most) {
    struct iovec part = {message, bytes};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * BROKER_MAX_FILES)];
    } control;
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (most) m.msg_control = &control, m.msg_controllen = CMSG_SPACE(sizeof(int) * most);
    ssize_t received;
    while ((received = recvmsg(socket, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    const struct cmsghdr* c = received > 0 && most ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(files, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    return received;
}
