/* SPDX-License-Identifier: Apache-2.0 */
/* Where things lie in the memory of a differential test; shared by the guest's runtime and the driver. */
#ifndef DIFFERENTIAL_LAYOUT_H
#define DIFFERENTIAL_LAYOUT_H

#define LAYOUT_DRAM 0x80000000
#define LAYOUT_HEADER 0x80010000 /* number of sequences, runtime status */
#define LAYOUT_DESCRIPTORS 0x80020000
#define LAYOUT_TABLES 0x80100000  /* page tables */
#define LAYOUT_PAGES 0x80200000   /* physical pages behind translated windows */
#define LAYOUT_WINDOWS 0x80400000 /* one page a sequence that runs without translation */
#define LAYOUT_CODE 0x80800000
#define LAYOUT_CODE_END 0x81000000
#define LAYOUT_LOG 0x81000000   /* final state of every sequence */
#define LAYOUT_TRAPS 0x82000000 /* records of all traps */
#define LAYOUT_TRAPS_END 0x83f00000
#define LAYOUT_END 0x84000000

#define LAYOUT_MAX_SEQUENCES 1000
#define LAYOUT_ALIAS_OFFSET 0xffffffff00000000 /* supervisor's view of DRAM under translation */

/* Descriptor of a sequence */
#define DESCRIPTOR_SIZE 576
#define DESCRIPTOR_ENTRY 0
#define DESCRIPTOR_END 8
#define DESCRIPTOR_STATUS 16
#define DESCRIPTOR_SATP 24
#define DESCRIPTOR_MEDELEG 32
#define DESCRIPTOR_FCSR 40
#define DESCRIPTOR_X 48  /* x1 … x31 */
#define DESCRIPTOR_F 296 /* f0 … f31 */

/* Log entry: sequence + 1, x1 … x31, f0 … f31, then CSRs */
#define LOG_SIZE 1024
#define LOG_F 256
#define LOG_CSR 512
#define LOG_CSRS 15

#define TRAP_SIZE 32 /* cause, epc, value, status */
#define MAX_TRAPS_PER_SEQUENCE 1000

/* Header */
#define HEADER_COUNT 0
#define HEADER_STATUS 8 /* 0: ran to the end; 1: the program counter left the code; 2: too many traps in all */

#endif
