/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "neural_network.h"

/* e^x for x ≤ 0: powers of two times a series on half of ln 2. */
GPU_INLINE double exponential(double x) {
    if (x < -700) return 0;
    const double exponent = (double)(int64_t)(x * 1.4426950408889634 - 0.5),
                 residual = x - exponent * 0.6931471805599453;
    double sum = 1, term = 1;
    for (unsigned i = 1; i < 14; ++i) {
        term *= residual / i;
        sum += term;
    }
    const uint64_t bits = (uint64_t)((int64_t)exponent + 1023) << 52;
    double power;
    __builtin_memcpy(&power, &bits, 8);
    return sum * power;
}

/* ln x for x ≥ 1: the exponent, and the series of the area tangent. */
GPU_INLINE double logarithm(double x) {
    uint64_t bits;
    __builtin_memcpy(&bits, &x, 8);
    const int64_t exponent = (int64_t)(bits >> 52) - 1023;
    bits = (bits & ((1ull << 52) - 1)) | 1023ull << 52;
    __builtin_memcpy(&x, &bits, 8);
    const double z = (x - 1) / (x + 1), square = z * z;
    double sum = 0, power = z;
    for (unsigned i = 1; i < 40; i += 2) {
        sum += power / i;
        power *= square;
    }
    return 2 * sum + (double)exponent * 0.6931471805599453;
}

KERNEL(softmax, struct softmax_arguments) {
    const size_t sample = global_id(0), batch = args->batch;
    if (sample >= batch) return;
    const float* logits = args->logits + sample;
    double max_logit = logits[0], sum = 0;
    for (uint32_t c = 1; c < args->classes; ++c)
        if (logits[c * batch] > max_logit) max_logit = logits[c * batch];
    for (uint32_t c = 0; c < args->classes; ++c) sum += exponential(logits[c * batch] - max_logit);
    const uint32_t label = args->label[sample];
    for (uint32_t c = 0; c < args->classes; ++c) {
        const double probability = exponential(logits[c * batch] - max_logit) / sum;
        args->gradient[c * batch + sample] = (float)((probability - (c == label)) / (double)batch);
    }
    args->loss[sample] = (float)(logarithm(sum) - (logits[label * batch] - max_logit));
}
