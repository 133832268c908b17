/* SPDX-License-Identifier: Apache-2.0 */
/* The forward pass on the host, from its definition: convolutions are summed in place, not unfolded and multiplied. */
#include "gpu/kernels/neural_network.h"
#include "programs/apps/neural_network.h"
#include "programs/apps/training.h"

struct view {
    const struct neural_network* n;
    const float* parameters;
};

static uint64_t at(const struct neural_network* n, const struct tensor* t, uint32_t channel, uint32_t b, uint32_t y,
                   uint32_t x) {
    return (((uint64_t)channel * n->batch + b) * t->height + y) * t->width + x;
}

/* A tap after the other over whole rows, which keeps the innermost loop short. */
static void convolve(const struct view* v, const struct layer* l, const struct tensor* in, const struct tensor* out,
                     uint32_t channel, uint32_t b) {
    float* to = out->host + at(v->n, out, channel, b, 0, 0);
    const float* weight = v->parameters + l->weight + (uint64_t)channel * in->channels * l->kernel * l->kernel;
    const uint32_t size = out->height * out->width;
    for (uint32_t i = 0; i < size; ++i) to[i] = v->parameters[l->bias + channel];
    for (uint32_t c = 0; c < in->channels; ++c)
        for (uint32_t ky = 0; ky < l->kernel; ++ky)
            for (uint32_t kx = 0; kx < l->kernel; ++kx) {
                const float w = *weight++;
                for (uint32_t y = 0; y < out->height; ++y) {
                    const int32_t row = (int32_t)(y * l->stride + ky) - (int32_t)l->pad;
                    if (row < 0 || row >= (int32_t)in->height) continue;
                    const float* from = in->host + at(v->n, in, c, b, (uint32_t)row, 0);
                    for (uint32_t x = 0; x < out->width; ++x) {
                        const int32_t column = (int32_t)(x * l->stride + kx) - (int32_t)l->pad;
                        if (column >= 0 && column < (int32_t)in->width) to[y * out->width + x] += w * from[column];
                    }
                }
            }
    if (l->relu)
        for (uint32_t i = 0; i < size; ++i)
            if (to[i] < 0) to[i] = 0;
}

static void normalise(const struct view* v, const struct layer* l, const struct tensor* in, const struct tensor* out,
                      uint32_t channel) {
    const uint64_t count = (uint64_t)v->n->batch * in->height * in->width;
    const float* from = in->host + channel * count;
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < count; ++i) {
        sum += (double)from[i];
        squares += (double)from[i] * (double)from[i];
    }
    const double mean = sum / (double)count, variance = squares / (double)count - mean * mean;
    const double factor = (double)(v->parameters[l->weight + channel] / training_root((float)variance + NORM_EPSILON));
    for (uint64_t i = 0; i < count; ++i) {
        const float x = (float)(((double)from[i] - mean) * factor) + v->parameters[l->bias + channel];
        out->host[channel * count + i] = l->relu && x < 0 ? 0 : x;
    }
}

static void forward(const struct view* v, const struct layer* l) {
    const struct tensor *in = &v->n->tensor[l->in], *other = &v->n->tensor[l->other], *out = &v->n->tensor[l->out];
    const uint32_t area = in->height * in->width;
    for (uint32_t c = 0; c < out->channels; ++c) {
        if (l->kind == LAYER_NORM) {
            normalise(v, l, in, out, c);
            continue;
        }
        for (uint32_t b = 0; b < v->n->batch; ++b) {
            if (l->kind == LAYER_CONVOLUTION) {
                convolve(v, l, in, out, c, b);
                continue;
            }
            const float* from = in->host + at(v->n, in, c, b, 0, 0);
            float* to = out->host + at(v->n, out, c, b, 0, 0);
            if (l->kind == LAYER_POOL) {
                for (uint32_t i = 0; i < area; ++i) {
                    float* place = &to[i / in->width / 2 * out->width + i % in->width / 2];
                    if ((i / in->width % 2 == 0 && i % 2 == 0) || from[i] > *place) *place = from[i];
                }
            } else if (l->kind == LAYER_AVERAGE) {
                double sum = 0;
                for (uint32_t i = 0; i < area; ++i) sum += (double)from[i];
                *to = (float)(sum / area);
            } else {
                const float* more = other->host + at(v->n, other, c, b, 0, 0);
                for (uint32_t i = 0; i < area; ++i) to[i] = from[i] + more[i] > 0 ? from[i] + more[i] : 0;
            }
        }
    }
}

/* eˣ by repeated squaring of a short series; ln by Newton's method on it. */
static double power_of_e(double x) {
    double sum = 1, term = 1;
    x /= 1024;
    for (unsigned i = 1; i < 8; ++i) sum += term *= x / i;
    for (unsigned i = 0; i < 10; ++i) sum *= sum;
    return sum;
}
static double natural_logarithm(double x) {
    double y = 0;
    for (unsigned i = 0; i < 60; ++i) y += 2 * (x - power_of_e(y)) / (x + power_of_e(y));
    return y;
}

static double loss_of(struct neural_network* n) {
    float* parameters = app_host(n->app, n->used * 4);
    app_download(n->app, parameters, n->parameters, n->used * 4);
    for (unsigned t = 0; t < n->tensors; ++t) {
        struct tensor* x = &n->tensor[t];
        const uint64_t bytes = 4ull * x->channels * n->batch * x->height * x->width;
        x->host = app_host(n->app, bytes);
        if (t == 0) app_download(n->app, x->host, x->data, bytes);
    }
    const struct view v = {n, parameters};
    for (unsigned i = 0; i < n->layers; ++i) forward(&v, &n->layer[i]);
    const float* logits = n->tensor[n->tensors - 1].host;
    double loss = 0;
    for (uint32_t b = 0; b < n->batch; ++b) {
        double max_logit = (double)logits[b], sum = 0;
        for (uint32_t c = 0; c < n->classes; ++c)
            if ((double)logits[c * n->batch + b] > max_logit) max_logit = (double)logits[c * n->batch + b];
        for (uint32_t c = 0; c < n->classes; ++c) sum += power_of_e((double)logits[c * n->batch + b] - max_logit);
        loss += natural_logarithm(sum) - ((double)logits[n->label[b] * n->batch + b] - max_logit);
    }
    return loss / n->batch;
}

double neural_reference(struct neural_network* n) {
    double sum = 0;
    unsigned copies = 0;
    for (struct neural_network* copy = n; copy; copy = copy->next, ++copies) sum += loss_of(copy);
    return sum / copies;
}
