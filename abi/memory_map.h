/* SPDX-License-Identifier: Apache-2.0 */
/* Physical addresses and interrupt numbers of the host, compatible with QEMU's `virt` machine. Firmware finds devices
 * in the device tree, not here. */
#ifndef FABRICVP_ABI_MEMORY_MAP_H
#define FABRICVP_ABI_MEMORY_MAP_H

#include <stdint.h>

#define VIRT_BOOT_ROM_BASE UINT64_C(0x00001000)
#define VIRT_BOOT_ROM_SIZE UINT64_C(0x0000f000)
#define VIRT_FINISHER_BASE UINT64_C(0x00100000)
#define VIRT_FINISHER_SIZE UINT64_C(0x00001000)
#define VIRT_RTC_BASE UINT64_C(0x00101000)
#define VIRT_RTC_SIZE UINT64_C(0x00001000)
#define VIRT_MARKER_BASE UINT64_C(0x00110000) /* a hole in QEMU's map */
#define VIRT_MARKER_SIZE UINT64_C(0x00001000)
#define VIRT_MEMORY_ERRORS_BASE UINT64_C(0x00120000) /* where memory has ECC; a hole in QEMU's map */
#define VIRT_MEMORY_ERRORS_SIZE UINT64_C(0x00001000)
#define VIRT_CLINT_BASE UINT64_C(0x02000000)
#define VIRT_CLINT_SIZE UINT64_C(0x00010000)
#define VIRT_PCIE_PIO_BASE UINT64_C(0x03000000)
#define VIRT_PCIE_PIO_SIZE UINT64_C(0x00010000)
#define VIRT_APU_BASE UINT64_C(0x04000000) /* of each APU: registers, at VIRT_APU_DOORBELLS its doorbells */
#define VIRT_APU_STRIDE UINT64_C(0x00200000)
#define VIRT_APU_DOORBELLS UINT64_C(0x00100000)
#define VIRT_PLIC_BASE UINT64_C(0x0c000000)
#define VIRT_PLIC_SIZE UINT64_C(0x00600000)
#define VIRT_APLIC_M_BASE UINT64_C(0x0c000000) /* with an APLIC in place of the PLIC */
#define VIRT_APLIC_S_BASE UINT64_C(0x0d000000)
#define VIRT_APLIC_SIZE UINT64_C(0x00008000)
#define VIRT_UART_BASE UINT64_C(0x10000000)
#define VIRT_UART_SIZE UINT64_C(0x00000100)
#define VIRT_IMSIC_M_BASE UINT64_C(0x24000000) /* a page a hart */
#define VIRT_IMSIC_S_BASE UINT64_C(0x28000000)
#define VIRT_PCIE_ECAM_BASE UINT64_C(0x30000000)
#define VIRT_PCIE_ECAM_SIZE UINT64_C(0x10000000)
#define VIRT_PCIE_MMIO32_BASE UINT64_C(0x40000000)
#define VIRT_PCIE_MMIO32_SIZE UINT64_C(0x40000000)
#define VIRT_DRAM_BASE UINT64_C(0x80000000)
/* The 64-bit window lies at 16 GiB, or, where memory reaches into it or it is larger, above memory, aligned to its
 * size. It has at least this size, and twice what the memories of devices need. */
#define VIRT_PCIE_MMIO64_BASE UINT64_C(0x400000000)
#define VIRT_PCIE_MMIO64_SIZE UINT64_C(0x400000000)

#define VIRT_UART_IRQ 10
#define VIRT_RTC_IRQ 11
#define VIRT_PCIE_IRQ 32     /* INTA … INTD of device 0 are 32 … 35 */
#define VIRT_APU_IRQ 64      /* of the first one; the next ones follow */
#define VIRT_PLIC_SOURCES 96 /* 1 … 96 */
#define VIRT_MAX_HARTS 64    /* PLIC contexts that fit its window */

#endif
