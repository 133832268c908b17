/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/apps/neural_network.h"

#include "gpu/kernels/dense.h"
#include "gpu/kernels/neural_network.h"
#include "lib/machine.h"
#include "programs/apps/training.h"

enum { TILE = 16, PARTIAL_FLOATS = 256 /* of a work-group */ };

static uint32_t plane(const struct tensor* t) { return t->height * t->width; }
static uint32_t positions(const struct neural_network* n, const struct tensor* t) { return n->batch * plane(t); }
static uint64_t elements(const struct neural_network* n, const struct tensor* t) {
    return (uint64_t)t->channels * positions(n, t);
}

static unsigned add_tensor(struct neural_network* n, uint32_t channels, uint32_t height, uint32_t width) {
    if (n->tensors == NEURAL_TENSORS) panic("too many tensors");
    struct tensor* t = &n->tensor[n->tensors];
    *t = (struct tensor){.channels = channels, .height = height, .width = width};
    t->data = app_buffer(n->app, elements(n, t) * 4);
    t->gradient = app_buffer(n->app, elements(n, t) * 4);
    return n->tensors++;
}

static struct layer* add_layer(struct neural_network* n, enum layer_kind kind, unsigned in) {
    if (n->layers == NEURAL_LAYERS) panic("too many layers");
    struct layer* l = &n->layer[n->layers++];
    *l = (struct layer){.kind = kind, .in = in};
    return l;
}

/* Parameters follow each other, each at a multiple of 64 bytes. */
static uint64_t add_parameters(struct neural_network* n, uint64_t count) {
    const uint64_t at = n->used;
    n->used = (at + count + 15) & ~15ull;
    if (n->used > n->room) panic("too many parameters");
    return at;
}

void neural_begin(struct neural_network* n, struct app* app, uint32_t batch, uint64_t room, uint32_t channels,
                  uint32_t side, uint32_t classes) {
    *n = (struct neural_network){.app = app, .alone = app->alone, .batch = batch, .classes = classes, .room = room};
    n->parameters = app_buffer(app, room * 4);
    n->gradients = app_buffer(app, room * 4);
    n->zeros = app_buffer(app, GPU_PAGE);
    n->labels = app_buffer(app, batch * 4);
    n->losses = app_buffer(app, NEURAL_STEPS * batch * 4);
    app_fill(app, n->gradients, room, FILL_CONSTANT, 0, 0, 0);
    app_fill(app, n->zeros, GPU_PAGE / 4, FILL_CONSTANT, 0, 0, 0);
    add_tensor(n, channels, side, side);
    n->label = app_host(app, batch * 4);
    neural_images(n, 0);
}

void neural_images(struct neural_network* n, uint32_t first) {
    const struct tensor* t = &n->tensor[0];
    const uint64_t count = elements(n, t), before = (uint64_t)first * t->channels * plane(t);
    float* image = app_host(n->app, count * 4);
    for (uint32_t b = 0; b < n->batch; ++b) n->label[b] = training_label(first + b, n->classes);
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t pixel = i % plane(t), b = i / plane(t) % n->batch, channel = i / plane(t) / n->batch;
        image[i] = training_pixel(before + i, channel * plane(t) + pixel, n->label[b]);
    }
    app_upload(n->app, t->data, image, count * 4);
    app_upload(n->app, n->labels, n->label, n->batch * 4);
}

unsigned neural_convolution(struct neural_network* n, unsigned in, uint32_t channels, uint32_t kernel, uint32_t stride,
                            uint32_t pad, bool relu) {
    const struct tensor* from = &n->tensor[in];
    const uint32_t height = (from->height + 2 * pad - kernel) / stride + 1,
                   width = (from->width + 2 * pad - kernel) / stride + 1;
    const uint32_t taps = from->channels * kernel * kernel;
    const unsigned number = n->layers;
    struct layer* l = add_layer(n, LAYER_CONVOLUTION, in);
    l->kernel = kernel, l->stride = stride, l->pad = pad, l->relu = relu;
    l->out = add_tensor(n, channels, height, width);
    l->weight = add_parameters(n, (uint64_t)channels * taps);
    l->bias = add_parameters(n, channels);
    l->columns = app_buffer(n->app, (uint64_t)taps * n->batch * height * width * 4);
    l->column_gradient = app_buffer(n->app, (uint64_t)taps * n->batch * height * width * 4);
    app_fill(n->app, n->parameters + 4 * l->weight, (uint64_t)channels * taps, FILL_UNIFORM, training_seed(number), 0,
             training_scale(taps));
    app_fill(n->app, n->parameters + 4 * l->bias, channels, FILL_CONSTANT, 0, 0, 0);
    return l->out;
}

unsigned neural_norm(struct neural_network* n, unsigned in, bool relu) {
    const struct tensor* t = &n->tensor[in];
    const uint32_t one = 0x3f800000; /* 1.0 */
    struct layer* l = add_layer(n, LAYER_NORM, in);
    l->relu = relu;
    l->out = add_tensor(n, t->channels, t->height, t->width);
    l->weight = add_parameters(n, t->channels);
    l->bias = add_parameters(n, t->channels);
    l->columns = app_buffer(n->app, elements(n, t) * 4);
    l->column_gradient = app_buffer(n->app, t->channels * 4);
    app_fill(n->app, n->parameters + 4 * l->weight, t->channels, FILL_CONSTANT, one, 0, 0);
    app_fill(n->app, n->parameters + 4 * l->bias, t->channels, FILL_CONSTANT, 0, 0, 0);
    return l->out;
}

unsigned neural_pool(struct neural_network* n, unsigned in) {
    const struct tensor* t = &n->tensor[in];
    return add_layer(n, LAYER_POOL, in)->out = add_tensor(n, t->channels, t->height / 2, t->width / 2);
}

unsigned neural_average(struct neural_network* n, unsigned in) {
    return add_layer(n, LAYER_AVERAGE, in)->out = add_tensor(n, n->tensor[in].channels, 1, 1);
}

unsigned neural_add(struct neural_network* n, unsigned a, unsigned b) {
    const struct tensor* t = &n->tensor[a];
    struct layer* l = add_layer(n, LAYER_ADD, a);
    l->other = b;
    l->relu = true;
    return l->out = add_tensor(n, t->channels, t->height, t->width);
}

/* ---- kernels ---- */

static bool run(struct neural_network* n, const char* kernel, uint64_t items, const void* arguments, uint32_t bytes) {
    return app_run_1d(n->app, app_kernel(n->app, kernel), items, 256, arguments, bytes);
}

/* Work-groups that run at the same time if each compute unit has one. */
static uint32_t compute_units(const struct neural_network* n) {
    if (n->alone) return n->alone->gpu->compute_units;
    uint32_t sum = 0;
    for (unsigned g = 0; g < n->app->node->count; ++g) sum += n->app->queue[g].gpu->compute_units;
    return sum;
}

void neural_split(struct neural_network* n) {
    n->split = true;
    n->partial = app_buffer(n->app, 4ull * PARTIAL_FLOATS * compute_units(n));
}

static bool gemm(struct neural_network* n, gpu_address a, gpu_address b, gpu_address c, uint32_t rows, uint32_t columns,
                 uint32_t depth, uint32_t transpose) {
    const struct gemm_arguments whole = {a, b, c, rows, columns, depth, transpose};
    struct gpu_grid grid = {
        .items = {(columns + 15) & ~15u, (rows + 15) & ~15u, 1}, .group = {TILE, TILE, 1}, .binding = GPU_BIND_ROWS};
    const uint32_t tiles = grid.items[0] / TILE * (grid.items[1] / TILE), steps = (depth + TILE - 1) / TILE;
    uint32_t slices = n->split ? compute_units(n) / tiles : 1;
    if (slices > steps) slices = steps;
    if (slices < 2) return app_run(n->app, app_kernel(n->app, "gemm"), &grid, &whole, sizeof whole);
    struct gemm_split_arguments part = {whole, (steps + slices - 1) / slices * TILE};
    slices = (depth + part.slice - 1) / part.slice; /* none is empty */
    part.whole.c = n->partial;
    grid.items[2] = slices;
    grid.binding = GPU_BIND_KERNEL;
    const struct split_sum_arguments sum = {n->partial, c, (uint64_t)rows * columns, slices};
    return app_run(n->app, app_kernel(n->app, "gemm_split"), &grid, &part, sizeof part) &&
           run(n, "split_sum", sum.elements, &sum, sizeof sum);
}

static bool relu_back(struct neural_network* n, const struct tensor* out) {
    const struct channel_arguments a = {out->gradient, out->data, elements(n, out), positions(n, out), 0};
    return run(n, "relu_backward", elements(n, out), &a, sizeof a);
}

static bool convolution(struct neural_network* n, const struct layer* l, const struct tensor* in,
                        const struct tensor* out) {
    const uint32_t taps = in->channels * l->kernel * l->kernel, across = positions(n, out);
    const struct im2col_arguments u = {in->data,  l->columns, in->channels, n->batch,    in->height, in->width,
                                       l->kernel, l->stride,  l->pad,       out->height, out->width};
    const struct gpu_grid grid = {.items = {across, taps, 1}, .group = {256, 1, 1}, .binding = GPU_BIND_COLUMNS};
    const struct channel_arguments b = {out->data, n->parameters + 4 * l->bias, elements(n, out), across, l->relu};
    return app_run(n->app, app_kernel(n->app, "im2col"), &grid, &u, sizeof u) &&
           gemm(n, n->parameters + 4 * l->weight, l->columns, out->data, out->channels, across, taps, 0) &&
           run(n, "bias_relu", elements(n, out), &b, sizeof b);
}

static bool convolution_back(struct neural_network* n, const struct layer* l, struct tensor* in,
                             const struct tensor* out) {
    const uint32_t taps = in->channels * l->kernel * l->kernel, across = positions(n, out);
    const struct channel_sum_arguments s = {out->gradient, n->gradients + 4 * l->bias, across};
    if (l->relu && !relu_back(n, out)) return false;
    if (!run(n, "channel_sum", out->channels * 256ull, &s, sizeof s) ||
        !gemm(n, out->gradient, l->columns, n->gradients + 4 * l->weight, out->channels, taps, across,
              GEMM_TRANSPOSE_B))
        return false;
    if (l->in == 0) return true; /* the images need no gradient */
    const struct col2im_arguments c = {l->column_gradient, in->gradient,    in->channels, n->batch, in->height,
                                       in->width,          l->kernel,       l->stride,    l->pad,   out->height,
                                       out->width,         in->has_gradient};
    in->has_gradient = true;
    return gemm(n, n->parameters + 4 * l->weight, out->gradient, l->column_gradient, taps, across, out->channels,
                GEMM_TRANSPOSE_A) &&
           run(n, "col2im", elements(n, in), &c, sizeof c);
}

static bool norm(struct neural_network* n, const struct layer* l, struct tensor* in, const struct tensor* out,
                 bool back) {
    const struct norm_arguments a = {in->data,
                                     back ? in->gradient : out->data,
                                     l->columns,
                                     l->column_gradient,
                                     n->parameters + 4 * l->weight,
                                     n->parameters + 4 * l->bias,
                                     out->gradient,
                                     n->gradients + 4 * l->weight,
                                     n->gradients + 4 * l->bias,
                                     positions(n, in),
                                     in->has_gradient};
    if (back) {
        in->has_gradient = true;
        return (!l->relu || relu_back(n, out)) && run(n, "norm_backward", in->channels * 256ull, &a, sizeof a);
    }
    const struct channel_arguments b = {out->data, n->zeros, elements(n, out), positions(n, out), 1};
    return run(n, "norm", in->channels * 256ull, &a, sizeof a) &&
           (!l->relu || run(n, "bias_relu", elements(n, out), &b, sizeof b));
}

static bool pass_gradient(struct neural_network* n, struct tensor* to, const struct tensor* from) {
    const struct add_arguments a = {from->gradient, to->has_gradient ? to->gradient : 0, to->gradient, elements(n, to),
                                    0};
    to->has_gradient = true;
    return run(n, "add", elements(n, to), &a, sizeof a);
}

static bool layer_forward(struct neural_network* n, const struct layer* l) {
    struct tensor *in = &n->tensor[l->in], *out = &n->tensor[l->out];
    const uint32_t planes = in->channels * n->batch;
    const struct pool_arguments p = {in->data, out->data, in->gradient, out->gradient, planes, in->height, in->width};
    const struct average_arguments m = {in->data, out->data, planes, plane(in)};
    const struct add_arguments a = {in->data, n->tensor[l->other].data, out->data, elements(n, out), l->relu};
    switch (l->kind) {
        case LAYER_CONVOLUTION: return convolution(n, l, in, out);
        case LAYER_NORM: return norm(n, l, in, out, false);
        case LAYER_POOL: return run(n, "max_pool", elements(n, out), &p, sizeof p);
        case LAYER_AVERAGE: return run(n, "average", planes, &m, sizeof m);
        default: return run(n, "add", elements(n, out), &a, sizeof a);
    }
}

static bool layer_backward(struct neural_network* n, const struct layer* l) {
    struct tensor *in = &n->tensor[l->in], *out = &n->tensor[l->out];
    const uint32_t planes = in->channels * n->batch;
    const struct pool_arguments p = {in->data, out->data, in->gradient, out->gradient, planes, in->height, in->width};
    const struct average_arguments m = {in->gradient, out->gradient, planes, plane(in)};
    switch (l->kind) {
        case LAYER_CONVOLUTION: return convolution_back(n, l, in, out);
        case LAYER_NORM: return norm(n, l, in, out, true);
        case LAYER_POOL: in->has_gradient = true; return run(n, "max_pool_backward", elements(n, in), &p, sizeof p);
        case LAYER_AVERAGE: in->has_gradient = true; return run(n, "average_backward", elements(n, in), &m, sizeof m);
        default: return relu_back(n, out) && pass_gradient(n, in, out) && pass_gradient(n, &n->tensor[l->other], out);
    }
}

/* What is asked for from here on is for this copy. */
static void choose(struct neural_network* copy) { copy->app->alone = copy->alone; }

/* Copies are queued layer by layer in turn, so that no GPU waits for what is queued for another. */
bool neural_forward(struct neural_network* n, unsigned step) {
    for (unsigned i = 0; i < n->layers; ++i)
        for (struct neural_network* copy = n; copy; copy = copy->next) {
            choose(copy);
            if (!layer_forward(copy, &copy->layer[i])) return false;
        }
    for (struct neural_network* copy = n; copy; copy = copy->next) {
        struct tensor* last = &copy->tensor[n->tensors - 1];
        const struct softmax_arguments s = {
            last->data, copy->labels, last->gradient, copy->losses + 4ull * step * n->batch, n->classes, n->batch};
        choose(copy);
        if (!app_run_1d(n->app, app_kernel(n->app, "softmax"), n->batch, 64, &s, sizeof s)) return false;
    }
    return true;
}

float neural_loss(struct neural_network* n, unsigned step) {
    float* each = app_host(n->app, n->batch * 4);
    double sum = 0;
    unsigned images = 0;
    for (struct neural_network* copy = n; copy; copy = copy->next, images += n->batch) {
        app_download(n->app, each, copy->losses + 4ull * step * n->batch, n->batch * 4);
        for (uint32_t b = 0; b < n->batch; ++b) sum += (double)each[b];
    }
    return (float)(sum / images);
}

double neural_squared_gradient(struct neural_network* n) {
    float* g = app_host(n->app, n->used * 4);
    app_download(n->app, g, n->gradients, n->used * 4);
    double sum = 0;
    for (uint64_t i = 0; i < n->used; ++i) sum += (double)g[i] * (double)g[i];
    return sum;
}

bool neural_backward(struct neural_network* n) {
    for (struct neural_network* copy = n; copy; copy = copy->next)
        for (unsigned t = 0; t < n->tensors; ++t) copy->tensor[t].has_gradient = false;
    for (unsigned i = n->layers; i-- > 0;)
        for (struct neural_network* copy = n; copy; copy = copy->next) {
            choose(copy);
            if (!layer_backward(copy, &copy->layer[i])) return false;
        }
    return true;
}

bool neural_update(struct neural_network* n, float rate) {
    for (struct neural_network* copy = n; copy; copy = copy->next) {
        const struct sgd_arguments a = {copy->parameters, copy->gradients, n->used, rate};
        choose(copy);
        if (!run(copy, "sgd", n->used, &a, sizeof a)) return false;
    }
    return true;
}
