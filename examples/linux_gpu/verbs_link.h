/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to another node by libibverbs, for memory of the host that both GPU and adapter reach, or of the GPU:
 * RDMA writes that tell the other side of their arrival. What goes wrong ends the program with a line. Nodes find each
 * other by TCP. */
#pragma once
#include <infiniband/verbs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

class VerbsLink {
public:
    /* Whether the adapter reaches this memory: that of a GPU where the kernel has pages for it (`run --peer-memory`).
     */
    static bool reaches(void* memory, size_t bytes) {
        ibv_context* const context = open_first();
        ibv_pd* const domain = ibv_alloc_pd(context);
        ibv_mr* const region = domain ? ibv_reg_mr(domain, memory, bytes, IBV_ACCESS_LOCAL_WRITE) : nullptr;
        if (region) ibv_dereg_mr(region);
        if (domain) ibv_dealloc_pd(domain);
        ibv_close_device(context);
        return region;
    }

    /* Connects node `own` with node `peer`, which does the same; each may write into the memory of the other. */
    VerbsLink(int own, int peer, void* memory, size_t bytes) : m_memory(static_cast<char*>(memory)) {
        m_context = open_first();
        m_domain = ibv_alloc_pd(m_context);
        if (!m_domain) fail("ibv_alloc_pd");
        m_region = ibv_reg_mr(m_domain, memory, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        if (!m_region) fail("ibv_reg_mr");
        m_sent = ibv_create_cq(m_context, DEPTH, nullptr, nullptr, 0);
        m_arrived = ibv_create_cq(m_context, DEPTH, nullptr, nullptr, 0);
        ibv_qp_init_attr queues = {};
        queues.send_cq = m_sent, queues.recv_cq = m_arrived, queues.qp_type = IBV_QPT_RC;
        queues.cap = {DEPTH, DEPTH, 1, 1, 0};
        if (!m_sent || !m_arrived || !(m_qp = ibv_create_qp(m_domain, &queues))) fail("ibv_create_qp");
        const int socket = own < peer ? accepted(peer) : connected(own, peer);
        connect(socket);
        close(socket);
    }

    VerbsLink(const VerbsLink&) = delete;
    VerbsLink& operator=(const VerbsLink&) = delete;

    ~VerbsLink() {
        ibv_destroy_qp(m_qp);
        ibv_destroy_cq(m_arrived);
        ibv_destroy_cq(m_sent);
        ibv_dereg_mr(m_region);
        ibv_dealloc_pd(m_domain);
        ibv_close_device(m_context);
    }

    /* Begins to write bytes from an offset of the own memory to an offset of the other's. At most 16 are under way. */
    void write(size_t from, size_t to, size_t bytes) {
        ibv_sge element = {reinterpret_cast<uintptr_t>(m_memory) + from, static_cast<uint32_t>(bytes), m_region->lkey};
        ibv_send_wr request = {}, *bad;
        request.sg_list = &element, request.num_sge = 1;
        request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, request.send_flags = IBV_SEND_SIGNALED;
        request.wr.rdma = {m_peer.address + to, m_peer.rkey};
        if (ibv_post_send(m_qp, &request, &bad)) fail("ibv_post_send");
    }

    /* Waits until a write has ended, so that its source may change. */
    void wait_sent() { wait(m_sent); }

    /* Waits until a write of the other side has arrived. */
    void wait_arrived() {
        wait(m_arrived);
        post_receive();
    }

private:
    enum { DEPTH = 16, PORT = 18000 };

    /* What each tells the other. */
    struct End {
        uint64_t address;
        uint32_t rkey, qp_number, lid, mtu;
    };

    [[noreturn]] static void fail(const char* what) {
        fprintf(stderr, "verbs: %s: %s\n", what, strerror(errno));
        exit(1);
    }

    static ibv_context* open_first() {
        int devices = 0;
        ibv_device** list = ibv_get_device_list(&devices);
        if (!list || !devices) fail("no RDMA adapter");
        ibv_context* const opened = ibv_open_device(list[0]);
        ibv_free_device_list(list);
        if (!opened) fail("ibv_open_device");
        return opened;
    }

    static void wait(ibv_cq* queue) {
        ibv_wc completion;
        int found;
        while (!(found = ibv_poll_cq(queue, 1, &completion))) {
        }
        if (found < 0) fail("ibv_poll_cq");
        if (completion.status == IBV_WC_SUCCESS) return;
        fprintf(stderr, "verbs: %s\n", ibv_wc_status_str(completion.status));
        exit(1);
    }

    /* Takes no data: only tells that a write has arrived. */
    void post_receive() {
        ibv_recv_wr request = {}, *bad;
        if (ibv_post_recv(m_qp, &request, &bad)) fail("ibv_post_recv");
    }

    void change(ibv_qp_attr attributes, int mask) {
        if (ibv_modify_qp(m_qp, &attributes, mask | IBV_QP_STATE)) fail("ibv_modify_qp");
    }

    void connect(int socket) {
        ibv_port_attr port;
        if (ibv_query_port(m_context, 1, &port)) fail("ibv_query_port");
        if (port.state != IBV_PORT_ACTIVE) fail("the adapter's port is not active");
        const End own = {reinterpret_cast<uintptr_t>(m_memory), m_region->rkey, m_qp->qp_num, port.lid,
                         port.active_mtu};
        swap(socket, &own, &m_peer, sizeof own);
        ibv_qp_attr a = {};
        a.qp_state = IBV_QPS_INIT, a.port_num = 1, a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
        change(a, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
        for (int i = 0; i < DEPTH; ++i) post_receive();
        a = {};
        a.qp_state = IBV_QPS_RTR, a.dest_qp_num = m_peer.qp_number, a.max_dest_rd_atomic = 1, a.min_rnr_timer = 12;
        a.path_mtu = static_cast<ibv_mtu>(own.mtu < m_peer.mtu ? own.mtu : m_peer.mtu);
        a.ah_attr.dlid = static_cast<uint16_t>(m_peer.lid), a.ah_attr.port_num = 1;
        change(a, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                      IBV_QP_MIN_RNR_TIMER);
        a = {};
        a.qp_state = IBV_QPS_RTS, a.timeout = 14, a.retry_cnt = 7, a.rnr_retry = 7, a.max_rd_atomic = 1;
        change(a, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
        char ready = 0;
        swap(socket, "", &ready, 1); /* none writes before the other can receive */
    }

    static void swap(int socket, const void* out, void* in, size_t bytes) {
        if (send(socket, out, bytes, 0) != static_cast<ssize_t>(bytes)) fail("send");
        if (recv(socket, in, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes)) fail("recv");
    }

    static addrinfo* address_of(int node, int port) {
        char name[16], service[16];
        snprintf(name, sizeof name, "node%d", node);
        snprintf(service, sizeof service, "%d", port);
        addrinfo hints = {}, *found;
        hints.ai_family = AF_INET, hints.ai_socktype = SOCK_STREAM, hints.ai_flags = node < 0 ? AI_PASSIVE : 0;
        const int error = getaddrinfo(node < 0 ? nullptr : name, service, &hints, &found);
        if (error) fprintf(stderr, "%s: %s\n", name, gai_strerror(error)), exit(1);
        return found;
    }

    static int accepted(int peer) {
        addrinfo* any = address_of(-1, PORT + peer);
        const int listening = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
        setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (bind(listening, any->ai_addr, any->ai_addrlen) || listen(listening, 1)) fail("listen");
        freeaddrinfo(any);
        const int socket = accept(listening, nullptr, nullptr);
        if (socket < 0) fail("accept");
        close(listening);
        return socket;
    }

    /* Tries until the other side listens. */
    static int connected(int own, int peer) {
        addrinfo* there = address_of(peer, PORT + own);
        for (;;) {
            const int s = socket(AF_INET, SOCK_STREAM, 0);
            if (::connect(s, there->ai_addr, there->ai_addrlen) == 0) return freeaddrinfo(there), s;
            close(s);
            usleep(1000);
        }
    }

    char* m_memory;
    ibv_context* m_context;
    ibv_pd* m_domain;
    ibv_mr* m_region;
    ibv_cq *m_sent, *m_arrived;
    ibv_qp* m_qp;
    End m_peer = {};
};
