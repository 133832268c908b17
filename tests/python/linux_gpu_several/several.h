/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of one program know of each other. */
#ifndef SEVERAL_H
#define SEVERAL_H

#ifdef __cplusplus
int scale(int* numbers, int count, int factor);
int shift(int* numbers, int count);
int scaled_blocks();
extern "C"
#endif
    int
    count_devices(void);

#endif
