/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's run-time as a driver for loaders (libOpenCL.so.1), by cl_khr_icd. */
#ifndef FABRICVP_LINUX_ICD_ICD_H
#define FABRICVP_LINUX_ICD_ICD_H

typedef void icd_call(void);
extern icd_call* const icd_dispatch[];

#endif
