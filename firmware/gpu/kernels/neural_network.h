/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the kernels that train neural networks. Tensors are of floats, [channels][batch·height·width]. Plain
 * C99. */
#ifndef FABRICVP_GPU_KERNELS_NEURAL_NETWORK_H
#define FABRICVP_GPU_KERNELS_NEURAL_NETWORK_H

#include "gpu/kernels/arguments.h"

enum { GEMM_TRANSPOSE_A = 1, GEMM_TRANSPOSE_B = 2 };
struct gemm_arguments {     /* c = op(a)·op(b), m×n, by rows; tiles of 16×16 through LDS */
    POINTER(const float) a; /* m×k, or k×m if transposed */
    POINTER(const float) b; /* k×n, or n×k */
    POINTER(float) c;
    uint32_t m, n, k, transpose;
};

/* The same, over parts of k that give a matrix each: `whole.c` has one behind the other, which split_sum adds up. */
struct gemm_split_arguments {
    struct gemm_arguments whole;
    uint32_t slice; /* of k, a multiple of 16 */
};
struct split_sum_arguments { /* a lane an element */
    POINTER(const float) from;
    POINTER(float) to;
    uint64_t elements;
    uint32_t slices;
};

struct ring_reduce_arguments { /* to = from, or (to + from)·scale */
    POINTER(const float) from;
    POINTER(float) to;
    uint64_t elements;
    float scale; /* 0: copies */
};

struct col2im_arguments { /* a lane a pixel: gathers what im2col scattered; `accumulate` adds to what is there */
    POINTER(const float) columns;
    POINTER(float) image;
    uint32_t channels, batch, height, width;
    uint32_t kernel, stride, pad, out_height, out_width, accumulate;
};

struct channel_arguments {      /* bias_relu, relu_backward: a lane an element */
    POINTER(float) x;           /* in place: x = max(0, x + bias[channel]); or gradient, kept where `other` > 0 */
    POINTER(const float) other; /* bias, output */
    uint64_t elements;
    uint32_t positions, relu; /* of a channel; 0: no max */
};

struct channel_sum_arguments { /* a work-group of 256 a channel: gradient of the bias */
    POINTER(const float) from;
    POINTER(float) to;
    uint32_t positions;
};

struct pool_arguments { /* maxima of 2×2; a lane an output, backward a lane an input */
    POINTER(const float) in;
    POINTER(float) out;
    POINTER(float) in_gradient;
    POINTER(const float) out_gradient;
    uint32_t planes, height, width; /* of the input; planes = channels·batch */
};

struct average_arguments { /* of a plane; backward spreads the gradient */
    POINTER(float) planes_data;
    POINTER(float) averages;
    uint32_t planes, size;
};

struct add_arguments { /* to = a + b, not below 0 if `relu`; without b: to = a */
    POINTER(const float) a;
    POINTER(const float) b;
    POINTER(float) to;
    uint64_t elements;
    uint32_t relu;
};

struct softmax_arguments {       /* a lane a sample: loss and the gradient of its mean */
    POINTER(const float) logits; /* [classes][batch] */
    POINTER(const uint32_t) label;
    POINTER(float) gradient;
    POINTER(float) loss; /* a sample */
    uint32_t classes, batch;
};

struct sgd_arguments { /* w -= rate·gradient */
    POINTER(float) weight;
    POINTER(const float) gradient;
    uint64_t elements;
    float rate;
};

#define NORM_EPSILON 1e-5f
struct norm_arguments { /* batch normalisation, a work-group of 256 a channel, in place of out; keeps 1/σ and x̂ */
    POINTER(const float) in;
    POINTER(float) out;    /* γ·x̂ + β; backward: the gradient of `in` */
    POINTER(float) normal; /* x̂ */
    POINTER(float) scale;  /* 1/σ */
    POINTER(const float) gamma;
    POINTER(const float) beta;
    POINTER(const float) out_gradient;
    POINTER(float) gamma_gradient;
    POINTER(float) beta_gradient;
    uint32_t positions, accumulate;
};

#endif
