/* SPDX-License-Identifier: Apache-2.0 */
/* Runs kernels that a user brings along (abi/kernel_job.h). */
#include "abi/kernel_job.h"

#include "lib/console.h"
#include "lib/machine.h"
#include "lib/region.h"
#include "lib/timer.h"
#include "programs/apps/app.h"

enum {
    MAX_BUFFERS = 64,
    POLL_INTERVAL_US = 10,
    FURTHER_QUEUE_PACKETS = 64, /* a job has a packet, and two for the jobs of seven other streams that it waits for */
    DEPENDENCIES = 5,           /* of a barrier packet */
    LADM_ROWS = 7
};
#define MAX_PITCH (UINT64_C(1) << 40)

static bool inside(const struct kernel_job* job, uint64_t offset, uint64_t bytes) {
    return offset <= job->bytes && bytes <= job->bytes - offset;
}

static bool wrong(const char* what) {
    console_printf("kernel job: %s\n", what);
    return false;
}

static bool name_ends(const struct kernel_job* job) {
    for (uint64_t at = job->kernel; at < job->bytes; ++at)
        if (!((const char*)job)[at] || !job->kernel) return true;
    return false;
}

static struct kernel_job_buffer* buffers_of(struct kernel_job* job) {
    return (struct kernel_job_buffer*)((uint8_t*)job + job->buffers);
}

static uint64_t copied_bytes(const struct kernel_job_buffer* b) {
    return b->content_bytes ? b->content_bytes : b->bytes;
}

static bool well_formed(const struct app* app, struct kernel_job* job) {
    if (job->argument_bytes > GPU_LARGE_KERNARG_BYTES || !inside(job, job->arguments, job->argument_bytes))
        return wrong("its arguments are too long");
    if (job->buffer_count > MAX_BUFFERS || job->buffers % 8 ||
        !inside(job, job->buffers, job->buffer_count * sizeof(struct kernel_job_buffer)))
        return wrong("its table of buffers does not fit");
    if (!inside(job, job->elf, job->elf_bytes)) return wrong("its ELF file does not fit");
    if (!name_ends(job)) return wrong("the kernel's name does not end");
    if (job->stream >= KERNEL_JOB_STREAMS) return wrong("there is no such stream");
    if (job->placement > GPU_PLACE_FIRST_TOUCH || job->dispatch > GPU_DISPATCH_FILL)
        return wrong("there is no such placement or dispatch policy");
    if (job->gpu != KERNEL_JOB_ALL_GPUS && job->gpu >= app->node->count) return wrong("there is no such GPU");
    uint64_t items = 1;
    for (unsigned d = 0; d < 3; ++d) {
        if (!job->items[d] || !job->group[d] || job->group[d] > GPU_MAX_WORKGROUP_ITEMS)
            return wrong("a size of its grid is 0 or too large");
        items *= job->group[d];
    }
    if (items > GPU_MAX_WORKGROUP_ITEMS) return wrong("its work-groups are too large");
    for (uint32_t i = 0; i < job->buffer_count; ++i) {
        const struct kernel_job_buffer* b = &buffers_of(job)[i];
        const bool on_host = b->place == KERNEL_JOB_PLACE_HOST;
        const bool copied = b->flags & (KERNEL_JOB_IN | KERNEL_JOB_OUT);
        const uint64_t bytes = copied_bytes(b);
        if (!b->bytes || b->content_bytes > b->bytes || ((copied || on_host) && !inside(job, b->contents, bytes)))
            return wrong("a buffer is empty or does not fit");
        if (on_host && ((uintptr_t)job + b->contents) % GPU_PAGE)
            return wrong("a buffer of the host begins inside a page");
        if (!on_host && b->place > app->node->count) return wrong("a buffer's GPU does not exist");
        if (job->argument_bytes < 8 || b->argument > job->argument_bytes - 8)
            return wrong("a buffer's address is no argument");
        if (b->row > LADM_ROWS || b->pitch > MAX_PITCH) return wrong("a buffer's locality does not exist");
    }
    return true;
}

/* Device memory of one GPU, or of all. \returns false if there is no room */
static bool allocate(struct app* app, struct kernel_job_buffer* b, uint32_t gpu) {
    const bool all = gpu == KERNEL_JOB_ALL_GPUS;
    uint64_t room = 0;
    for (unsigned g = all ? 0 : gpu; g < (all ? app->node->count : gpu + 1); ++g)
        room += gpu_free_bytes(&app->node->gpu[g]);
    if (b->bytes > room - room / 8) /* page tables need some */
        return wrong("device memory is too small for a buffer");
    /* One GPU's buffer gets pages as large as fit, as a driver gives them. */
    b->address = all ? app_buffer_as(app, b->bytes, gpu_locality_of_row(b->row), b->pitch)
                     : gpu_allocate_large(app->node, gpu, b->bytes);
    return true;
}

/* Where a buffer of an earlier job of the chain is, or one before buffer i of this. \returns false if there is none */
static bool find_kept(struct kernel_job* const* jobs, unsigned own, uint32_t i) {
    struct kernel_job_buffer* b = &buffers_of(jobs[own])[i];
    if (b->address) return true;
    const uint64_t job = b->contents >> 32, buffer = (uint32_t)b->contents;
    if (job > own || buffer >= (job < own ? jobs[job]->buffer_count : i)) return wrong("a kept buffer does not exist");
    b->address = buffers_of(jobs[job])[buffer].address;
    return true;
}

/* A job that has its place in device memory. */
struct launch {
    struct kernel_job* job;
    gpu_address image;
    uint32_t placed; /* how many of its buffers have their places */
    struct gpu_kernel kernel;
    struct gpu_grid grid;
    uint8_t arguments[GPU_LARGE_KERNARG_BYTES];
    struct gpu_queue_handle* queue;
    uint64_t packet;
};
static struct launch launches[KERNEL_JOB_MAX_TOGETHER];

/* Memory for the buffers, with their contents; arguments that name them. \returns false if there is no room */
static bool place_buffers(struct app* app, struct launch* l, struct kernel_job* const* jobs, unsigned own) {
    struct kernel_job* job = jobs[own];
    for (uint32_t i = 0; i < job->buffer_count; l->placed = ++i) {
        struct kernel_job_buffer* b = &buffers_of(job)[i];
        if (b->flags & KERNEL_JOB_KEPT) {
            if (!find_kept(jobs, own, i)) return false;
        } else if (b->place ==
                   KERNEL_JOB_PLACE_HOST) { /* its contents are there already, and come back by themselves */
            b->address = gpu_map_host(app->node, (uint8_t*)job + b->contents, b->bytes, true);
        } else {
            if (!allocate(app, b, b->place ? b->place - KERNEL_JOB_PLACE_GPU0 : job->gpu)) return false;
            if (b->flags & KERNEL_JOB_IN)
                app_upload(app, b->address, (uint8_t*)job + b->contents, copied_bytes(b));
            else
                app_fill(app, b->address, (b->bytes + 3) / 4, FILL_CONSTANT, 0, 0, 0);
        }
        memcpy(l->arguments + b->argument, &b->address, 8);
    }
    return true;
}

/* Buffers of a kernel may ask for different schedules: the largest decides, as in LADM. */
static void bind_work_groups(const struct app* app, struct gpu_grid* grid, struct kernel_job* job) {
    const struct kernel_job_buffer* largest = NULL;
    for (uint32_t i = 0; i < job->buffer_count; ++i) {
        const struct kernel_job_buffer* b = &buffers_of(job)[i];
        const bool spread = b->row && b->place == KERNEL_JOB_PLACE_OWN && !(b->flags & KERNEL_JOB_KEPT);
        if (spread && (!largest || b->bytes > largest->bytes)) largest = b;
    }
    if (!largest) return;
    grid->binding = gpu_binding_of_row(largest->row);
    grid->batch = gpu_batch_of(app->node, largest->bytes, largest->pitch, largest->datablock);
}

static bool prepare(struct app* app, struct launch* l, struct kernel_job* const* jobs, unsigned own) {
    struct kernel_job* job = jobs[own];
    l->job = job;
    l->image = l->placed = 0;
    app->placement = (enum gpu_placement_policy)job->placement;
    app->dispatch = (enum gpu_dispatch_policy)job->dispatch;
    if (!well_formed(app, job)) return false;
    const void* elf = (uint8_t*)job + job->elf;
    const gpu_address image = gpu_load_image(app->node, elf, job->elf_bytes);
    l->image = image;
    l->kernel = (struct gpu_kernel){0};
    l->grid = (struct gpu_grid){.lds_bytes = job->lds_bytes, .cooperative = job->cooperative != 0};
    const char* name = job->kernel ? (const char*)job + job->kernel : "";
    if (image) l->kernel = gpu_find_kernel(app->node, elf, job->elf_bytes, image, name);
    if (!l->kernel.object) return wrong(image ? "no such kernel in its ELF file" : "its ELF file is no kernel image");
    if (l->kernel.kernarg_bytes > job->argument_bytes) {
        console_printf("kernel job: the kernel takes %u bytes of arguments, not %u\n", l->kernel.kernarg_bytes,
                       job->argument_bytes);
        return false;
    }
    memcpy(l->arguments, (uint8_t*)job + job->arguments, job->argument_bytes);
    for (unsigned d = 0; d < 3; ++d) {
        l->grid.items[d] = job->items[d];
        l->grid.group[d] = (uint16_t)job->group[d];
    }
    if (job->gpu == KERNEL_JOB_ALL_GPUS) bind_work_groups(app, &l->grid, job);
    return place_buffers(app, l, jobs, own);
}

/* Jobs that run on one GPU at the same time have queues of their own: those of one queue follow each other. */
static struct gpu_queue_handle further_queue[MAX_GPUS][KERNEL_JOB_STREAMS - 1];

static struct gpu_queue_handle* queue_of(struct app* app, uint32_t gpu, unsigned nth) {
    if (nth == 0) return &app->queue[gpu];
    struct gpu_queue_handle* q = &further_queue[gpu][nth - 1];
    const struct gpu* g = &app->node->gpu[gpu];
    const uint64_t scratch = g->compute_units * gpu_scratch_bytes(g);
    if (q->gpu) return q;
    if (!gpu_has_space(g, scratch + 2 * GPU_LARGE_PAGE, GPU_LARGE_PAGE)) return NULL;
    gpu_create_queue(q, app->node, gpu, FURTHER_QUEUE_PACKETS, 0, 1);
    return q;
}

static bool assign_queues(struct app* app, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        launches[i].queue = queue_of(app, launches[i].job->gpu, launches[i].job->stream);
        if (!launches[i].queue) return wrong("device memory is too small for the scratch of another queue");
    }
    return true;
}

/* What comes behind in the queue waits for other jobs of the chain. */
static void wait_for_others(unsigned own) {
    uint64_t words[8] = {AQL_HEADER_BARRIER};
    unsigned used = 0;
    for (unsigned i = 0; i < own; ++i) {
        if (!(launches[own].job->after >> i & 1)) continue;
        words[1 + used++] = gpu_signal_address(launches[i].queue, launches[i].packet);
        if (used < DEPENDENCIES) continue;
        gpu_submit(launches[own].queue, words, AQL_TYPE_BARRIER_AND);
        memset(&words[1], 0, sizeof words - sizeof words[0]);
        used = 0;
    }
    if (used) gpu_submit(launches[own].queue, words, AQL_TYPE_BARRIER_AND);
}

static void run_together(struct app* app, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        struct launch* l = &launches[i];
        wait_for_others(i);
        l->packet = gpu_dispatch(l->queue, l->kernel, &l->grid, l->arguments, l->job->argument_bytes);
    }
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < count; ++i) {
        struct launch* l = &launches[i];
        l->job->fault = app_wait(app, l->queue, l->packet);
        if (l->job->fault) continue;
        const uint64_t start = gpu_signal(l->queue, l->packet)->start_ns;
        first = start < first ? start : first;
    }
    for (unsigned i = 0; i < count; ++i) {
        struct kernel_job* job = launches[i].job;
        if (job->fault) continue;
        const volatile struct aql_signal* s = gpu_signal(launches[i].queue, launches[i].packet);
        job->start_ns = s->start_ns;
        job->end_ns = s->end_ns;
        job->nanoseconds = s->end_ns - first;
    }
}

static void run_alone(struct app* app, struct launch* l) {
    struct kernel_job* job = l->job;
    const uint64_t begin = timer_now();
    if (job->gpu == KERNEL_JOB_ALL_GPUS)
        job->fault = app_run(app, l->kernel, &l->grid, l->arguments, job->argument_bytes) ? 0 : app->fault;
    else
        job->fault =
            app_wait(app, l->queue, gpu_dispatch(l->queue, l->kernel, &l->grid, l->arguments, job->argument_bytes));
    job->nanoseconds = timer_microseconds((timer_now() - begin) * 1000);
    job->start_ns = timer_microseconds(begin * 1000);
    job->end_ns = job->start_ns + job->nanoseconds;
}

/* Buffers that come back, or those that do so after a fault, too. */
static void download(struct app* app, struct kernel_job* job) {
    const uint32_t fault = job->fault, wanted = KERNEL_JOB_OUT | (fault ? KERNEL_JOB_ALWAYS : 0);
    app->fault = 0;
    for (uint32_t i = 0; i < job->buffer_count; ++i) {
        const struct kernel_job_buffer* b = &buffers_of(job)[i];
        if ((b->flags & wanted) == wanted && b->place != KERNEL_JOB_PLACE_HOST)
            app_download(app, (uint8_t*)job + b->contents, b->address, copied_bytes(b));
    }
    job->fault = fault ? fault : app->fault;
}

static enum kernel_job_state run(struct app* app, struct kernel_job* const* jobs, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        if (count > 1 && jobs[i]->gpu == KERNEL_JOB_ALL_GPUS) {
            wrong("of several that run together, each is for one GPU");
            return KERNEL_JOB_MALFORMED;
        }
        if (!prepare(app, &launches[i], jobs, i)) return KERNEL_JOB_MALFORMED;
    }
    if (jobs[0]->gpu != KERNEL_JOB_ALL_GPUS && !assign_queues(app, count)) return KERNEL_JOB_MALFORMED;
    if (app->failed) { /* an upload */
        for (unsigned i = 0; i < count; ++i) jobs[i]->fault = app->fault;
        return KERNEL_JOB_FAULT;
    }
    for (unsigned i = 0; i < count && launches[i].queue; ++i) gpu_drop_stale_translations(launches[i].queue);
    app_measure_begin(app, NULL);
    if (count == 1)
        run_alone(app, &launches[0]);
    else
        run_together(app, count);
    app_measure_end(app);
    for (unsigned i = 0; i < count; ++i) download(app, jobs[i]);
    return app->failed ? KERNEL_JOB_FAULT : KERNEL_JOB_DONE;
}

/* Memory of jobs that have ended, but for buffers that stay. Those with first-touch placement stay, too: the driver
 * keeps a list of them. */
static void release(struct app* app) {
    for (struct launch* l = launches; l < launches + KERNEL_JOB_MAX_TOGETHER; ++l) {
        if (l->image) gpu_unload_image(app->node, l->image);
        for (uint32_t i = 0; i < l->placed && l->job->placement != GPU_PLACE_FIRST_TOUCH; ++i) {
            const struct kernel_job_buffer* b = &buffers_of(l->job)[i];
            if (!(b->flags & (KERNEL_JOB_KEEP | KERNEL_JOB_KEPT))) gpu_free(app->node, b->address, b->bytes);
        }
    }
    memset(launches, 0, sizeof launches);
}

/* Queues that have stopped begin anew, for the next job. */
static void recover(struct app* app) {
    for (unsigned g = 0; g < app->node->count; ++g) {
        gpu_reset_queue(&app->queue[g]);
        for (unsigned n = 0; n + 1 < KERNEL_JOB_STREAMS; ++n)
            if (further_queue[g][n].gpu) gpu_reset_queue(&further_queue[g][n]);
    }
}

/* The job at the start of the RAM disk and those that run at the same time. \returns how many; 0: malformed */
static unsigned chain(struct kernel_job* job, uint64_t bytes, struct kernel_job** jobs) {
    for (unsigned count = 0; count < KERNEL_JOB_MAX_TOGETHER;) {
        if (job->magic != KERNEL_JOB_MAGIC || job->bytes > bytes || job->bytes < sizeof *job) return 0;
        jobs[count++] = job;
        const uint64_t next = (uint64_t)job->next * KERNEL_JOB_PAGE;
        if (!next) return count;
        if (next > bytes || bytes - next < sizeof *job) return 0;
        bytes -= next;
        job = (struct kernel_job*)((uint8_t*)job + next);
    }
    return 0;
}

static void set_state(struct kernel_job* job, enum kernel_job_state state) {
    __asm__ volatile("fence rw, w" ::: "memory");
    *(volatile uint32_t*)&job->state = state;
}

bool app_kernel_job(struct app* app) {
    const uint64_t bytes = machine.initrd_end - machine.initrd;
    if (machine.initrd % 8 || bytes < sizeof(struct kernel_job)) return wrong("there is none in the RAM disk");
    struct kernel_job* job = (struct kernel_job*)machine.initrd;
    for (bool right = true;;) {
        const uint32_t asked = *(volatile uint32_t*)&job->state;
        if (asked == KERNEL_JOB_EXIT) return right;
        if (asked != KERNEL_JOB_READY) {
            timer_sleep(POLL_INTERVAL_US);
            continue;
        }
        __asm__ volatile("fence r, rw" ::: "memory");
        struct kernel_job* jobs[KERNEL_JOB_MAX_TOGETHER];
        const unsigned count = chain(job, bytes, jobs);
        if (!count) wrong("its header is malformed");
        app->failed = false;
        app->fault = 0;
        const enum kernel_job_state state = count ? run(app, jobs, count) : KERNEL_JOB_MALFORMED;
        if (state == KERNEL_JOB_FAULT) recover(app);
        release(app);
        right = right && state == KERNEL_JOB_DONE;
        const bool keep = count && job->flags & KERNEL_JOB_WAIT_FOR_NEXT;
        set_state(job, state);
        region_note("job ended");
        if (!keep) return right;
    }
}
