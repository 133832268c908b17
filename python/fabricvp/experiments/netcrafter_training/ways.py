# SPDX-License-Identifier: Apache-2.0
"""Networks, their batches, and how their training is spread over the GPUs. Batches are those of the study of load;
MGPUSim trains copies."""

from __future__ import annotations

from typing import NamedTuple


class Network(NamedTuple):
    """A network as the experiment trains it."""

    batch: int  #: images, over all GPUs
    quick: int  #: the same of a small sample
    seconds: float  #: roughly, of a run with `batch`
    option: str = ""  #: of the application


NETWORKS: dict[str, Network] = {
    "lenet": Network(32, 4, 25),
    "vgg16": Network(16, 4, 260, "width=0.25"),
    "resnet18": Network(8, 4, 280, "width=0.25"),
}

#: Options of the application by the way of training.
WAYS: dict[str, str] = {
    "one network": "",
    "split products": "split_k=1",
    "copies": "data_parallel=1",
    "copies, split products": "data_parallel=1 split_k=1",
}
