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
