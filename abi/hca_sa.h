/* SPDX-License-Identifier: Apache-2.0 */
/* Subnet administration (SA) datagrams: InfiniBand Architecture Specification, volume 1, chapters 13.6 (RMPP) and 15.
 * Big-endian. Records of a table follow each other in units of 8 bytes. */
#ifndef FABRICVP_ABI_HCA_SA_H
#define FABRICVP_ABI_HCA_SA_H

#include "abi/hca_mad.h"

enum {
    HCA_SA_CLASS = 0x03,
    HCA_SA_GET_TABLE = 0x12, /* methods */
    HCA_SA_GET_TABLE_RESPONSE = 0x92,
    HCA_SA_DELETE = 0x15,
    HCA_SA_DELETE_RESPONSE = 0x95,
    HCA_SA_NO_RESOURCES = 0x0100, /* statuses */
    HCA_SA_INVALID = 0x0200,
    HCA_SA_NO_RECORDS = 0x0300,
    HCA_SA_TOO_MANY = 0x0400,
    HCA_SA_INVALID_GID = 0x0500,
    HCA_SA_INSUFFICIENT = 0x0600,
    HCA_SA_CLASS_PORT_INFO = 0x0001, /* attributes */
    HCA_SA_NODE = 0x0011,
    HCA_SA_PORT_INFO = 0x0012,
    HCA_SA_PATH = 0x0035,
    HCA_SA_MEMBER = 0x0038
};

enum {
    HCA_SA_RMPP_VERSION = HCA_BYTE(0x18, 0, 8),
    HCA_SA_RMPP_TYPE = HCA_BYTE(0x19, 0, 8),
    HCA_SA_RMPP_FLAGS = HCA_BYTE(0x1a, 0, 3),
    HCA_SA_RMPP_STATUS = HCA_BYTE(0x1b, 0, 8),
    HCA_SA_RMPP_SEGMENT = HCA_WORD(0x1c),
    HCA_SA_RMPP_LENGTH = HCA_WORD(0x20), /* of data; of an acknowledgement: the last segment that may be sent */
    HCA_SA_RMPP_DATA = 1,                /* types */
    HCA_SA_RMPP_ACKNOWLEDGE = 2,
    HCA_SA_RMPP_STOP = 3,
    HCA_SA_RMPP_ABORT = 4,
    HCA_SA_RMPP_ACTIVE = 1, /* flags */
    HCA_SA_RMPP_FIRST = 2,
    HCA_SA_RMPP_LAST = 4,
    HCA_SA_KEY = 0x24,                     /* 64 bits; 0: the requester is not trusted */
    HCA_SA_OFFSET = HCA_HALF(0x2c, 0, 16), /* of a record to the next one, in units of 8 bytes */
    HCA_SA_COMPONENTS = 0x30,              /* 64 bits: the fields that a request gives */
    HCA_SA_HEADER = 20,                    /* bytes from the key to here, which each segment has */
    HCA_SA_DATA = 0x38,
    HCA_SA_DATA_SIZE = 200
};

/* ClassPortInfo. */
enum {
    HCA_SA_INFO_BASE = HCA_BYTE(0, 0, 8),
    HCA_SA_INFO_CLASS = HCA_BYTE(1, 0, 8),
    HCA_SA_INFO_TIME = HCA_FIELD(4, 0, 5)
};

/* NodeRecord: LID, NodeInfo, NodeDescription. */
enum {
    HCA_SA_NODE_LID = HCA_HALF(0, 0, 16),
    HCA_SA_NODE_INFO = 4,
    HCA_SA_NODE_DESCRIPTION = 44,
    HCA_SA_NODE_SIZE = 108,
    HCA_SA_NODE_BY_LID = 1 << 0,
    HCA_SA_NODE_BY_TYPE = 1 << 4,
    HCA_SA_NODE_BY_GUID = 1 << 7,
    HCA_SA_NODE_BY_PORT_GUID = 1 << 8
};

/* PortInfoRecord: LID, port, PortInfo. */
enum {
    HCA_SA_PORT_LID = HCA_HALF(0, 0, 16),
    HCA_SA_PORT_NUMBER = HCA_BYTE(2, 0, 8),
    HCA_SA_PORT_ATTRIBUTES = 4,
    HCA_SA_PORT_SIZE = 68,
    HCA_SA_PORT_BY_LID = 1 << 0,
    HCA_SA_PORT_BY_NUMBER = 1 << 1
};

/* PathRecord. */
enum {
    HCA_SA_PATH_DGID = 8, /* 128 bits */
    HCA_SA_PATH_SGID = 24,
    HCA_SA_PATH_DLID = HCA_HALF(40, 0, 16),
    HCA_SA_PATH_SLID = HCA_HALF(42, 0, 16),
    HCA_SA_PATH_HOP_LIMIT = HCA_FIELD(44, 0, 8),
    HCA_SA_PATH_REVERSIBLE = HCA_BYTE(49, 7, 1),
    HCA_SA_PATH_COUNT = HCA_BYTE(49, 0, 7),
    HCA_SA_PATH_PKEY = HCA_HALF(50, 0, 16),
    HCA_SA_PATH_SL = HCA_HALF(52, 0, 4),
    HCA_SA_PATH_MTU_SELECTOR = HCA_BYTE(54, 6, 2),
    HCA_SA_PATH_MTU = HCA_BYTE(54, 0, 6),
    HCA_SA_PATH_RATE_SELECTOR = HCA_BYTE(55, 6, 2),
    HCA_SA_PATH_RATE = HCA_BYTE(55, 0, 6),
    HCA_SA_PATH_LIFE_SELECTOR = HCA_BYTE(56, 6, 2),
    HCA_SA_PATH_LIFE = HCA_BYTE(56, 0, 6),
    HCA_SA_PATH_SIZE = 64,
    HCA_SA_PATH_BY_DGID = 1 << 2,
    HCA_SA_PATH_BY_SGID = 1 << 3,
    HCA_SA_PATH_BY_DLID = 1 << 4,
    HCA_SA_PATH_BY_SLID = 1 << 5,
    HCA_SA_PATH_BY_PKEY = 1 << 13,
    HCA_SA_PATH_BY_SL = 1 << 15,
    HCA_SA_PATH_BY_MTU = 1 << 16 | 1 << 17,
    HCA_SA_PATH_BY_RATE = 1 << 18 | 1 << 19
};

/* MCMemberRecord. */
enum {
    HCA_SA_MEMBER_MGID = 0, /* 128 bits */
    HCA_SA_MEMBER_GID = 16,
    HCA_SA_MEMBER_QKEY = HCA_WORD(32),
    HCA_SA_MEMBER_LID = HCA_HALF(36, 0, 16),
    HCA_SA_MEMBER_MTU_SELECTOR = HCA_BYTE(38, 6, 2),
    HCA_SA_MEMBER_MTU = HCA_BYTE(38, 0, 6),
    HCA_SA_MEMBER_CLASS = HCA_BYTE(39, 0, 8),
    HCA_SA_MEMBER_PKEY = HCA_HALF(40, 0, 16),
    HCA_SA_MEMBER_RATE_SELECTOR = HCA_BYTE(42, 6, 2),
    HCA_SA_MEMBER_RATE = HCA_BYTE(42, 0, 6),
    HCA_SA_MEMBER_LIFE_SELECTOR = HCA_BYTE(43, 6, 2),
    HCA_SA_MEMBER_LIFE = HCA_BYTE(43, 0, 6),
    HCA_SA_MEMBER_FLOW = HCA_WORD(44), /* service level, flow label, hop limit */
    HCA_SA_MEMBER_SCOPE = HCA_BYTE(48, 4, 4),
    HCA_SA_MEMBER_STATE = HCA_BYTE(48, 0, 4),
    HCA_SA_MEMBER_SIZE = 56,
    HCA_SA_MEMBER_FULL = 1, /* states, which add up */
    HCA_SA_MEMBER_NONE = 2,
    HCA_SA_MEMBER_SENDS = 4,
    HCA_SA_MEMBER_BY_MGID = 1 << 0,
    HCA_SA_MEMBER_BY_GID = 1 << 1,
    HCA_SA_MEMBER_BY_QKEY = 1 << 2,
    HCA_SA_MEMBER_BY_LID = 1 << 3,
    HCA_SA_MEMBER_BY_MTU = 1 << 4 | 1 << 5,
    HCA_SA_MEMBER_BY_CLASS = 1 << 6,
    HCA_SA_MEMBER_BY_PKEY = 1 << 7,
    HCA_SA_MEMBER_BY_RATE = 1 << 8 | 1 << 9,
    HCA_SA_MEMBER_BY_SL = 1 << 12,
    HCA_SA_MEMBER_BY_FLOW = 1 << 13,
    HCA_SA_MEMBER_BY_STATE = 1 << 16
};

#endif
