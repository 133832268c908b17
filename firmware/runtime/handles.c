/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/handles.h"

#include "lib/heap.h"

static struct handle* newest;

void* handle_create(const char* kind, size_t bytes) {
    struct handle* h = heap_allocate(bytes);
    if (!h) return NULL;
    memset(h, 0, bytes);
    *h = (struct handle){NULL, kind, newest, NULL};
    if (newest) newest->previous = h;
    return newest = h;
}

void handle_destroy(void* object) {
    struct handle* h = object;
    if (h->next) h->next->previous = h->previous;
    *(h->previous ? &h->previous->next : &newest) = h->next;
    heap_free(h);
}

bool handle_is(const void* object, const char* kind) {
    if (!object) return false;
    for (const struct handle* h = newest; h; h = h->next)
        if (h == object) return h->kind == kind;
    return false;
}
