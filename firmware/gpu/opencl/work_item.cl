/* SPDX-License-Identifier: Apache-2.0 */
/* Work-item functions (OpenCL C 1.2, 6.12.1; 2.0, 6.13.1). Grids begin at 0. */
#include "base.h"

#define BY_DIMENSION(first, dimension, other) \
    ((dimension) == 0 ? CSR(first + 0) : (dimension) == 1 ? CSR(first + 1) : (dimension) == 2 ? CSR(first + 2) : (other))
#define LOCAL_ID(d) BY_DIMENSION(GPU_CSR_LOCAL_ID_X, d, 0)
#define GROUP_ID(d) BY_DIMENSION(GPU_CSR_GROUP_ID_X, d, 0)
#define GROUP_SIZE(d) BY_DIMENSION(GPU_CSR_GROUP_SIZE_X, d, 1)
#define GRID_SIZE(d) BY_DIMENSION(GPU_CSR_GRID_SIZE_X, d, 1)

OV size_t get_local_id(uint d) { return LOCAL_ID(d); }
OV size_t get_group_id(uint d) { return GROUP_ID(d); }
OV size_t get_global_size(uint d) { return GRID_SIZE(d); }
OV size_t get_enqueued_local_size(uint d) { return GROUP_SIZE(d); }
OV size_t get_global_offset(uint d) { return 0; }
OV size_t get_global_id(uint d) { return GROUP_ID(d) * GROUP_SIZE(d) + LOCAL_ID(d); }
OV size_t get_num_groups(uint d) { return (GRID_SIZE(d) + GROUP_SIZE(d) - 1) / GROUP_SIZE(d); }
OV uint get_work_dim(void) { return CSR(GPU_CSR_GRID_SIZE_X + 2) > 1 ? 3 : CSR(GPU_CSR_GRID_SIZE_X + 1) > 1 ? 2 : 1; }

/* The last group of a dimension may be smaller. */
OV size_t get_local_size(uint d) {
    const size_t size = GROUP_SIZE(d), rest = GRID_SIZE(d) - GROUP_ID(d) * size;
    return rest < size ? rest : size;
}
OV size_t get_global_linear_id(void) {
    return (get_global_id(2) * GRID_SIZE(1) + get_global_id(1)) * GRID_SIZE(0) + get_global_id(0);
}
OV size_t get_local_linear_id(void) {
    return (LOCAL_ID(2) * get_local_size(1) + LOCAL_ID(1)) * get_local_size(0) + LOCAL_ID(0);
}
