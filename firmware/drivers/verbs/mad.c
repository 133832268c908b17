/* SPDX-License-Identifier: Apache-2.0 */
/* Management datagrams to the adapter's own agent. */
#include "drivers/verbs/internal.h"
#include "lib/timer.h"

enum { PORT = 1, POLL_INTERVAL_US = 10 };

unsigned verbs_mad(struct verbs_device* d, const void* request, void* response) {
    return verbs_command(d, HCA_MAD_IFC, PORT, HCA_MAD_IGNORE_MKEY | HCA_MAD_IGNORE_BKEY, request, HCA_MAD_SIZE,
                         response, HCA_MAD_SIZE);
}

void verbs_write_get(uint8_t* mad, unsigned class, unsigned attribute, uint32_t modifier) {
    memset(mad, 0, HCA_MAD_SIZE);
    hca_set(mad, HCA_MAD_BASE_VERSION, 1);
    hca_set(mad, HCA_MAD_CLASS, class);
    hca_set(mad, HCA_MAD_CLASS_VERSION, 1);
    hca_set(mad, HCA_MAD_METHOD, HCA_MAD_GET);
    hca_set(mad, HCA_MAD_ATTRIBUTE, attribute);
    hca_set(mad, HCA_MAD_MODIFIER, modifier);
}

unsigned verbs_get(struct verbs_device* d, unsigned attribute, uint32_t modifier, uint8_t* data) {
    uint8_t mad[HCA_MAD_SIZE];
    verbs_write_get(mad, HCA_MAD_SUBNET, attribute, modifier);
    const unsigned status = verbs_mad(d, mad, mad);
    if (status) return status;
    memcpy(data, mad + HCA_MAD_DATA, HCA_MAD_DATA_SIZE);
    return hca_get(mad, HCA_MAD_STATUS) << 8;
}

bool verbs_wait_port(struct verbs_device* d, uint8_t* info, uint64_t microseconds) {
    for (uint64_t waited = 0;; waited += POLL_INTERVAL_US) {
        if (verbs_get(d, HCA_MAD_PORT_INFO, PORT, info)) return false;
        if (hca_get(info, HCA_PORT_STATE) == HCA_PORT_ACTIVE) return true;
        if (waited >= microseconds) return false;
        timer_wait(POLL_INTERVAL_US);
    }
}

const char* verbs_syndrome_name(unsigned syndrome) {
    switch (syndrome) {
        case 0: return "success";
        case HCA_LOCAL_LENGTH: return "local length";
        case HCA_LOCAL_QP_OPERATION: return "local queue pair operation";
        case HCA_LOCAL_PROTECTION: return "local protection";
        case HCA_FLUSHED: return "flushed";
        case HCA_BAD_RESPONSE: return "bad response";
        case HCA_LOCAL_ACCESS: return "local access";
        case HCA_REMOTE_INVALID_REQUEST: return "remote invalid request";
        case HCA_REMOTE_ACCESS: return "remote access";
        case HCA_REMOTE_OPERATION: return "remote operation";
        case HCA_RETRIES_EXCEEDED: return "retries exceeded";
        case HCA_RNR_RETRIES_EXCEEDED: return "receiver not ready too often";
        default: return "unknown";
    }
}
