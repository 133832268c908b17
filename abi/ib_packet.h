/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of InfiniBand packets as software writes them for queue pairs 0 and 1: InfiniBand Architecture Specification,
 * volume 1, sections 7.7 (local route), 9.2 (base transport), 9.3.2 (datagram extended transport). Big-endian. */
#ifndef FABRICVP_ABI_IB_PACKET_H
#define FABRICVP_ABI_IB_PACKET_H

#include "abi/hca_fields.h"

enum {
    IB_LRH_VL = HCA_BYTE(0, 4, 4),
    IB_LRH_SERVICE_LEVEL = HCA_BYTE(1, 4, 4),
    IB_LRH_NEXT = HCA_BYTE(1, 0, 2),
    IB_LRH_DESTINATION = HCA_HALF(2, 0, 16),
    IB_LRH_LENGTH = HCA_HALF(4, 0, 11), /* in 4 bytes, from itself to the ICRC */
    IB_LRH_SOURCE = HCA_HALF(6, 0, 16),
    IB_LRH_SIZE = 8
};
enum {
    IB_NEXT_BTH = 2,
    IB_NEXT_GRH = 3,
    IB_MANAGEMENT_VL = 15,
    IB_PERMISSIVE_LID = 0xffff,
    IB_FIRST_MULTICAST_LID = 0xc000,
    IB_MULTICAST_QP = 0xffffff
};
enum {
    IB_BTH_OPCODE = HCA_BYTE(0, 0, 8),
    IB_BTH_MIGRATED = HCA_BYTE(1, 6, 1),
    IB_BTH_PKEY = HCA_HALF(2, 0, 16),
    IB_BTH_QP = HCA_FIELD(4, 0, 24),
    IB_BTH_PSN = HCA_FIELD(8, 0, 24),
    IB_BTH_SIZE = 12
};
enum { IB_UD_SEND_ONLY = 0x64, IB_DEFAULT_PKEY = 0xffff, IB_GSI_QKEY = (int)0x80010000 };
enum {
    IB_DETH_QKEY = HCA_WORD(0),
    IB_DETH_QP = HCA_FIELD(4, 0, 24), /* the sender's */
    IB_DETH_SIZE = 8
};
enum { IB_ICRC_SIZE = 4, IB_DATAGRAM_HEADERS = IB_LRH_SIZE + IB_BTH_SIZE + IB_DETH_SIZE };

#endif
