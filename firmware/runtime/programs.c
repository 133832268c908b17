/* SPDX-License-Identifier: Apache-2.0 */
/* Images of `fabricvp cc`: their records, kernels and variables, and what a launch may ask for. */
#include "drivers/gpu/elf.h"
#include "drivers/gpu/images.h"
#include "lib/heap.h"
#include "runtime/compute.h"

enum { ELF_HEADER_BYTES = 64 };

/* Files that were linked in are as long as the linker says; others end with their table of sections, as linkers and
 * objcopy write them. */
uint64_t compute_elf_bytes(const void* elf) {
    for (const struct image* i = images; i->name; ++i)
        if (i->start == elf) return i->bytes;
    uint64_t table;
    uint16_t size, count;
    if (memcmp(elf, "\177ELF\2\1", 6) != 0) return 0;
    memcpy(&table, (const uint8_t*)elf + 40, sizeof table);
    memcpy(&size, (const uint8_t*)elf + 58, sizeof size);
    memcpy(&count, (const uint8_t*)elf + 60, sizeof count);
    return table + (uint64_t)size * count;
}

static bool inside(const struct program_record* r, uint64_t offset, uint64_t count, uint64_t size, uint64_t alignment) {
    return offset % alignment == 0 && offset <= r->bytes && count <= (r->bytes - offset) / size;
}

static bool text_ends(const struct program_record* r, uint32_t offset) {
    return offset < r->bytes && strnlen((const char*)r + offset, r->bytes - offset) < r->bytes - offset;
}

static bool kernels_are_sound(const struct program_record* r) {
    const struct program_kernel* k = (const void*)((const uint8_t*)r + r->kernels);
    const struct program_parameter* p = (const void*)((const uint8_t*)r + r->parameters);
    for (uint32_t i = 0; i < r->kernel_count; ++i, ++k) {
        if (!text_ends(r, k->name) || !text_ends(r, k->function) || !text_ends(r, k->symbol)) return false;
        if (k->argument_bytes > GPU_LARGE_KERNARG_BYTES || k->first_parameter > r->parameter_count ||
            k->parameter_count > r->parameter_count - k->first_parameter)
            return false;
        if (k->block != PROGRAM_RECORD_NONE &&
            (k->argument_bytes < 8 || k->block > k->argument_bytes - 8 || !r->block.bytes))
            return false;
        for (uint32_t n = 0; n < k->parameter_count; ++n) {
            const struct program_parameter* own = &p[k->first_parameter + n];
            if (!text_ends(r, own->name) || !text_ends(r, own->type) || own->size > k->argument_bytes ||
                own->offset > k->argument_bytes - own->size || (own->kind != PROGRAM_VALUE && own->size != 8))
                return false;
        }
    }
    return true;
}

static bool variables_are_sound(const struct program_record* r) {
    const struct program_variable* v = (const void*)((const uint8_t*)r + r->variables);
    for (uint32_t i = 0; i < r->variable_count; ++i, ++v)
        if (!text_ends(r, v->name) || v->offset > r->block.bytes || v->bytes > r->block.bytes - v->offset) return false;
    return true;
}

static bool is_sound(const struct program_record* r, uint64_t bytes) {
    return r->magic == PROGRAM_RECORD_MAGIC && r->bytes <= bytes && r->bytes >= sizeof *r &&
           inside(r, r->kernels, r->kernel_count, sizeof(struct program_kernel), 4) &&
           inside(r, r->parameters, r->parameter_count, sizeof(struct program_parameter), 4) &&
           inside(r, r->variables, r->variable_count, sizeof(struct program_variable), 8) && kernels_are_sound(r) &&
           variables_are_sound(r) && r->block.filled <= r->block.bytes;
}

struct program_record* compute_record(const void* elf, uint64_t bytes) {
    const uint8_t* data;
    uint64_t size;
    if (!elf_section(elf, bytes, PROGRAM_RECORD_SECTION, &data, &size) || size < sizeof(struct program_record))
        return NULL;
    struct program_record* r = heap_allocate(size); /* in the file it need not be aligned */
    if (!r) return NULL;
    memcpy(r, data, size);
    if (is_sound(r, size)) return r;
    heap_free(r);
    return NULL;
}

const char* compute_text(const struct program_record* r, uint32_t offset) { return (const char*)r + offset; }

/* What kernels keep: variables with their first values, the buffer of printf(), the heap. */
static bool make_block(struct compute_program* p) {
    const struct program_block* b = &p->record->block;
    if (!b->bytes) return true;
    const bool heap = b->heap != PROGRAM_RECORD_NONE && b->heap + 16 <= b->bytes;
    const uint64_t begin = (b->bytes + PROGRAM_HEAP_ALIGNMENT - 1) & ~(uint64_t)(PROGRAM_HEAP_ALIGNMENT - 1);
    const uint64_t bytes = heap ? begin + COMPUTE_HEAP_BYTES : b->bytes;
    uint8_t* contents = heap_allocate(b->bytes);
    if (contents) p->block = compute_allocate(p->device, bytes);
    if (!p->block) {
        heap_free(contents);
        return false;
    }
    const uint8_t* first;
    uint64_t first_bytes;
    memset(contents, 0, b->bytes);
    if (elf_section(p->elf, p->elf_bytes, ".tdata", &first, &first_bytes))
        memcpy(contents, first, first_bytes < b->filled ? first_bytes : b->filled);
    const uint64_t state[2] = {begin - b->heap, COMPUTE_HEAP_BYTES};
    if (heap) memcpy(contents + b->heap, state, sizeof state);
    p->block->owned = true;
    const bool copied = gpu_copy_to(p->device->node, p->block->at, contents, b->bytes) == 0;
    heap_free(contents);
    return copied;
}

/* Code is spread over all GPUs that share the address space. */
static bool has_space_for_code(const struct compute_program* p) {
    struct elf_segment s;
    uint64_t needed = GPU_PAGE;
    for (unsigned i = 0; elf_next_segment(p->elf, p->elf_bytes, &i, &s);) needed += s.memory_bytes;
    return gpu_has_space(p->device->gpu, needed, GPU_PAGE);
}

/* Constants of the source lie in the image, and the host may change them. */
static bool track_constants(struct compute_program* p) {
    struct elf_segment s;
    uint64_t end = 0;
    for (unsigned i = 0; elf_next_segment(p->elf, p->elf_bytes, &i, &s);) end = s.address + s.memory_bytes;
    p->constants = compute_track(p->device, p->image, end - GPU_CODE_BASE);
    return p->constants;
}

static bool is_linked(const void* elf) {
    for (const struct image* i = images; i->name; ++i)
        if (i->start == elf) return true;
    return false;
}

struct compute_program* compute_load(struct compute_device* d, const void* elf, uint64_t bytes) {
    struct compute_program* p = heap_allocate(sizeof *p);
    if (!p) return NULL;
    *p = (struct compute_program){.device = d, .elf = elf, .elf_bytes = bytes, .record = compute_record(elf, bytes)};
    if (!is_linked(elf)) p->elf = p->copy = heap_allocate(bytes); /* callers may free theirs */
    if (p->copy) memcpy(p->copy, elf, bytes);
    if (p->record && p->elf && has_space_for_code(p)) p->image = gpu_load_image_on(d->node, d->index, p->elf, bytes);
    p->next = d->programs;
    d->programs = p;
    if (p->image && track_constants(p) && make_block(p)) return p;
    compute_unload(p);
    return NULL;
}

void compute_unload(struct compute_program* p) {
    for (unsigned i = 0; i < compute_device_count(); ++i)
        if (compute_reaches(compute_device(i), p->device)) compute_wait_device(compute_device(i));
    struct compute_program** at = &p->device->programs;
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    while (p->kernels) {
        struct compute_kernel* k = p->kernels;
        p->kernels = k->next;
        handle_destroy(k);
    }
    if (p->block) compute_free(p->block);
    if (p->constants) compute_untrack(p->constants);
    if (p->image) gpu_unload_image(p->device->node, p->image);
    heap_free(p->record);
    heap_free(p->copy);
    heap_free(p);
}

struct compute_kernel* compute_find_kernel(struct compute_program* p, const char* name, const char* kind) {
    const struct program_record* r = p->record;
    const struct program_kernel* info = (const void*)((const uint8_t*)r + r->kernels);
    uint32_t n = 0;
    for (; n < r->kernel_count; ++n)
        if (strcmp(compute_text(r, info[n].name), name) == 0 || strcmp(compute_text(r, info[n].function), name) == 0)
            break;
    if (n == r->kernel_count) return NULL;
    for (struct compute_kernel* k = p->kernels; k; k = k->next)
        if (k->info == &info[n]) return k;
    const struct gpu_kernel found =
        gpu_find_kernel(p->device->node, p->elf, p->elf_bytes, p->image, compute_text(r, info[n].symbol));
    struct compute_kernel* k = found.object ? handle_create(kind, sizeof *k) : NULL;
    if (!k) return NULL;
    k->program = p;
    k->info = &info[n];
    k->parameters =
        (const struct program_parameter*)(const void*)((const uint8_t*)r + r->parameters) + info[n].first_parameter;
    k->kernel = found;
    k->next = p->kernels;
    return p->kernels = k;
}

gpu_address compute_find_variable(const struct compute_program* p, const char* name, uint64_t* bytes) {
    const struct program_record* r = p->record;
    const struct program_variable* v = (const void*)((const uint8_t*)r + r->variables);
    for (uint32_t i = 0; i < r->variable_count; ++i)
        if (strcmp(compute_text(r, v[i].name), name) == 0) {
            *bytes = v[i].bytes;
            return p->block->at + v[i].offset;
        }
    bool is_thread;
    uint64_t value;
    if (!elf_variable(p->elf, p->elf_bytes, name, &is_thread, &value, bytes)) return 0;
    const struct compute_memory* all = is_thread ? p->block : p->constants;
    const uint64_t offset = is_thread ? value : value - GPU_CODE_BASE;
    return all && offset <= all->bytes && *bytes <= all->bytes - offset ? all->at + offset : 0;
}

uint64_t compute_resident_groups(const struct compute_kernel* k, uint64_t items, uint64_t local_bytes) {
    const struct gpu* g = k->program->device->gpu;
    const uint64_t lanes = k->info->descriptor_flags & KERNEL_WAVEFRONT_32 ? 32 : COMPUTE_WAVEFRONT;
    const uint64_t slots = lanes > g->slot_lanes ? lanes / g->slot_lanes : 1, bytes = k->info->lds_bytes + local_bytes;
    const uint64_t groups = g->wavefront_slots / ((items + lanes - 1) / lanes * slots);
    return bytes && g->lds_bytes / bytes < groups ? g->lds_bytes / bytes : groups;
}

enum compute_limit compute_check(const struct compute_kernel* k, const struct compute_grid* grid) {
    uint64_t items = 1;
    for (unsigned d = 0; d < 3; ++d) {
        if (!grid->items[d] || !grid->group[d]) return COMPUTE_GRID_EMPTY;
        if (grid->items[d] > UINT32_MAX) return COMPUTE_GRID_LARGE;
        if (grid->group[d] > GPU_MAX_WORKGROUP_ITEMS) return COMPUTE_GROUP_LARGE;
        items *= grid->group[d];
    }
    if (items > GPU_MAX_WORKGROUP_ITEMS) return COMPUTE_GROUP_LARGE;
    if (k->info->max_group && items > k->info->max_group) return COMPUTE_GROUP_LIMITED;
    for (unsigned d = 0; d < 3; ++d)
        if (k->info->group[0] && grid->group[d] != k->info->group[d]) return COMPUTE_GROUP_REQUIRED;
    const uint32_t local_bytes = k->program->device->gpu->lds_bytes;
    if (grid->local_bytes > local_bytes || k->info->lds_bytes + grid->local_bytes > local_bytes)
        return COMPUTE_LOCAL_LARGE;
    if (grid->cooperative) {
        uint64_t groups = 1;
        for (unsigned d = 0; d < 3; ++d) groups *= (grid->items[d] - 1) / grid->group[d] + 1;
        if (groups > compute_resident_groups(k, items, grid->local_bytes) * k->program->device->gpu->compute_units)
            return COMPUTE_COOPERATIVE_LARGE;
    }
    return COMPUTE_FITS;
}
