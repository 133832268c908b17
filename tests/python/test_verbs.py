# SPDX-License-Identifier: Apache-2.0
"""What the verbs library refuses, and what it gives back: requests that no entry can hold, completions of queue pairs
that are gone, entries of multicast groups without members."""

import subprocess

import fabricvp
import pytest
from fabricvp.data import sdk_folder

PROGRAM = r"""
#include "drivers/bootstrap/bootstrap.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/pattern.h"

enum { BYTES = 65536, OUT = 0, IN = 32768, QKEY = 5, MANY = 63, INLINE = 972, ELEMENTS = 61, TOO_LONG = 0x80000008u };
static struct bootstrap nodes;
static struct channel c;
static bool first; /* this node begins */

static void check(const char* what, bool ok) {
    if (first) console_printf("%s: %s\n", what, ok ? "ok" : "FAILED");
}

static void open_channel(struct channel_shape s) {
    s.type = HCA_QP_RC;
    s.bytes = BYTES;
    s.fast = true;
    s.log_sq_size = 3;
    channel_open(&c, &nodes, !nodes.comm.rank, &s);
}

/* ---- lengths ---- */

static void lengths(void) {
    struct verbs_sge e[2];
    struct verbs_completion done;
    open_channel((struct channel_shape){.log_rq_size = 2, .elements = 2, .inline_bytes = 64});
    struct verbs_send_request s = channel_request(&c, HCA_OP_WRITE, e, OUT, IN, TOO_LONG);
    check("2 GiB", !verbs_post_send(&c.qp, &s, 1));
    e[1] = e[0];
    e[0].bytes = 8;
    s.elements = 2;
    check("2 GiB in the second element", !verbs_post_send(&c.qp, &s, 1));
    e[0].bytes = e[1].bytes = 0x80000000u;
    s.flags |= VERBS_INLINE;
    check("4 GiB inline", !verbs_post_send(&c.qp, &s, 1));
    e[0].bytes = TOO_LONG;
    check("2 GiB to receive", !verbs_post_receive(&c.qp, &(struct verbs_receive_request){1, e, 1}, 1));
    pattern_write(channel_at(&c, OUT), 64, 1);
    s = channel_request(&c, HCA_OP_WRITE, e, OUT, IN, 64);
    check("64 bytes", !first || channel_send(&c, &s, &done) == 0);
    channel_close(&c);
}

/* ---- sizes of entries ---- */

static bool can_make(unsigned elements, unsigned inline_bytes) {
    struct verbs_qp qp;
    const struct verbs_qp_shape s = {.type = HCA_QP_RC,
                                     .send_cq = &c.send_cq,
                                     .receive_cq = &c.receive_cq,
                                     .log_sq_size = 3,
                                     .max_send_sge = elements,
                                     .inline_bytes = inline_bytes};
    if (!verbs_create_qp(&qp, &nodes.pd, &s, NULL)) return false;
    verbs_destroy_qp(&qp);
    return true;
}

static void sizes(void) {
    struct verbs_sge e[MANY];
    struct verbs_completion done;
    open_channel((struct channel_shape){.elements = 1, .inline_bytes = INLINE});
    check("so much inline", can_make(1, INLINE) && !can_make(1, INLINE + 1) && !can_make(1, 1u << 31));
    check("so many elements", can_make(ELEMENTS, 0) && !can_make(ELEMENTS + 1, 0) && !can_make(1u << 28, 0));
    struct verbs_send_request s = channel_request(&c, HCA_OP_WRITE, e, OUT, IN, INLINE);
    s.flags |= VERBS_INLINE;
    check("all inline", !first || channel_send(&c, &s, &done) == 0);
    e[0].bytes = INLINE + 1;
    check("more inline", !verbs_post_send(&c.qp, &s, 1));
    channel_close(&c);
    open_channel((struct channel_shape){.elements = ELEMENTS});
    s = channel_request(&c, HCA_OP_WRITE, e, OUT, IN, 8);
    for (unsigned i = 1; i < MANY; ++i) e[i] = e[0];
    s.elements = ELEMENTS;
    check("all elements", !first || channel_send(&c, &s, &done) == 0);
    s.elements = ELEMENTS + 1;
    check("more elements", !verbs_post_send(&c.qp, &s, 1));
    s.opcode = HCA_OP_SEND; /* without the other one's address */
    s.elements = MANY;
    check("more elements of a send", !verbs_post_send(&c.qp, &s, 1));
    channel_close(&c);
}

/* ---- receives without a queue ---- */

static void no_queue(void) {
    struct verbs_sge e;
    open_channel((struct channel_shape){.elements = 1});
    channel_request(&c, HCA_OP_WRITE, &e, OUT, IN, 64);
    volatile uint64_t* entry = (volatile uint64_t*)c.qp.send_queue.at;
    entry[2] = 0x1122334455667788;
    check("a receive without a queue",
          !verbs_post_receive(&c.qp, &(struct verbs_receive_request){7, &e, 1}, 1) && entry[2] == 0x1122334455667788);
    channel_close(&c);
}

/* ---- completions of queue pairs that are gone; datagrams to this node ---- */

static struct verbs_cq send_cq, shared_cq;
static struct verbs_qp sender;
static uint8_t memory[4096] __attribute__((aligned(4096)));
static struct verbs_mr mr;

static bool make(struct verbs_qp* qp, struct verbs_srq* srq, struct verbs_cq* receive_cq) {
    const struct verbs_qp_shape s = {.type = HCA_QP_UD,
                                     .send_cq = &send_cq,
                                     .receive_cq = receive_cq,
                                     .srq = srq,
                                     .log_sq_size = 2,
                                     .log_rq_size = srq ? 0 : 2,
                                     .max_send_sge = 1,
                                     .max_receive_sge = 1};
    return verbs_create_qp(qp, &nodes.pd, &s, NULL) &&
           verbs_connect(qp, &(struct verbs_qp_attributes){.log_mtu = nodes.log_mtu, .qkey = QKEY});
}

static bool send_to(const struct verbs_qp* qp) {
    struct verbs_completion done;
    const struct verbs_sge e = {(uintptr_t)memory, mr.key, 8};
    const struct verbs_send_request s = {
        .list = &e,
        .elements = 1,
        .opcode = HCA_OP_SEND,
        .flags = VERBS_SIGNALLED,
        .to = {.lid = (uint16_t)(nodes.comm.rank + 1), .qpn = qp->number, .qkey = QKEY}};
    return verbs_post_send(&sender, &s, 1) == 1 && verbs_wait(&send_cq, &done, 1000) && !done.syndrome;
}

static unsigned next_id = 100;
static unsigned post_shared(struct verbs_srq* srq, unsigned count) {
    const struct verbs_sge e = {(uintptr_t)memory + 1024, mr.key, 64};
    unsigned posted = 0;
    while (posted < count && verbs_post_srq(srq, &(struct verbs_receive_request){next_id, &e, 1}, 1))
        ++posted, ++next_id;
    return posted;
}

static bool comes(const struct verbs_qp* qp, uint64_t id) {
    struct verbs_completion done = {.syndrome = 0};
    return verbs_wait(&shared_cq, &done, 1000) && !done.syndrome && done.qpn == qp->number && done.id == id;
}

static void shared_receives(void) {
    struct verbs_srq srq;
    struct verbs_completion done;
    struct verbs_qp gone, stays;
    bool ok = verbs_create_srq(&srq, &nodes.pd, 3, 1, NULL) && make(&gone, &srq, &shared_cq) &&
              make(&stays, &srq, &shared_cq);
    const struct verbs_sge e = {(uintptr_t)memory + 1024, mr.key, TOO_LONG};
    ok = !verbs_post_srq(&srq, &(struct verbs_receive_request){1, &e, 1}, 1) && ok;
    check("2 GiB of a shared queue", ok);
    check("a receive of a shared queue's pair",
          !verbs_post_receive(
              &stays, &(struct verbs_receive_request){1, &(struct verbs_sge){(uintptr_t)memory, mr.key, 8}, 1}, 1));
    ok = post_shared(&srq, 99) == 7;
    for (unsigned i = 0; i < 4; ++i) ok = send_to(i % 2 ? &stays : &gone) && ok;
    ok = comes(&gone, 100) && ok;
    check("shared receives", ok && post_shared(&srq, 99) == 1);
    verbs_destroy_qp(&gone);
    check("entries come back", post_shared(&srq, 99) == 1); /* of ID 102 */
    ok = comes(&stays, 101) && comes(&stays, 103) && !verbs_poll(&shared_cq, &done, 1);
    check("completions of the other one stay", ok && post_shared(&srq, 99) == 2);
    for (unsigned i = 0; i < 40; ++i)
        ok = send_to(&stays) && comes(&stays, 104 + i) && post_shared(&srq, 99) == 1 && ok;
    check("the queues go around", ok);
    verbs_destroy_qp(&stays);
    verbs_destroy_srq(&srq);
}

static void used_again(void) {
    struct verbs_qp qp;
    struct verbs_completion done;
    const struct verbs_sge e = {(uintptr_t)memory + 1024, mr.key, 64};
    bool ok = make(&qp, NULL, &shared_cq);
    for (unsigned round = 0; round < 5; ++round) {
        for (unsigned i = 0; i < 4; ++i)
            ok = verbs_post_receive(&qp, &(struct verbs_receive_request){10 * round + i, &e, 1}, 1) == 1 && ok;
        for (unsigned i = 0; i < 3; ++i) ok = send_to(&qp) && ok;
        ok = comes(&qp, 10 * round) && ok;
        ok = verbs_modify(&qp, HCA_QP_RESET, NULL) && !verbs_poll(&shared_cq, &done, 1) &&
             verbs_connect(&qp, &(struct verbs_qp_attributes){.log_mtu = nodes.log_mtu, .qkey = QKEY}) && ok;
    }
    check("a queue pair that is used again", ok);
    verbs_destroy_qp(&qp);
}

/* ---- multicast groups ---- */

static uint8_t* group(unsigned i) {
    static uint8_t gid[16] = {0xff, 0x12};
    gid[13] = (uint8_t)(i >> 8);
    gid[15] = (uint8_t)i;
    return gid;
}

static void groups(void) {
    bool ok = true;
    for (unsigned i = 0; i < 600; ++i) ok = verbs_attach(&sender, group(i)) && verbs_detach(&sender, group(i)) && ok;
    check("groups, one at a time", ok);
    for (unsigned set = 0; set < 4; ++set) { /* of other lengths of chains */
        const unsigned from = 1000 * set, step = 1 + 2 * set;
        for (unsigned i = 0; i < 160; ++i) ok = verbs_attach(&sender, group(from + i * step)) && ok;
        for (unsigned i = 0; i < 160; ++i) ok = verbs_detach(&sender, group(from + i * step)) && ok;
    }
    check("groups, many at a time", ok);
}

/* ---- events ---- */

static void overflow(void) {
    struct verbs_qp qp;
    const struct verbs_sge e = {(uintptr_t)memory + 1024, mr.key, 64};
    bool ok = make(&qp, NULL, &shared_cq);
    verbs_poll_events(&nodes.hca);
    for (unsigned i = 0; i < 1100; ++i) {
        verbs_arm(&shared_cq, false);
        ok = verbs_post_receive(&qp, &(struct verbs_receive_request){i, &e, 1}, 1) == 1 && send_to(&qp) &&
             comes(&qp, i) && ok;
    }
    verbs_poll_events(&nodes.hca);
    check("an event queue that is full", ok && nodes.hca.events[HCA_EVENT_EQ_OVERFLOW] == 1);
}

int main(void) {
    bootstrap_init(&nodes, 2);
    first = !nodes.comm.rank;
    lengths();
    sizes();
    no_queue();
    if (first) {
        check("the queues",
              verbs_register_host(&mr, &nodes.pd, memory, sizeof memory, VERBS_LOCAL_READ | VERBS_LOCAL_WRITE) &&
                  verbs_create_cq(&send_cq, &nodes.pd, 3, NULL) && verbs_create_cq(&shared_cq, &nodes.pd, 4, NULL) &&
                  make(&sender, NULL, &send_cq));
        shared_receives();
        used_again();
        groups();
        overflow();
    }
    bootstrap_barrier(&nodes);
    bootstrap_finalize(&nodes);
    return 0;
}
"""
#: What it says of each part, in this order.
CHECKS = [
    *["2 GiB", "2 GiB in the second element", "4 GiB inline", "2 GiB to receive", "64 bytes"],
    *["so much inline", "so many elements", "all inline", "more inline"],
    *["all elements", "more elements", "more elements of a send"],
    *["a receive without a queue", "the queues", "2 GiB of a shared queue", "a receive of a shared queue's pair"],
    *["shared receives", "entries come back", "completions of the other one stay", "the queues go around"],
    "a queue pair that is used again",
    *["groups, one at a time", "groups, many at a time"],
    "an event queue that is full",
]


@pytest.fixture(scope="module")
def elf(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verbs")
    sdk = sdk_folder()
    libraries = " ".join(map(str, [*sdk.glob("drivers/verbs/*.c"), *sdk.glob("drivers/bootstrap/*.c")]))
    (folder / "main.c").write_text(PROGRAM)
    (folder / "Makefile").write_text(f"include {sdk}/fabricvp.mk\nmain.elf: main.c {libraries}\n\t$(build_firmware)\n")
    subprocess.run(["make", "-C", folder, "main.elf"], check=True, timeout=100)
    return folder / "main.elf"


def test_what_it_refuses_and_what_it_gives_back(elf):
    with fabricvp.spawn("rdma_pair", node__images__firmware=str(elf)) as platform:
        ended = platform.run("2 s")
        consoles = [node.console.output.replace("\r", "") for node in platform.nodes]
    assert consoles[0].splitlines() == [*(f"{check}: ok" for check in CHECKS)], consoles
    assert ended.outcome == fabricvp.Outcome.POWER_OFF, ended.detail
