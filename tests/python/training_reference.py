# SPDX-License-Identifier: Apache-2.0
"""The training runs of the applications lenet, vgg16 and resnet18, repeated with NumPy in double precision. Images,
labels and first weights follow from the same hashes (firmware/programs/apps/training.h); everything else is written
from the definitions."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

NOISE, TEMPLATE, LABEL = 1 << 20, 1 << 24, 1 << 28


def hash64(z):
    with np.errstate(over="ignore"):
        z = np.asarray(z, dtype=np.uint64)
        z = (z + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def uniform(seed, index, scale):
    steps = (hash64(np.uint64(seed) + np.asarray(index, dtype=np.uint64)) >> np.uint64(40)).astype(np.int64) - (1 << 23)
    return (steps.astype(np.float32) * np.float32(2.0**-23)) * np.float32(scale)


def training_set(batch, channels, side, classes, first=0):
    """Images [batch, channels, height, width] and labels, from image ``first`` on."""
    numbers = np.arange(first, first + batch, dtype=np.uint64)
    labels = (hash64(LABEL + numbers) >> np.uint64(32)) * np.uint64(classes) >> np.uint64(32)
    shape = (channels, batch, side, side)
    elements = np.arange(np.prod(shape)) + first * channels * side * side
    noise = uniform(NOISE, elements, 0.5).reshape(shape).transpose(1, 0, 2, 3)
    place = np.arange(channels * side * side, dtype=np.uint64)
    pictures = [uniform(TEMPLATE + (int(label) << 16), place, 0.5).reshape(channels, side, side) for label in labels]
    return (noise + np.stack(pictures)).astype(np.float64), labels.astype(np.int64)


class Convolution:
    def __init__(self, inputs, outputs, kernel, stride=1, pad=0):
        self.shape, self.stride, self.pad = (outputs, inputs, kernel, kernel), stride, pad

    def begin(self, number):
        taps = np.prod(self.shape[1:])
        scale = np.sqrt(np.float32(6) / np.float32(taps))
        self.weight = (
            uniform((number + 1) << 32, np.arange(np.prod(self.shape)), scale).reshape(self.shape).astype(np.float64)
        )
        self.bias = np.zeros(self.shape[0])

    def forward(self, x):
        self.x = np.pad(x, ((0, 0), (0, 0), (self.pad, self.pad), (self.pad, self.pad)))
        kernel, stride = self.shape[2], self.stride
        self.windows = sliding_window_view(self.x, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
        return np.einsum("bchwij,ocij->bohw", self.windows, self.weight, optimize=True) + self.bias[:, None, None]

    def backward(self, g):
        self.weight_gradient = np.einsum("bchwij,bohw->ocij", self.windows, g, optimize=True)
        self.bias_gradient = g.sum(axis=(0, 2, 3))
        back, (high, wide), stride = np.zeros_like(self.x), g.shape[2:], self.stride
        for i in range(self.shape[2]):
            for j in range(self.shape[3]):
                back[:, :, i : i + stride * high : stride, j : j + stride * wide : stride] += np.einsum(
                    "bohw,oc->bchw", g, self.weight[:, :, i, j], optimize=True
                )
        inner = slice(self.pad, -self.pad or None)
        return back[:, :, inner, inner]

    def update(self, rate):
        self.weight -= rate * self.weight_gradient
        self.bias -= rate * self.bias_gradient


class Norm:
    def __init__(self, channels):
        self.channels = channels

    def begin(self, number):
        self.gamma, self.beta = np.ones(self.channels), np.zeros(self.channels)

    def forward(self, x):
        mean = x.mean(axis=(0, 2, 3), keepdims=True)
        self.scale = 1 / np.sqrt(x.var(axis=(0, 2, 3), keepdims=True) + 1e-5)
        self.normal = (x - mean) * self.scale
        return self.normal * self.gamma[:, None, None] + self.beta[:, None, None]

    def backward(self, g):
        self.gamma_gradient, self.beta_gradient = (g * self.normal).sum(axis=(0, 2, 3)), g.sum(axis=(0, 2, 3))
        d = g * self.gamma[:, None, None]
        mean = d.mean(axis=(0, 2, 3), keepdims=True)
        along = (d * self.normal).mean(axis=(0, 2, 3), keepdims=True)
        return self.scale * (d - mean - self.normal * along)

    def update(self, rate):
        self.gamma -= rate * self.gamma_gradient
        self.beta -= rate * self.beta_gradient


class Plain:
    """A layer without parameters."""

    def begin(self, number):
        pass

    def update(self, rate):
        pass


class Relu(Plain):
    counts = False

    def forward(self, x):
        self.positive = x > 0
        return x * self.positive

    def backward(self, g):
        return g * self.positive


class Pool(Plain):
    def forward(self, x):
        b, c, h, w = x.shape
        blocks = x.reshape(b, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(b, c, h // 2, w // 2, 4)
        self.first, self.shape = blocks.argmax(axis=-1), x.shape
        return blocks.max(axis=-1)

    def backward(self, g):
        b, c, h, w = self.shape
        blocks = np.zeros((*g.shape, 4))
        np.put_along_axis(blocks, self.first[..., None], g[..., None], axis=-1)
        return blocks.reshape(b, c, h // 2, w // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(self.shape)


class Average(Plain):
    def forward(self, x):
        self.shape = x.shape
        return x.mean(axis=(2, 3), keepdims=True)

    def backward(self, g):
        return np.broadcast_to(g / (self.shape[2] * self.shape[3]), self.shape)


class Chain:
    def __init__(self, *layers):
        self.layers = layers

    def each(self):
        for layer in self.layers:
            yield from layer.each() if hasattr(layer, "each") else [layer]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, g):
        for layer in reversed(self.layers):
            g = layer.backward(g)
        return g


class Residual:
    """A block of ResNet: two convolutions beside a short cut."""

    def __init__(self, inputs, outputs, stride):
        self.long = Chain(
            Convolution(inputs, outputs, 3, stride, 1),
            Norm(outputs),
            Relu(),
            Convolution(outputs, outputs, 3, 1, 1),
            Norm(outputs),
        )
        self.short = Chain(*([Convolution(inputs, outputs, 1, stride), Norm(outputs)] if stride > 1 else []))
        self.relu = Relu()
        self.join = Plain()  # counts as a layer

    def each(self):
        yield from self.long.each()
        yield from self.short.each()
        yield self.join

    def forward(self, x):
        return self.relu.forward(self.long.forward(x) + self.short.forward(x))

    def backward(self, g):
        g = self.relu.backward(g)
        return self.long.backward(g) + self.short.backward(g)


def lenet():
    return Chain(
        Convolution(1, 6, 5, 1, 2),
        Relu(),
        Pool(),
        Convolution(6, 16, 5),
        Relu(),
        Pool(),
        Convolution(16, 120, 5),
        Relu(),
        Convolution(120, 84, 1),
        Relu(),
        Convolution(84, 10, 1),
    )


def vgg16(width):
    layers, inputs = [], 3
    for count, published in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        channels = round(published * width)
        for _ in range(count):
            layers += [Convolution(inputs, channels, 3, 1, 1), Relu()]
            inputs = channels
        layers.append(Pool())
    n = channels
    return Chain(*layers, Convolution(n, n, 1), Relu(), Convolution(n, n, 1), Relu(), Convolution(n, 20, 1))


def resnet18(width):
    inputs = round(64 * width)
    layers = [Convolution(3, inputs, 3, 1, 1), Norm(inputs), Relu()]
    for stage in range(4):
        for block in range(2):
            outputs = round((64 << stage) * width)
            layers.append(Residual(inputs, outputs, 2 if stage and not block else 1))
            inputs = outputs
    return Chain(*layers, Average(), Convolution(inputs, 20, 1))


NETWORKS = {
    "lenet": (lenet, 1, 28, 10, 0.003),
    "vgg16": (vgg16, 3, 32, 20, 0.0005),
    "resnet18": (resnet18, 3, 32, 20, 0.001),
}


def losses(name, batch, steps=2, copies=1, **width):
    """Before each step, and after the last. ``width``: part of the published channels, of a network that has it.
    ``copies`` share the batch. Their gradients are averaged, which is as good as one copy, but for norms."""
    make, channels, side, classes, rate = NETWORKS[name]
    share = batch // copies
    sets = [training_set(share, channels, side, classes, i * share) for i in range(copies)]
    images, labels = (np.concatenate(each) for each in zip(*sets))
    network = make(**width)
    numbered = [layer for layer in network.each() if not isinstance(layer, Relu)]
    for number, layer in enumerate(numbered):
        layer.begin(number)
    found, picked = [], (labels, np.arange(batch))
    for step in range(steps + 1):
        logits = network.forward(images)[:, :, 0, 0].T
        shifted = np.exp(logits - logits.max(axis=0))
        probability = shifted / shifted.sum(axis=0)
        found.append(float(-np.log(probability[picked]).mean()))
        if step == steps:
            return found
        probability[picked] -= 1
        network.backward((probability / batch).T[:, :, None, None])
        for layer in numbered:
            layer.update(float(np.float32(rate)))
