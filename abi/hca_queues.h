/* SPDX-License-Identifier: Apache-2.0 */
/* What queues of the HCA hold: work queue entries, completions, events; and doorbell records. */
#ifndef FABRICVP_ABI_HCA_QUEUES_H
#define FABRICVP_ABI_HCA_QUEUES_H

#include "abi/hca_fields.h"

/* Doorbell record: 8 bytes of a user access region's context. */
enum {
    HCA_DBR_COUNT = HCA_WORD(0x0), /* completion queues: consumer counter; others: 16 bits, entries posted */
    HCA_DBR_NUMBER = HCA_FIELD(0x4, 8, 24),
    HCA_DBR_TYPE = HCA_FIELD(0x4, 5, 3),
    HCA_DBR_SEQUENCE = HCA_FIELD(0x4, 3, 2), /* arming */
    HCA_DBR_COMMAND = HCA_FIELD(0x4, 0, 3),
    HCA_DBR_SIZE = 8
};
enum {
    HCA_DBR_CQ_CONSUMER = 1,
    HCA_DBR_CQ_ARM = 2,
    HCA_DBR_SQ = 3,
    HCA_DBR_RQ = 4,
    HCA_DBR_SRQ = 5,
    HCA_DBR_SEPARATOR = 7
};

/* Work queue entries begin with a next segment. Opcode, fence and size are those of the entry behind. */
enum {
    HCA_NEXT_ADDRESS = HCA_FIELD(0x0, 6, 26),
    HCA_NEXT_OPCODE = HCA_FIELD(0x0, 0, 5),
    HCA_NEXT_DBD = HCA_FIELD(0x4, 7, 1),
    HCA_NEXT_FENCE = HCA_FIELD(0x4, 6, 1),
    HCA_NEXT_SIZE = HCA_FIELD(0x4, 0, 6), /* of 16 bytes */
    HCA_NEXT_SIGNALLED = HCA_FIELD(0x8, 3, 1),
    HCA_NEXT_EVENT = HCA_FIELD(0x8, 2, 1),
    HCA_NEXT_SOLICITED = HCA_FIELD(0x8, 1, 1),
    HCA_NEXT_ALWAYS = HCA_FIELD(0x8, 0, 1), /* 1 */
    HCA_NEXT_IMMEDIATE = HCA_WORD(0xc),
    /* MLX transport */
    HCA_NEXT_VL15 = HCA_FIELD(0x8, 17, 1),
    HCA_NEXT_PERMISSIVE = HCA_FIELD(0x8, 16, 1),
    HCA_NEXT_SERVICE_LEVEL = HCA_FIELD(0x8, 8, 4),
    HCA_NEXT_ICRC_MODE = HCA_FIELD(0x8, 4, 2),
    HCA_NEXT_LID = HCA_HALF(0xc, 0, 16),
    HCA_SEGMENT = 16
};
enum hca_opcode {
    HCA_OP_NOP = 0x00,
    HCA_OP_WRITE = 0x08,
    HCA_OP_WRITE_IMMEDIATE = 0x09,
    HCA_OP_SEND = 0x0a,
    HCA_OP_SEND_IMMEDIATE = 0x0b,
    HCA_OP_READ = 0x10,
    HCA_OP_COMPARE_SWAP = 0x11,
    HCA_OP_FETCH_ADD = 0x12,
    HCA_OP_BIND = 0x18
};

enum { HCA_REMOTE_ADDRESS = 0x0 /* 64 bits */, HCA_REMOTE_KEY = HCA_WORD(0x8) };
enum { HCA_ATOMIC_SWAP_ADD = 0x0, HCA_ATOMIC_COMPARE = 0x8 }; /* 64 bits each */
enum {
    HCA_DATA_INLINE = HCA_FIELD(0x0, 31, 1),
    HCA_DATA_INLINE_BYTES = HCA_FIELD(0x0, 0, 11), /* they follow at +4 */
    HCA_DATA_BYTES = HCA_FIELD(0x0, 0, 31),
    HCA_DATA_KEY = HCA_WORD(0x4),
    HCA_DATA_ADDRESS = 0x8,
    HCA_INVALID_LKEY = 0x100 /* ends the list of a receive */
};
/* Datagrams: address vector, destination, Q_Key. */
enum {
    HCA_AV_PORT = HCA_FIELD(0x00, 24, 2),
    HCA_AV_PD = HCA_FIELD(0x00, 0, 24),
    HCA_AV_GRH = HCA_BYTE(0x05, 7, 1),
    HCA_AV_SOURCE_BITS = HCA_BYTE(0x05, 0, 7),
    HCA_AV_LID = HCA_HALF(0x06, 0, 16),
    HCA_AV_GID_INDEX = HCA_BYTE(0x09, 0, 8),
    HCA_AV_RATE = HCA_BYTE(0x0a, 0, 3),
    HCA_AV_HOP_LIMIT = HCA_BYTE(0x0b, 0, 8),
    HCA_AV_SERVICE_LEVEL = HCA_FIELD(0x0c, 28, 4),
    HCA_AV_TRAFFIC_CLASS = HCA_FIELD(0x0c, 20, 8),
    HCA_AV_FLOW_LABEL = HCA_FIELD(0x0c, 0, 20),
    HCA_AV_GID = 0x10,
    HCA_UD_QPN = HCA_FIELD(0x20, 0, 24),
    HCA_UD_QKEY = HCA_WORD(0x24), /* bit 31: the queue pair's own */
    HCA_UD_SIZE = 0x30
};
enum { HCA_GRH_BYTES = 40 };

/* Completion. */
enum {
    HCA_CQE_QPN = HCA_FIELD(0x00, 0, 24),
    HCA_CQE_SOURCE_QPN = HCA_FIELD(0x08, 0, 24),
    HCA_CQE_SERVICE_LEVEL = HCA_FIELD(0x0c, 28, 4),
    HCA_CQE_GRH = HCA_FIELD(0x0c, 23, 1),
    HCA_CQE_PATH_BITS = HCA_FIELD(0x0c, 16, 7),
    HCA_CQE_SOURCE_LID = HCA_FIELD(0x0c, 0, 16),
    HCA_CQE_IMMEDIATE = HCA_WORD(0x10),
    HCA_CQE_PKEY_INDEX = HCA_HALF(0x10, 0, 16),
    HCA_CQE_BYTES = HCA_WORD(0x14),
    HCA_CQE_WQE = HCA_WORD(0x18), /* offset in the queue's buffer */
    HCA_CQE_OPCODE = HCA_BYTE(0x1c, 0, 8),
    HCA_CQE_IS_SEND = HCA_BYTE(0x1d, 7, 1),
    HCA_CQE_OWNER = HCA_BYTE(0x1f, 7, 1), /* 1: the HCA's */
    /* errors */
    HCA_CQE_SYNDROME = HCA_BYTE(0x10, 0, 8),
    HCA_CQE_VENDOR_CODE = HCA_BYTE(0x11, 0, 8),
    HCA_CQE_SIZE = 0x20
};
enum { HCA_CQE_ERROR_SEND = 0xff, HCA_CQE_ERROR_RECEIVE = 0xfe };
enum hca_syndrome {
    HCA_LOCAL_LENGTH = 0x01,
    HCA_LOCAL_QP_OPERATION = 0x02,
    HCA_LOCAL_PROTECTION = 0x04,
    HCA_FLUSHED = 0x05,
    HCA_BAD_RESPONSE = 0x10,
    HCA_LOCAL_ACCESS = 0x11,
    HCA_REMOTE_INVALID_REQUEST = 0x12,
    HCA_REMOTE_ACCESS = 0x13,
    HCA_REMOTE_OPERATION = 0x14,
    HCA_RETRIES_EXCEEDED = 0x15,
    HCA_RNR_RETRIES_EXCEEDED = 0x16,
    HCA_ABORTED = 0x22
};

/* Event. */
enum {
    HCA_EQE_TYPE = HCA_BYTE(0x01, 0, 8),
    HCA_EQE_SUBTYPE = HCA_BYTE(0x03, 0, 8),
    HCA_EQE_NUMBER = HCA_FIELD(0x04, 0, 24), /* of the queue or queue pair */
    HCA_EQE_CQ_SYNDROME = HCA_BYTE(0x0f, 0, 8),
    HCA_EQE_PORT = HCA_FIELD(0x0c, 28, 2),
    HCA_EQE_TOKEN = HCA_HALF(0x06, 0, 16),
    HCA_EQE_STATUS = HCA_BYTE(0x0f, 0, 8),
    HCA_EQE_OUT_PARAM = 0x10,
    HCA_EQE_OWNER = HCA_BYTE(0x1f, 7, 1),
    HCA_EQE_SIZE = 0x20
};
enum hca_event {
    HCA_EVENT_COMPLETION = 0x00,
    HCA_EVENT_MIGRATED = 0x01,
    HCA_EVENT_COMMUNICATION = 0x02,
    HCA_EVENT_SQ_DRAINED = 0x03,
    HCA_EVENT_CQ_ERROR = 0x04,
    HCA_EVENT_WQ_CATASTROPHIC_ERROR = 0x05,
    HCA_EVENT_MIGRATION_FAILED = 0x07,
    HCA_EVENT_PORT = 0x09,
    HCA_EVENT_COMMAND = 0x0a,
    HCA_EVENT_EQ_OVERFLOW = 0x0f,
    HCA_EVENT_INVALID_REQUEST = 0x10,
    HCA_EVENT_ACCESS_VIOLATION = 0x11,
    HCA_EVENT_SRQ_CATASTROPHIC_ERROR = 0x12,
    HCA_EVENT_LAST_WQE = 0x13,
    HCA_EVENT_SRQ_LIMIT = 0x14
};
enum { HCA_PORT_DOWN = 1, HCA_PORT_ACTIVE = 4 };
enum { HCA_CQ_OVERRUN = 1, HCA_CQ_ACCESS = 2 };

#endif
