/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs by way of the kernel: BARs are files of sysfs, and uio_pci_generic holds the function, so that its bus mastering
 * ends with the broker. What drivers/pci/pci.h promises, as far as the driver of GPUs needs it. */
#define _GNU_SOURCE
#include "drivers/pci/pci.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/gpu/gpu.h"
#include "lib/console.h"
#include "linux/broker/devices.h"

enum { MAX_FUNCTIONS = 16 };
static const char devices[] = "/sys/bus/pci/devices";

/* A function, and what the process has of it. */
static struct found {
    struct pci_function function;
    struct pci_bus bus; /* its number alone */
    char name[16];      /* "0000:03:00.0" */
    int uio;            /* -1: not opened */
    uint8_t command;    /* the upper half of PCI_COMMAND, with INTA enabled */
    int configuration;  /* a file */
    uintptr_t bars[PCI_BARS];
    int files[PCI_BARS];
} found[MAX_FUNCTIONS];

static int open_file(const struct found* f, const char* name, int flags) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s/%s", devices, f->name, name);
    return open(path, flags | O_CLOEXEC);
}

static bool problem(const struct found* f, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    console_printf("GPU %s: ", f->name);
    console_vprintf(format, arguments);
    console_printf("\n");
    va_end(arguments);
    return false;
}

/* ---- finding them ---- */

static bool read_configuration(struct found* f) {
    uint8_t space[64];
    const int file = open_file(f, "config", O_RDONLY);
    const bool read_all = file >= 0 && read(file, space, sizeof space) == sizeof space;
    if (file >= 0) close(file);
    if (!read_all) return false;
    memcpy(&f->function.vendor, space, 2);
    memcpy(&f->function.device_id, space + 2, 2);
    for (unsigned i = 0; i < PCI_BARS; ++i) {
        uint64_t bar = 0;
        memcpy(&bar, space + 0x10 + 4 * i, i + 1 < PCI_BARS ? 8 : 4);
        f->function.bars[i].address = (bar >> 1 & 3) == 2 ? bar & ~UINT64_C(15) : bar & UINT64_C(0xfffffff0);
    }
    return true;
}

/* The broker has it while it lives; another driver in user space may not. */
static bool open_uio(struct found* f) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s/uio", devices, f->name);
    DIR* folder = opendir(path);
    if (!folder) return problem(f, "uio_pci_generic does not hold it: run `gpus`");
    for (const struct dirent* e; f->uio < 0 && (e = readdir(folder));)
        if (strncmp(e->d_name, "uio", 3) == 0) {
            snprintf(path, sizeof path, "/dev/%.20s", e->d_name);
            f->uio = open(path, O_RDWR | O_CLOEXEC);
        }
    closedir(folder);
    if (f->uio < 0) return problem(f, "%s: %s", path, strerror(errno));
    if (flock(f->uio, LOCK_EX | LOCK_NB) == 0) return true;
    return problem(f, "another process uses it");
}

static void place(struct found* f) {
    unsigned bus = 0, device = 0;
    sscanf(f->name, "%*x:%x:%x", &bus, &device);
    f->bus.number = bus;
    f->function.bus = &f->bus;
    f->function.device = (uint8_t)device;
}

static int by_name(const struct dirent** a, const struct dirent** b) { return strcmp((*a)->d_name, (*b)->d_name); }

bool pci_start(struct pci_host* host) {
    struct dirent** names;
    const int count = scandir(devices, &names, NULL, by_name);
    *host = (struct pci_host){0};
    struct pci_function** last = &host->functions;
    for (int i = 0; i < count; ++i) {
        struct found* f = &found[host->count];
        if (host->count < MAX_FUNCTIONS && strlen(names[i]->d_name) < sizeof f->name) {
            *f = (struct found){.uio = -1};
            strcpy(f->name, names[i]->d_name);
            place(f);
            if (read_configuration(f) && f->function.vendor == GPU_VENDOR && f->function.device_id == GPU_DEVICE) {
                *last = &f->function;
                last = &f->function.next;
                ++host->count;
            }
        }
        free(names[i]);
    }
    if (count >= 0) free(names);
    return true;
}

struct pci_function* pci_find_id(const struct pci_host* host, const struct pci_function* after, unsigned vendor,
                                 unsigned device) {
    struct pci_function* f = after ? after->next : host->functions;
    while (f && (f->vendor != vendor || f->device_id != device)) f = f->next;
    return f;
}

/* ---- taking one ---- */

/* Whatever an earlier process left running ends. */
static bool reset(const struct found* f) {
    const int file = open_file(f, "reset", O_WRONLY);
    const bool done = file >= 0 && write(file, "1", 1) == 1;
    if (file >= 0) close(file);
    return done || problem(f, "cannot be reset: %s", strerror(errno));
}

static bool master_bus(struct found* f) {
    uint16_t command = 0;
    const int file = open_file(f, "config", O_RDWR);
    bool done = file >= 0 && pread(file, &command, sizeof command, PCI_COMMAND) == sizeof command;
    command |= PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
    command &= (uint16_t)~PCI_COMMAND_INTX_DISABLE;
    f->command = (uint8_t)(command >> 8);
    done = done && pwrite(file, &command, sizeof command, PCI_COMMAND) == sizeof command;
    if (file >= 0) close(file);
    return done || problem(f, "its configuration cannot be written: %s", strerror(errno));
}

/* Where the module peer_memory (firmware/linux/module) is loaded, processes get the memory with pages. */
static void prefer_pages(struct found* f) {
    char path[64];
    snprintf(path, sizeof path, "/dev/peer_memory-%s", f->name);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    close(f->files[0]);
    f->files[0] = file;
}

static bool map_bars(struct found* f) {
    f->configuration = open_file(f, "config", O_RDWR);
    for (unsigned i = 0; i < PCI_BARS; ++i) {
        char name[16];
        snprintf(name, sizeof name, "resource%u", i);
        const int file = open_file(f, name, O_RDWR);
        f->files[i] = file;     /* for processes */
        if (file < 0) continue; /* the upper half of the one before it, or none */
        const off_t bytes = lseek(file, 0, SEEK_END);
        void* at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at == MAP_FAILED) return problem(f, "%s cannot be mapped: %s", name, strerror(errno));
        f->bars[i] = (uintptr_t)at;
    }
    prefer_pages(f);
    return true;
}

bool pci_hold_all(struct pci_host* host) {
    for (struct pci_function* f = host->functions; f; f = f->next)
        if (!open_uio((struct found*)f)) return false;
    return true;
}

/* A pin that Linux has no interrupt for makes the file useless. */
int pci_interrupt_file(const struct pci_function* function) {
    const struct found* f = (const struct found*)function;
    unsigned irq = 0;
    char text[16] = "";
    const int file = open_file(f, "irq", O_RDONLY);
    if (file >= 0 && read(file, text, sizeof text - 1) > 0) irq = (unsigned)atoi(text);
    if (file >= 0) close(file);
    return irq ? f->uio : -1;
}

/* Of the function's configuration only this changes while the broker has it. */
void pci_unmask_interrupt(const struct pci_function* function) {
    const struct found* f = (const struct found*)function;
    if (pwrite(f->configuration, &f->command, sizeof f->command, PCI_COMMAND + 1) != sizeof f->command)
        problem(f, "its interrupt cannot be enabled: %s", strerror(errno));
}

bool pci_reset(struct pci_function* function) {
    struct found* f = (struct found*)function;
    return reset(f) && master_bus(f);
}

bool pci_enable(struct pci_function* function) {
    struct found* f = (struct found*)function;
    return reset(f) && master_bus(f) && map_bars(f);
}

uintptr_t pci_bar(const struct pci_function* f, unsigned bar) { return ((const struct found*)f)->bars[bar]; }

int pci_bar_file(const struct pci_function* f, unsigned bar) { return ((const struct found*)f)->files[bar]; }
