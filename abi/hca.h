/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA adapter (HCA) with the programming interface of Mellanox' InfiniHost III Lx (MT25204) without memory of its own,
 * as Linux's ib_mthca and rdma-core's libmthca drive it: identity, BARs, registers, commands. Everything is big-endian.
 * What mailboxes, contexts, work queue entries, completions and events look like: hca_mailbox.h, hca_context.h,
 * hca_queues.h. */
#ifndef FABRICVP_ABI_HCA_H
#define FABRICVP_ABI_HCA_H

#include "abi/hca_fields.h"

enum {
    HCA_VENDOR = 0x15b3,
    HCA_DEVICE = 0x6274,
    HCA_CLASS = 0x0c0600, /* serial bus, InfiniBand */
    HCA_REVISION = 0xa0,
    HCA_BAR_REGISTERS = 0, /* exactly 1 MiB */
    HCA_BAR_UAR = 2,       /* a page of doorbells for each user access region */
    HCA_REGISTERS_SIZE = 0x100000,
    HCA_PAGE = 4096,
    HCA_MSIX_TABLE = 0x82000, /* in BAR 0 */
    HCA_MSIX_VECTORS = 32,
    HCA_MAX_EQS = 32
};

/* BAR 0. QUERY_FW tells the addresses of all but HCR and RESET. */
enum {
    HCA_HCR = 0x80680,
    HCA_RESET = 0xf0010,        /* writing 1 resets the device */
    HCA_CLR_INT = 0xf00d8,      /* 64 bits: lets INTx go */
    HCA_ERROR_BUFFER = 0xf0100, /* HCA_ERROR_WORDS double words, zero while all is well */
    HCA_EQ_ARM = 0xf0200,       /* 64 bits; bit n of the low half arms EQ n */
    HCA_EQ_SET_CI = 0xf0400,    /* 8 bytes an EQ, whose consumer counter is the first word */
    HCA_EQ_STRIDE = 8,
    HCA_ERROR_WORDS = 16
};
enum { HCA_RESET_NOW = 1 };

/* The command register (HCR), seven double words; writing the last begins the command. */
enum {
    HCA_HCR_IN_PARAM = 0x00,
    HCA_HCR_IN_MODIFIER = 0x08,
    HCA_HCR_OUT_PARAM = 0x0c,
    HCA_HCR_TOKEN = 0x14, /* [31:16] */
    HCA_HCR_COMMAND = 0x18,
    HCA_HCR_SIZE = 0x1c
};
/* Fields of HCA_HCR_COMMAND. */
enum {
    HCA_HCR_OPCODE = HCA_FIELD(0, 0, 12),
    HCA_HCR_OP_MODIFIER = HCA_FIELD(0, 12, 4),
    HCA_HCR_EVENT = HCA_FIELD(0, 22, 1), /* the end is told by an event */
    HCA_HCR_GO = HCA_FIELD(0, 23, 1),
    HCA_HCR_STATUS = HCA_FIELD(0, 24, 8)
};
enum { HCA_MAILBOX_SIZE = 4096 };

enum hca_command {
    HCA_QUERY_DEV_LIM = 0x003,
    HCA_QUERY_FW = 0x004,
    HCA_QUERY_ADAPTER = 0x006,
    HCA_INIT_HCA = 0x007,
    HCA_CLOSE_HCA = 0x008,
    HCA_INIT_IB = 0x009,
    HCA_CLOSE_IB = 0x00a,
    HCA_SET_IB = 0x00c,
    HCA_SW2HW_MPT = 0x00d,
    HCA_HW2SW_MPT = 0x00f,
    HCA_MAP_EQ = 0x012,
    HCA_SW2HW_EQ = 0x013,
    HCA_HW2SW_EQ = 0x014,
    HCA_SW2HW_CQ = 0x016,
    HCA_HW2SW_CQ = 0x017,
    HCA_RST2INIT_QP = 0x019,
    HCA_INIT2RTR_QP = 0x01a,
    HCA_RTR2RTS_QP = 0x01b,
    HCA_RTS2RTS_QP = 0x01c,
    HCA_SQE2RTS_QP = 0x01d,
    HCA_2ERR_QP = 0x01e,
    HCA_RTS2SQD_QP = 0x01f,
    HCA_SQD2RTS_QP = 0x020,
    HCA_2RST_QP = 0x021,
    HCA_QUERY_QP = 0x022,
    HCA_CONF_SPECIAL_QP = 0x023,
    HCA_MAD_IFC = 0x024,
    HCA_READ_MGM = 0x025,
    HCA_WRITE_MGM = 0x026,
    HCA_MGID_HASH = 0x027,
    HCA_RESIZE_CQ = 0x02c,
    HCA_INIT2INIT_QP = 0x02d,
    HCA_NOP = 0x031,
    HCA_SW2HW_SRQ = 0x035,
    HCA_HW2SW_SRQ = 0x036,
    HCA_QUERY_SRQ = 0x037,
    HCA_SQD2SQD_QP = 0x038,
    HCA_ARM_SRQ = 0x040,
    HCA_RUN_FW = 0xff6,
    HCA_ENABLE_LAM = 0xff8,
    HCA_UNMAP_ICM = 0xff9,
    HCA_MAP_ICM = 0xffa,
    HCA_UNMAP_ICM_AUX = 0xffb,
    HCA_MAP_ICM_AUX = 0xffc,
    HCA_SET_ICM_SIZE = 0xffd,
    HCA_UNMAP_FA = 0xffe,
    HCA_MAP_FA = 0xfff
};

enum hca_status {
    HCA_OK = 0x00,
    HCA_INTERNAL_ERROR = 0x01,
    HCA_BAD_OPCODE = 0x02,
    HCA_BAD_PARAMETER = 0x03,
    HCA_BAD_SYSTEM_STATE = 0x04,
    HCA_BAD_RESOURCE = 0x05,
    HCA_BUSY = 0x06,
    HCA_EXCEEDS_LIMIT = 0x08,
    HCA_BAD_OBJECT_STATE = 0x09,
    HCA_BAD_INDEX = 0x0a,
    HCA_BAD_QP_STATE = 0x10,
    HCA_BAD_SEGMENT = 0x20,
    HCA_NO_LOCAL_MEMORY = 0x22,
    HCA_BAD_PACKET = 0x30,
    HCA_BAD_SIZE = 0x40
};

/* in_modifier of commands that name an object. */
enum {
    HCA_MAP_EQ_UNMAP = HCA_FIELD(0, 31, 1),
    HCA_MAP_EQ_NUMBER = HCA_FIELD(0, 0, 5),
    HCA_QP_NUMBER = HCA_FIELD(0, 0, 24),
    HCA_QP_SQD_EVENT = HCA_FIELD(0, 31, 1),
    HCA_MAD_PORT = HCA_FIELD(0, 0, 8),
    HCA_MAD_SLID = HCA_FIELD(0, 16, 16)
};
/* op_modifier */
enum {
    HCA_HW2SW_NO_OUTPUT = 1,
    HCA_2RST_NO_OUTPUT = 1, /* bit 0; Linux's 3 and 2 differ in it */
    HCA_SPECIAL_SMI = 0,
    HCA_SPECIAL_GSI = 1,
    HCA_MAD_IGNORE_MKEY = 1,
    HCA_MAD_IGNORE_BKEY = 2,
    HCA_MAD_EXTENDED = 4
};

/* A page of BAR 2. 64 bits at once, or two halves, of which the second acts. */
enum { HCA_UAR_SEND = 0x10, HCA_UAR_CQ = 0x20 };
enum {
    HCA_SEND_COUNT = HCA_FIELD(0, 24, 8), /* work queue entries posted, 1 ... 255 */
    HCA_SEND_INDEX = HCA_FIELD(0, 8, 16), /* the send queue's counter before them */
    HCA_SEND_FENCE = HCA_FIELD(0, 5, 1),
    HCA_SEND_OPCODE = HCA_FIELD(0, 0, 5), /* of the first */
    HCA_SEND_QPN = HCA_FIELD(4, 8, 24),
    HCA_SEND_SIZE = HCA_FIELD(4, 0, 6) /* of the first, in 16 bytes */
};
enum {
    HCA_ARM_SEQUENCE = HCA_FIELD(0, 28, 2),
    HCA_ARM_COMMAND = HCA_FIELD(0, 24, 3),
    HCA_ARM_CQN = HCA_FIELD(0, 0, 24),
    HCA_ARM_CONSUMER = HCA_FIELD(4, 0, 32)
};
enum { HCA_ARM_SOLICITED = 1, HCA_ARM_NEXT = 2, HCA_ARM_MULTIPLE = 3 };

#endif
