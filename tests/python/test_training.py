# SPDX-License-Identifier: Apache-2.0
"""Networks that GPUs train end with the losses that NumPy gets."""

import re
import struct

import pytest
import training_reference

TOLERANCE = 2e-6  # relative; lanes add in single precision


def printed_losses(text):
    found = re.findall(r"^loss \d+ +([\d.]+) 0x([0-9a-f]{8})", text, re.MULTILINE)
    values = [struct.unpack(">f", bytes.fromhex(bits))[0] for _, bits in found]
    for (decimal, _), value in zip(found, values):
        assert float(decimal) == pytest.approx(value, abs=2e-6)
    return values


@pytest.mark.parametrize(
    "name, batch, width",
    [("lenet", 2, None), ("vgg16", 1, 0.125), ("resnet18", 1, 0.125), ("vgg16", 1, 0.0625), ("resnet18", 1, 0.1)],
)
def test_losses_agree_with_numpy(command, name, batch, width):
    option = ["--option", f"width={width}"] if width not in (None, 0.125) else []  # an eighth is the default
    done = command("run", "gpu", "--app", name, "--size", batch, "--quiet", *option, timeout=2400)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = training_reference.losses(name, batch, **({} if width is None else {"width": width}))
    assert printed_losses(done.stdout) == pytest.approx(expected, rel=TOLERANCE)
    assert expected[0] > expected[1] > expected[2]


@pytest.mark.parametrize(
    "name, batch, option, copies, width",
    [
        ("lenet", 8, "data_parallel=1", 4, None),
        ("lenet", 8, "split_k=1", 1, None),
        ("vgg16", 4, "data_parallel=1,split_k=1,width=0.0625", 4, 0.0625),
        ("vgg16", 1, "split_k=1,width=0.0625", 1, 0.0625),
    ],
)
def test_losses_of_several_gpus_agree_with_numpy(command, name, batch, option, copies, width):
    """Copies with a share of the images each, and products that are split along their depth."""
    done = command(
        "run", "netcrafter_quad", "--app", name, "--size", batch, "--quiet", "--option", option, timeout=2400
    )
    assert done.returncode == 0, done.stdout + done.stderr
    expected = training_reference.losses(name, batch, copies=copies, **({} if width is None else {"width": width}))
    assert printed_losses(done.stdout) == pytest.approx(expected, rel=TOLERANCE)


def test_copies_with_norms(command):
    """Each normalises its own images, so that NumPy's one copy is no reference: the program's own checks are."""
    option = "data_parallel=1,split_k=1,width=0.0625"
    done = command(
        "run", "netcrafter_quad", "--app", "resnet18", "--size", 4, "--quiet", "--option", option, timeout=2400
    )
    assert done.returncode == 0 and "drop" in done.stdout, done.stdout + done.stderr


def test_images_that_copies_cannot_share(command):
    done = command("run", "netcrafter_quad", "--app", "lenet", "--size", 6, "--option", "data_parallel=1", timeout=600)
    assert done.returncode != 0 and "size=6: data_parallel=1 takes as many images on each of 4 GPUs" in done.stdout
