/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of training of three neural networks. Checked three ways: the loss after the last step is that of the host's
 * own forward pass; the last step lowers the loss by rate·|gradient|², to first order; and the losses stand on the
 * console, so that the training can be repeated elsewhere. */
#include "lib/console.h"
#include "programs/apps/neural_network.h"

enum { STEPS = 2 };

static void print_loss(unsigned step, float loss) {
    uint32_t bits;
    memcpy(&bits, &loss, 4);
    const unsigned millionths = (unsigned)(loss * 1e6f);
    console_printf("loss %u     %u.%06u 0x%08x\n", step, millionths / 1000000, millionths % 1000000, bits);
}

static bool steps(struct neural_network* n, float rate) {
    for (unsigned s = 0; s < STEPS; ++s)
        if (!neural_forward(n, s) || !neural_backward(n) || !neural_reduce(n) || !neural_update(n, rate)) return false;
    return neural_forward(n, STEPS) && (!n->next || app_join(n->app));
}

/* Adds all layers to a network for a batch of so many images. */
typedef void (*builder)(struct neural_network* n, struct app* app, uint32_t batch);

static struct neural_network* built(struct app* app, builder build) {
    static struct neural_network network[MAX_GPUS];
    const bool parallel = app_option(app, "data_parallel") == 1;
    const uint32_t copies = parallel ? app->node->count : 1, batch = (uint32_t)app->size / copies;
    for (unsigned i = 0; i < copies; ++i) {
        app->alone = parallel ? &app->queue[i] : NULL;
        build(&network[i], app, batch);
        if (i) neural_images(&network[i], i * batch);
        if (app_option(app, "split_k") == 1) neural_split(&network[i]);
    }
    neural_connect(network, copies);
    return network;
}

static bool train(struct app* app, builder build, float rate) {
    float loss[STEPS + 1];
    if (app_option(app, "data_parallel") == 1 && app->size % app->node->count) {
        console_printf("size=%lu: data_parallel=1 takes as many images on each of %u GPUs\n", app->size,
                       app->node->count);
        return false;
    }
    struct neural_network* n = built(app, build);
    console_printf("network    %u layers, %lu parameters, batch of %u\n", n->layers, n->used, (unsigned)app->size);
    app_measure_begin(app, NEURAL_KERNELS);
    const bool ran = steps(n, rate);
    app_measure_end(app);
    if (!ran) return false;
    if (!neural_copies_agree(n)) return app_mismatch(app, "copy of the parameters", 0);
    for (unsigned s = 0; s <= STEPS; ++s) print_loss(s, loss[s] = neural_loss(n, s));
    const double reference = neural_reference(n), difference = reference - (double)loss[STEPS];
    const double drop = (double)(loss[STEPS - 1] - loss[STEPS]) / ((double)rate * neural_squared_gradient(n));
    console_printf("drop       %u %% of rate times squared gradient\n", (unsigned)(drop * 100));
    if (!(difference < 1e-4 * reference && -difference < 1e-4 * reference)) return app_mismatch(n->app, "loss", STEPS);
    return (drop > 0.5 && drop < 1.5) || app_mismatch(n->app, "gradient", 0);
}

static void lenet(struct neural_network* n, struct app* app, uint32_t batch) {
    neural_begin(n, app, batch, NEURAL_LENET_ROOM, 1, 28, 10);
    unsigned t = neural_pool(n, neural_convolution(n, 0, 6, 5, 1, 2, true));
    t = neural_pool(n, neural_convolution(n, t, 16, 5, 1, 0, true));
    t = neural_convolution(n, t, 120, 5, 1, 0, true);
    neural_convolution(n, neural_convolution(n, t, 84, 1, 1, 0, true), 10, 1, 1, 0, false);
}

bool app_lenet(struct app* app) { return train(app, lenet, 0.003f); }

/* Part of a published number of channels. */
static uint32_t channels_of(struct app* app, uint32_t published) {
    return (uint32_t)(published * app_option(app, "width") + 0.5);
}

/* Both networks of that width have fewer parameters than this: it grows with the channels on both sides of a layer. */
static uint64_t room_of(struct app* app) {
    const double width = app_option(app, "width");
    return (uint64_t)(width * width * (1 << 25));
}

/* The sixteen layers of VGG-16 (configuration D), on images of 32×32. */
static void vgg16(struct neural_network* n, struct app* app, uint32_t batch) {
    static const uint16_t blocks[5][2] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}; /* layers, channels */
    neural_begin(n, app, batch, room_of(app), 3, 32, 20);
    unsigned t = 0;
    for (unsigned b = 0; b < 5; ++b) {
        for (unsigned i = 0; i < blocks[b][0]; ++i)
            t = neural_convolution(n, t, channels_of(app, blocks[b][1]), 3, 1, 1, true);
        t = neural_pool(n, t);
    }
    for (unsigned i = 0; i < 2; ++i) t = neural_convolution(n, t, channels_of(app, 512), 1, 1, 0, true);
    neural_convolution(n, t, 20, 1, 1, 0, false);
}

bool app_vgg16(struct app* app) { return train(app, vgg16, 0.0005f); }

/* The blocks of ResNet-18, behind a first layer for images of 32×32. */
static void resnet18(struct neural_network* n, struct app* app, uint32_t batch) {
    neural_begin(n, app, batch, room_of(app), 3, 32, 20);
    unsigned t = neural_norm(n, neural_convolution(n, 0, channels_of(app, 64), 3, 1, 1, false), true);
    for (unsigned stage = 0; stage < 4; ++stage)
        for (unsigned block = 0; block < 2; ++block) {
            const uint32_t channels = channels_of(app, 64u << stage), stride = stage && !block ? 2 : 1;
            unsigned direct = t;
            t = neural_norm(n, neural_convolution(n, t, channels, 3, stride, 1, false), true);
            t = neural_norm(n, neural_convolution(n, t, channels, 3, 1, 1, false), false);
            if (stride == 2) direct = neural_norm(n, neural_convolution(n, direct, channels, 1, 2, 0, false), false);
            t = neural_add(n, t, direct);
        }
    neural_convolution(n, neural_average(n, t), 20, 1, 1, 0, false);
}

bool app_resnet18(struct app* app) { return train(app, resnet18, 0.001f); }
