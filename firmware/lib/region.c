/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/region.h"

#include "abi/marker.h"
#include "lib/machine.h"
#include "lib/mmio.h"

bool region_available(void) { return machine.marker && mmio_read32(machine.marker + MARKER_ID) == MARKER_MAGIC; }

static void command(uint32_t c) { mmio_write32(machine.marker + MARKER_COMMAND, c); }

static void set_label(const char* label) {
    mmio_write8(machine.marker + MARKER_LABEL, 0);
    while (*label) mmio_write8(machine.marker + MARKER_LABEL, (uint8_t)*label++);
}

void region_begin(const char* label) {
    if (!machine.marker) return;
    set_label(label);
    command(MARKER_COMMAND_RESET);
}

void region_end(void) {
    if (machine.marker) command(MARKER_COMMAND_DUMP);
}

void region_note(const char* label) {
    if (!machine.marker) return;
    set_label(label);
    command(MARKER_COMMAND_NOTE);
}

unsigned region_count(void) { return machine.marker ? mmio_read32(machine.marker + MARKER_REGIONS) : 0; }
