/* SPDX-License-Identifier: Apache-2.0 */
/* What neural networks are trained with: deterministic images, labels and first weights. */
#ifndef FABRICVP_PROGRAMS_APPS_TRAINING_H
#define FABRICVP_PROGRAMS_APPS_TRAINING_H

#include "gpu/kernels/fill.h"

enum { TRAINING_NOISE = 1 << 20, TRAINING_TEMPLATE = 1 << 24, TRAINING_LABEL = 1 << 28 };

static inline uint32_t training_label(uint64_t image, uint32_t classes) {
    return fill_below(hash64(TRAINING_LABEL + image), classes);
}
/* Each class has a picture of its own; to that comes noise. */
static inline float training_pixel(uint64_t element, uint64_t place, uint32_t label) {
    return fill_uniform(TRAINING_NOISE, element, 0.5f) +
           fill_uniform(TRAINING_TEMPLATE + ((uint64_t)label << 16), place, 0.5f);
}
/* Weights of layer `number` are uniform within ± √(6 ÷ inputs). */
static inline uint64_t training_seed(unsigned number) { return (uint64_t)(number + 1) << 32; }
static inline float training_root(float x) {
    float root;
    __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(x));
    return root;
}
static inline float training_scale(uint32_t inputs) { return training_root(6.0f / (float)inputs); }

#endif
