/* SPDX-License-Identifier: Apache-2.0 */
/* Neural networks that are trained on GPUs: layers are added in order, then steps of training run forward, backward and
 * update. */
#ifndef FABRICVP_PROGRAMS_APPS_NEURAL_NETWORK_H
#define FABRICVP_PROGRAMS_APPS_NEURAL_NETWORK_H

#include "programs/apps/app.h"

/* All kernels that training runs. */
#define NEURAL_KERNELS                                                                                             \
    "im2col", "gemm", "gemm_split", "split_sum", "bias_relu", "norm", "add", "max_pool", "average", "softmax",     \
        "relu_backward", "channel_sum", "col2im", "norm_backward", "max_pool_backward", "average_backward", "sgd", \
        "ring_reduce"

enum { NEURAL_STEPS = 8, NEURAL_TENSORS = 80, NEURAL_LAYERS = 80, NEURAL_LENET_ROOM = 1 << 19 };

struct tensor { /* [channels][batch][height][width] */
    uint32_t channels, height, width;
    gpu_address data, gradient;
    bool has_gradient; /* of this step */
    float* host;       /* what the reference computes */
};

enum layer_kind { LAYER_CONVOLUTION, LAYER_NORM, LAYER_POOL, LAYER_AVERAGE, LAYER_ADD };
struct layer {
    enum layer_kind kind;
    unsigned in, other, out; /* tensors */
    uint32_t kernel, stride, pad;
    bool relu;
    uint64_t weight, bias;                /* where its parameters are; γ and β of a norm */
    gpu_address columns, column_gradient; /* convolution: unfolded input; norm: x̂ and 1/σ */
};

struct neural_network {
    struct app* app;
    struct gpu_queue_handle* alone; /* as of the application, when it was begun */
    struct neural_network* next;    /* a copy on the next GPU, which is trained in step with this one */
    gpu_address ring;               /* where gradients of the GPU before arrive; 0: there are no copies */
    gpu_address partial;            /* where products that are split along their depth lie */
    bool split;                     /* few tiles: so that they occupy all compute units */
    uint32_t batch, classes;
    struct tensor tensor[NEURAL_TENSORS];
    struct layer layer[NEURAL_LAYERS];
    unsigned tensors, layers;
    gpu_address parameters, gradients, zeros, labels, losses;
    uint64_t used, room; /* parameters */
    uint32_t* label;     /* in host memory */
};

/* \param room for parameters; those of LeNet-5 fit NEURAL_LENET_ROOM */
void neural_begin(struct neural_network* n, struct app* app, uint32_t batch, uint64_t room, uint32_t channels,
                  uint32_t side, uint32_t classes);
/* Other images than the first ones. */
void neural_images(struct neural_network* n, uint32_t first);
/* Products whose tiles are fewer than there are compute units are split along their depth from now on. */
void neural_split(struct neural_network* n);
/* These return the tensor that the layer makes; tensor 0 is the input. A fully connected layer is a convolution whose
 * kernel covers its input. */
unsigned neural_convolution(struct neural_network* n, unsigned in, uint32_t channels, uint32_t kernel, uint32_t stride,
                            uint32_t pad, bool relu);
unsigned neural_norm(struct neural_network* n, unsigned in, bool relu);
unsigned neural_pool(struct neural_network* n, unsigned in);
unsigned neural_average(struct neural_network* n, unsigned in);
unsigned neural_add(struct neural_network* n, unsigned a, unsigned b);

/* All copies; a loss is the mean of theirs, and a gradient that of the mean.
 * \returns false if a kernel faulted */
bool neural_forward(struct neural_network* n, unsigned step);
bool neural_backward(struct neural_network* n);
bool neural_update(struct neural_network* n, float rate);
float neural_loss(struct neural_network* n, unsigned step); /* of a forward pass */
double neural_squared_gradient(struct neural_network* n);
/* Networks that were made alike, each `alone` on a GPU, become copies that are trained in step (data_parallel.c). */
void neural_connect(struct neural_network* copies, unsigned count);
/* Gradients of all copies become their mean, and the same on each GPU: layer by layer, in blocks around the ring. */
bool neural_reduce(struct neural_network* n);
/* Whether all copies have the same parameters, bit for bit. */
bool neural_copies_agree(struct neural_network* n);

/* The loss as the host computes it, layer by layer without unfolding, from the parameters on the device. */
double neural_reference(struct neural_network* n);

#endif
