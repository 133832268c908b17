/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/console.h"
#include "programs/apps/neural_network.h"
#include "programs/cluster/iteration.h"

/* A step lowers the sum of both nodes' losses by RATE · |sum of their gradients|², to first order. */
#define RATE 0.01f

static struct neural_network network;

/* One hidden layer between images of 28×28 and ten classes, as in CNTK's MNIST example, whose layer has 200 neurons. */
void train_start(struct iteration* t) {
    static const char* const kernels[] = {
        "im2col",      "gemm",   "bias_relu", "softmax",     "relu_backward",
        "channel_sum", "col2im", "sgd",       "network_copy"}; /* loaded before time counts */
    const uint32_t batch = (uint32_t)t->o->rows;
    neural_begin(&network, &t->app, batch, NEURAL_LENET_ROOM, 1, 28, 10);
    neural_images(&network, t->rank * batch);
    neural_convolution(&network, neural_convolution(&network, 0, (uint32_t)t->o->columns, 28, 1, 0, true), 10, 1, 1, 0,
                       false);
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; ++i) app_kernel(&t->app, kernels[i]);
    t->data[0] = t->data[1] = network.gradients;
    t->bytes = 4 * network.used;
    t->groups = 32;
    t->adds = true;
}

bool train_compute(uint64_t step) { return neural_forward(&network, (unsigned)step) && neural_backward(&network); }
bool train_update(void) { return neural_update(&network, RATE); }

static uint64_t digest_of_parameters(void) {
    uint32_t* words = app_host(network.app, 4 * network.used);
    uint64_t digest = 0;
    app_download(network.app, words, network.parameters, 4 * network.used);
    for (uint64_t i = 0; i < network.used; ++i) digest = (digest ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + i;
    return digest;
}

bool train_is_correct(struct iteration* t) {
    const unsigned last = (unsigned)t->o->steps;
    if (!neural_forward(&network, last)) return false;
    const double reference = neural_reference(&network);
    struct known {
        uint64_t digest;
        double loss[2];
    } local = {digest_of_parameters(), {(double)neural_loss(&network, last - 1), (double)neural_loss(&network, last)}},
      remote;
    bootstrap_exchange(t->backend.bootstrap, t->rank ^ 1, &local, &remote, sizeof local);
    const double difference = reference - local.loss[1],
                 fell = local.loss[0] + remote.loss[0] - local.loss[1] - remote.loss[1];
    const double drop = fell / ((double)RATE * neural_squared_gradient(&network));
    console_printf("drop       %u %% of rate times squared gradient\n", (unsigned)(drop * 100));
    const bool close = difference < 1e-4 * reference && -difference < 1e-4 * reference;
    if (!close) console_printf("the host finds another loss\n");
    if (local.digest != remote.digest) console_printf("the nodes have different parameters\n");
    return close && local.digest == remote.digest && drop > 0.5 && drop < 1.5;
}
