/* SPDX-License-Identifier: Apache-2.0 */
/* Two event queues: completions, and everything else. */
#include "drivers/verbs/internal.h"
#include "lib/mmio.h"
#include "lib/timer.h"

enum { COMPLETIONS, OTHERS, LOG_EVENTS = 10, EQE_WORDS = HCA_EQE_SIZE / 8, EQE_LAST = EQE_WORDS - 1 };
/* Everything but completions and the ends of commands, which are polled. */
enum { ENABLED_EVENTS = 0x1fc3fe };

static void write_word(uintptr_t at, uint32_t value) { mmio_write32(at, hca_swap32(value)); }

static void poll(struct verbs_device* d, const uint8_t* e) {
    const enum hca_event type = (enum hca_event)hca_get(e, HCA_EQE_TYPE);
    const uint32_t number = hca_get(e, HCA_EQE_NUMBER);
    ++d->events[type & 31];
    if (type == HCA_EVENT_COMPLETION) {
        struct verbs_cq* cq = d->cq[number & ((1u << VERBS_LOG_CQS) - 1)];
        if (cq && cq->number == number) ++cq->events;
        return;
    }
    if (!d->on_event) return;
    if (type == HCA_EVENT_PORT)
        d->on_event(d, type, hca_get(e, HCA_EQE_PORT), hca_get(e, HCA_EQE_SUBTYPE));
    else
        d->on_event(d, type, number, type == HCA_EVENT_CQ_ERROR ? hca_get(e, HCA_EQE_CQ_SYNDROME) : 0);
}

/* What one queue holds. \returns whether there was anything */
static bool drain(struct verbs_device* d, struct verbs_eq* q) {
    const uint32_t before = q->consumer;
    for (;;) {
        volatile uint64_t* at = q->entries + (q->consumer & ((1u << q->log_size) - 1)) * EQE_WORDS;
        uint64_t words[EQE_WORDS];
        words[EQE_LAST] = at[EQE_LAST];
        if (words[EQE_LAST] >> 63) break; /* the device's */
        __asm__ volatile("fence r, r" ::: "memory");
        for (unsigned i = 0; i < EQE_LAST; ++i) words[i] = at[i];
        at[EQE_LAST] = UINT64_C(1) << 63;
        ++q->consumer;
        poll(d, (const uint8_t*)words);
    }
    if (q->consumer == before) return false;
    write_word(d->set_consumer + q->number * HCA_EQ_STRIDE, q->consumer);
    return true;
}

static void arm(struct verbs_device* d, uint32_t queues) { write_word(d->arm + 4, queues); }

/* What came before a queue is armed makes it fire at once. */
static void on_interrupt(void* context, int vector) {
    struct verbs_device* d = context;
    if (vector == PCI_ANY_VECTOR && d->delivery == PCI_INTX)
        write_word(d->clear_interrupt + (d->pin < 32 ? 4 : 0), 1u << d->pin % 32);
    uint32_t queues = 0;
    for (unsigned i = 0; i < VERBS_MAX_EQS; ++i) {
        if (vector != PCI_ANY_VECTOR && vector != (int)i) continue;
        drain(d, &d->eq[i]);
        queues |= 1u << d->eq[i].number;
    }
    ++d->interrupts;
    arm(d, queues);
}

void verbs_poll_events(struct verbs_device* d) {
    for (unsigned i = 0; i < VERBS_MAX_EQS; ++i) drain(d, &d->eq[i]);
}

static bool make(struct verbs_device* d, struct verbs_eq* q) {
    uint8_t context[HCA_EQC_SIZE] = {0};
    q->consumer = 0;
    for (unsigned i = 0; i < 1u << q->log_size; ++i) q->entries[i * EQE_WORDS + EQE_LAST] = UINT64_C(1) << 63;
    hca_set(context, HCA_EQC_STATE, HCA_FIRED); /* silent until armed */
    hca_set(context, HCA_EQC_OWNER, 1);
    hca_set(context, HCA_EQC_LOG_SIZE, q->log_size);
    hca_set(context, HCA_EQC_INTERRUPT, d->delivery == PCI_MSIX ? HCA_INTERRUPT_MESSAGE + q->number : d->pin);
    hca_set(context, HCA_EQC_PD, d->eq_pd.number);
    hca_set(context, HCA_EQC_LKEY, d->eq_memory[q->number].mr.key);
    return verbs_command(d, HCA_SW2HW_EQ, q->number, 0, context, sizeof context, NULL, 0) == HCA_OK;
}

static bool make_all(struct verbs_device* d) {
    for (unsigned i = 0; i < VERBS_MAX_EQS; ++i)
        if (!make(d, &d->eq[i])) return false;
    return verbs_command_immediate(d, HCA_MAP_EQ, OTHERS, ENABLED_EVENTS, NULL) == HCA_OK;
}

static void remove_all(struct verbs_device* d) {
    verbs_command_immediate(d, HCA_MAP_EQ, OTHERS | 1u << 31, ENABLED_EVENTS, NULL);
    for (unsigned i = 0; i < VERBS_MAX_EQS; ++i) {
        uint8_t unused[HCA_EQC_SIZE];
        verbs_command(d, HCA_HW2SW_EQ, i, 0, NULL, 0, unused, sizeof unused);
    }
}

bool verbs_start_events(struct verbs_device* d) {
    if (!verbs_open_pd(&d->eq_pd, d)) return false;
    for (unsigned i = 0; i < VERBS_MAX_EQS; ++i) {
        struct verbs_buffer* b = &d->eq_memory[i];
        if (!verbs_make_buffer(b, &d->eq_pd, (uint64_t)HCA_EQE_SIZE << LOG_EVENTS, VERBS_LOCAL_READ | VERBS_LOCAL_WRITE,
                               NULL))
            return false;
        d->eq[i] = (struct verbs_eq){.number = i, .log_size = LOG_EVENTS, .entries = (volatile uint64_t*)b->memory.at};
    }
    return make_all(d);
}

void verbs_stop_events(struct verbs_device* d) {
    if (d->delivery != PCI_POLLED) pci_disconnect(d->function, d);
    d->delivery = PCI_POLLED;
    remove_all(d);
    for (unsigned i = 0; i < VERBS_MAX_EQS; ++i) verbs_free_buffer(&d->eq_memory[i]);
    verbs_close_pd(&d->eq_pd);
}

/* Queues know how their interrupts come, so they are made anew. Completion queues only know their number. */
enum pci_delivery verbs_use_interrupts(struct verbs_device* d, enum pci_delivery best) {
    verbs_poll_events(d);
    if (d->delivery != PCI_POLLED) pci_disconnect(d->function, d);
    d->delivery = pci_connect(d->function, VERBS_MAX_EQS, best, on_interrupt, d);
    remove_all(d);
    if (!make_all(d)) d->delivery = PCI_POLLED;
    if (d->delivery != PCI_POLLED) arm(d, 1u << COMPLETIONS | 1u << OTHERS);
    return d->delivery;
}
