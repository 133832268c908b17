/* SPDX-License-Identifier: Apache-2.0 */
/* PCI Express configuration space (PCI Express Base Specification 6.0, chapter 7; PCI-to-PCI Bridge Architecture 1.2).
 * A function's 4 KiB lie in ECAM at bus << 20 | device << 15 | function << 12. Offsets of capability registers count
 * from the capability's header. Little-endian. */
#ifndef FABRICVP_ABI_PCI_H
#define FABRICVP_ABI_PCI_H

#include "abi/registers.h"

/* clang-format off */
#define PCI_COMMON_REGISTERS(R)                                          \
    R(PCI_ID, 0x00, 4, 1, 4) /* vendor, device << 16 */                  \
    R(PCI_COMMAND, 0x04, 2, 1, 2)                                        \
    R(PCI_STATUS, 0x06, 2, 1, 2)                                         \
    R(PCI_CLASS_REVISION, 0x08, 4, 1, 4) /* revision, class code << 8 */ \
    R(PCI_CACHE_LINE, 0x0c, 1, 1, 1)                                     \
    R(PCI_LATENCY, 0x0d, 1, 1, 1)                                        \
    R(PCI_HEADER_TYPE, 0x0e, 1, 1, 1)                                    \
    R(PCI_BIST, 0x0f, 1, 1, 1)                                           \
    R(PCI_CAPABILITIES, 0x34, 1, 1, 1)                                   \
    R(PCI_INTERRUPT_LINE, 0x3c, 1, 1, 1)                                 \
    R(PCI_INTERRUPT_PIN, 0x3d, 1, 1, 1)
/* clang-format on */

/* Type 0: functions of devices. */
/* clang-format off */
#define PCI_DEVICE_REGISTERS(R)     \
    R(PCI_BAR, 0x10, 4, 6, 4)       \
    R(PCI_SUBSYSTEM, 0x2c, 4, 1, 4) \
    R(PCI_ROM, 0x30, 4, 1, 4)
/* clang-format on */

/* Type 1: bridges, which every port of a switch and every root port is. */
/* clang-format off */
#define PCI_BRIDGE_REGISTERS(R)                    \
    R(PCI_BRIDGE_BAR, 0x10, 4, 2, 4)               \
    R(PCI_PRIMARY_BUS, 0x18, 1, 1, 1)              \
    R(PCI_SECONDARY_BUS, 0x19, 1, 1, 1)            \
    R(PCI_SUBORDINATE_BUS, 0x1a, 1, 1, 1)          \
    R(PCI_IO_BASE, 0x1c, 1, 1, 1)                  \
    R(PCI_IO_LIMIT, 0x1d, 1, 1, 1)                 \
    R(PCI_SECONDARY_STATUS, 0x1e, 2, 1, 2)         \
    R(PCI_MEMORY_BASE, 0x20, 2, 1, 2)              \
    R(PCI_MEMORY_LIMIT, 0x22, 2, 1, 2)             \
    R(PCI_PREFETCHABLE_BASE, 0x24, 2, 1, 2)        \
    R(PCI_PREFETCHABLE_LIMIT, 0x26, 2, 1, 2)       \
    R(PCI_PREFETCHABLE_BASE_UPPER, 0x28, 4, 1, 4)  \
    R(PCI_PREFETCHABLE_LIMIT_UPPER, 0x2c, 4, 1, 4) \
    R(PCI_BRIDGE_ROM, 0x38, 4, 1, 4)               \
    R(PCI_BRIDGE_CONTROL, 0x3e, 2, 1, 2)
/* clang-format on */

/* clang-format off */
#define PCI_CAPABILITY_REGISTERS(R)    \
    R(PCI_CAPABILITY_ID, 0x0, 1, 1, 1) \
    R(PCI_CAPABILITY_NEXT, 0x1, 1, 1, 1)
/* clang-format on */

/* clang-format off */
#define PCI_EXTENDED_CAPABILITY_REGISTERS(R) \
    R(PCI_EXTENDED_HEADER, 0x0, 4, 1, 4) /* ID, version << 16, next << 20 */
/* clang-format on */

/* clang-format off */
#define PCI_PM_REGISTERS(R)              \
    R(PCI_PM_CAPABILITIES, 0x2, 2, 1, 2) \
    R(PCI_PM_CONTROL, 0x4, 2, 1, 2)
/* clang-format on */

/* clang-format off */
#define PCI_MSIX_REGISTERS(R)                                             \
    R(PCI_MSIX_CONTROL, 0x2, 2, 1, 2)                                     \
    R(PCI_MSIX_TABLE, 0x4, 4, 1, 4)   /* BAR, offset in multiples of 8 */ \
    R(PCI_MSIX_PENDING, 0x8, 4, 1, 4) /* likewise */
/* clang-format on */

/* One entry of the MSI-X table, in the BAR that PCI_MSIX_TABLE names. */
/* clang-format off */
#define PCI_MSIX_ENTRY_REGISTERS(R)               \
    R(PCI_MSIX_ENTRY_ADDRESS, 0x0, 4, 1, 4)       \
    R(PCI_MSIX_ENTRY_ADDRESS_UPPER, 0x4, 4, 1, 4) \
    R(PCI_MSIX_ENTRY_DATA, 0x8, 4, 1, 4)          \
    R(PCI_MSIX_ENTRY_CONTROL, 0xc, 4, 1, 4)
/* clang-format on */

/* clang-format off */
#define PCI_EXPRESS_REGISTERS(R)                        \
    R(PCI_EXPRESS_CAPABILITIES, 0x02, 2, 1, 2)          \
    R(PCI_EXPRESS_DEVICE_CAPABILITIES, 0x04, 4, 1, 4)   \
    R(PCI_EXPRESS_DEVICE_CONTROL, 0x08, 2, 1, 2)        \
    R(PCI_EXPRESS_DEVICE_STATUS, 0x0a, 2, 1, 2)         \
    R(PCI_EXPRESS_LINK_CAPABILITIES, 0x0c, 4, 1, 4)     \
    R(PCI_EXPRESS_LINK_CONTROL, 0x10, 2, 1, 2)          \
    R(PCI_EXPRESS_LINK_STATUS, 0x12, 2, 1, 2)           \
    R(PCI_EXPRESS_SLOT_CAPABILITIES, 0x14, 4, 1, 4)     \
    R(PCI_EXPRESS_SLOT_CONTROL, 0x18, 2, 1, 2)          \
    R(PCI_EXPRESS_SLOT_STATUS, 0x1a, 2, 1, 2)           \
    R(PCI_EXPRESS_ROOT_CONTROL, 0x1c, 2, 1, 2)          \
    R(PCI_EXPRESS_ROOT_CAPABILITIES, 0x1e, 2, 1, 2)     \
    R(PCI_EXPRESS_ROOT_STATUS, 0x20, 4, 1, 4)           \
    R(PCI_EXPRESS_DEVICE_CAPABILITIES_2, 0x24, 4, 1, 4) \
    R(PCI_EXPRESS_DEVICE_CONTROL_2, 0x28, 2, 1, 2)      \
    R(PCI_EXPRESS_LINK_CAPABILITIES_2, 0x2c, 4, 1, 4)   \
    R(PCI_EXPRESS_LINK_CONTROL_2, 0x30, 2, 1, 2)
/* clang-format on */

/* clang-format off */
#define PCI_AER_REGISTERS(R)                         \
    R(PCI_AER_UNCORRECTABLE_STATUS, 0x04, 4, 1, 4)   \
    R(PCI_AER_UNCORRECTABLE_MASK, 0x08, 4, 1, 4)     \
    R(PCI_AER_UNCORRECTABLE_SEVERITY, 0x0c, 4, 1, 4) \
    R(PCI_AER_CORRECTABLE_STATUS, 0x10, 4, 1, 4)     \
    R(PCI_AER_CORRECTABLE_MASK, 0x14, 4, 1, 4)       \
    R(PCI_AER_CAPABILITIES, 0x18, 4, 1, 4)           \
    R(PCI_AER_HEADER_LOG, 0x1c, 4, 4, 4)             \
    R(PCI_AER_ROOT_COMMAND, 0x2c, 4, 1, 4)           \
    R(PCI_AER_ROOT_STATUS, 0x30, 4, 1, 4)            \
    R(PCI_AER_ERROR_SOURCE, 0x34, 4, 1, 4)
/* clang-format on */

/* clang-format off */
#define PCI_ACS_REGISTERS(R)              \
    R(PCI_ACS_CAPABILITIES, 0x4, 2, 1, 2) \
    R(PCI_ACS_CONTROL, 0x6, 2, 1, 2)
/* clang-format on */

enum { PCI_COMMON_REGISTERS(ABI_OFFSET) };
enum { PCI_DEVICE_REGISTERS(ABI_OFFSET) };
enum { PCI_BRIDGE_REGISTERS(ABI_OFFSET) };
enum { PCI_CAPABILITY_REGISTERS(ABI_OFFSET) };
enum { PCI_EXTENDED_CAPABILITY_REGISTERS(ABI_OFFSET) };
enum { PCI_PM_REGISTERS(ABI_OFFSET) };
enum { PCI_MSIX_REGISTERS(ABI_OFFSET) };
enum { PCI_MSIX_ENTRY_REGISTERS(ABI_OFFSET) PCI_MSIX_ENTRY_SIZE = 0x10 };
enum { PCI_EXPRESS_REGISTERS(ABI_OFFSET) };
enum { PCI_AER_REGISTERS(ABI_OFFSET) };
enum { PCI_ACS_REGISTERS(ABI_OFFSET) };

enum { PCI_BUSES = 256, PCI_DEVICES = 32, PCI_FUNCTIONS = 8, PCI_BARS = 6, PCI_BRIDGE_BARS = 2 };
enum { PCI_CONFIGURATION_SIZE = 0x100, PCI_EXTENDED_SIZE = 0x1000, PCI_FIRST_EXTENDED = 0x100 };

#define PCI_NO_FUNCTION UINT32_C(0xffffffff) /* PCI_ID where nothing answers */
enum { PCI_VENDOR_RETRY = 0x0001 };          /* vendor ID while a function is not ready, with CRS software visibility */

enum {
    PCI_COMMAND_IO = 0x0001,
    PCI_COMMAND_MEMORY = 0x0002,
    PCI_COMMAND_MASTER = 0x0004,
    PCI_COMMAND_PARITY = 0x0040,
    PCI_COMMAND_SERR = 0x0100,
    PCI_COMMAND_INTX_DISABLE = 0x0400
};
enum { PCI_STATUS_INTERRUPT = 0x0008, PCI_STATUS_CAPABILITIES = 0x0010 };
enum {
    PCI_HEADER_TYPE_MASK = 0x7f,
    PCI_HEADER_DEVICE = 0x00,
    PCI_HEADER_BRIDGE = 0x01,
    PCI_HEADER_MULTIFUNCTION = 0x80
};
enum { PCI_CLASS_BRIDGE_PCI = 0x060400 };

enum {
    PCI_BAR_IO = 0x1,
    PCI_BAR_WIDE = 0x4,
    PCI_BAR_PREFETCHABLE = 0x8,
    PCI_BAR_IO_FLAGS = 0x3,
    PCI_BAR_MEMORY_FLAGS = 0xf
};
enum { PCI_WINDOW_WIDE = 0x1, PCI_WINDOW_MASK = 0xfff0 }; /* memory and prefetchable base and limit */
enum { PCI_BRIDGE_SERR = 0x0002, PCI_BRIDGE_SECONDARY_RESET = 0x0040 };

enum {
    PCI_CAPABILITY_PM = 0x01,
    PCI_CAPABILITY_MSI = 0x05,
    PCI_CAPABILITY_VENDOR = 0x09,
    PCI_CAPABILITY_EXPRESS = 0x10,
    PCI_CAPABILITY_MSIX = 0x11
};
enum {
    PCI_EXTENDED_AER = 0x0001,
    PCI_EXTENDED_SERIAL = 0x0003,
    PCI_EXTENDED_ACS = 0x000d,
    PCI_EXTENDED_ARI = 0x000e,
    PCI_EXTENDED_RESIZABLE_BAR = 0x0015
};

enum { PCI_PM_STATE = 0x0003, PCI_PM_D0 = 0, PCI_PM_D3HOT = 3 };
enum {
    PCI_MSIX_ENABLE = 0x8000,
    PCI_MSIX_MASK_ALL = 0x4000,
    PCI_MSIX_SIZE = 0x07ff,
    PCI_MSIX_BAR = 0x7,
    PCI_MSIX_ENTRY_MASKED = 0x1
};

/* Device/port type, bits 7:4 of the PCI Express capabilities. */
enum {
    PCI_PORT_ENDPOINT = 0,
    PCI_PORT_LEGACY = 1,
    PCI_PORT_ROOT = 4,
    PCI_PORT_UPSTREAM = 5,
    PCI_PORT_DOWNSTREAM = 6,
    PCI_PORT_INTEGRATED = 9
};
/* Device capabilities and control. Sizes are coded as log2(bytes / 128). */
enum {
    PCI_EXPRESS_PAYLOAD_SUPPORTED = 0x7,
    PCI_EXPRESS_EXTENDED_TAG_SUPPORTED = 0x20,
    PCI_EXPRESS_RESET_SUPPORTED = 0x10000000
};
enum {
    PCI_EXPRESS_REPORT_NONFATAL = 0x0002,
    PCI_EXPRESS_REPORT_FATAL = 0x0004,
    PCI_EXPRESS_REPORT_UNSUPPORTED = 0x0008,
    PCI_EXPRESS_REPORT_ERRORS = 0x000f,
    PCI_EXPRESS_PAYLOAD_SHIFT = 5,
    PCI_EXPRESS_PAYLOAD_MASK = 0x00e0,
    PCI_EXPRESS_EXTENDED_TAG = 0x0100,
    PCI_EXPRESS_READ_REQUEST_SHIFT = 12,
    PCI_EXPRESS_READ_REQUEST_MASK = 0x7000,
    PCI_EXPRESS_RESET = 0x8000
};
enum { PCI_EXPRESS_TRANSACTIONS_PENDING = 0x0020 }; /* device status */
enum {
    PCI_EXPRESS_LINK_SPEED = 0x000f,
    PCI_EXPRESS_LINK_WIDTH = 0x03f0,
    PCI_EXPRESS_LINK_WIDTH_SHIFT = 4,
    PCI_EXPRESS_LINK_ACTIVE = 0x2000
};
/* AER: root error status, whose bits are cleared by ones */
enum {
    PCI_AER_ROOT_FIRST_FATAL = 0x10,
    PCI_AER_ROOT_NONFATAL = 0x20,
    PCI_AER_ROOT_FATAL = 0x40,
    PCI_AER_ROOT_ALL = 0x7f
};
enum { PCI_EXPRESS_RETRY_VISIBLE = 0x0010, PCI_EXPRESS_RETRY_CAPABLE = 0x0001 }; /* root control and capabilities */

#endif
