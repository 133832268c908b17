# SPDX-License-Identifier: Apache-2.0
"""Python objects as memory-mapped devices. They live in the child process of their machine and come back through it."""

import fabricvp
import guests
import pytest
from fabricvp import Outcome

BASE = 0x2000_0000


class Recorder:
    """Remembers what is written and gives it back."""

    def __init__(self):
        self.log = []
        self.stored = {}

    def read(self, offset, size):
        self.log.append(("read", offset, size))
        return self.stored[offset]

    def write(self, offset, size, value):
        self.log.append(("write", offset, size, value))
        self.stored[offset] = value


class Fails:
    def __init__(self, error):
        self.error = error

    def read(self, offset, size):
        raise self.error

    def write(self, offset, size, value):
        raise self.error


def test_accesses_of_all_sizes(machine):
    platform = machine(guests.USES_DEVICE)
    device = platform.nodes[0].add_device(BASE, 0x1000, Recorder())
    assert platform.run("10 ms").outcome == Outcome.POWER_OFF
    assert device.object.log == [
        ("write", 0, 1, 0x11),
        ("write", 2, 2, 0x2211),
        ("write", 4, 4, 0x44332211),
        ("write", 8, 8, 0x8877665544332211),
        ("read", 0, 1),
        ("read", 2, 2),
        ("read", 4, 4),
        ("read", 8, 8),
    ]
    seen = platform.nodes[0].memory.array(platform.nodes[0].address_of("seen"), "<u8", 4)
    assert seen.tolist() == [0x11, 0x2211, 0x44332211, 0x8877665544332211]


def test_a_device_can_join_a_machine_that_has_run(machine):
    platform = machine(guests.USES_DEVICE)
    platform.run("1 ns")
    device = platform.nodes[0].add_device(BASE, 0x10, Recorder(), name="late")
    assert platform.run("10 ms").outcome == Outcome.POWER_OFF
    assert len(device.object.log) == 8


def test_without_the_device_the_guest_sees_a_bus_error(machine):
    platform = machine(guests.USES_DEVICE)
    platform.run("1 ms")
    assert platform.nodes[0].harts[0].csr["mcause"] in (1, 5, 7)


@pytest.mark.parametrize("error", [ZeroDivisionError("oops"), KeyError(7), KeyboardInterrupt()])
def test_an_exception_ends_the_run_and_surfaces(machine, error):
    platform = machine(guests.USES_DEVICE)
    platform.nodes[0].add_device(BASE, 0x1000, Fails(error))
    with pytest.raises(type(error)):
        platform.run("10 ms")
    assert platform.now < 0.001
    assert platform.nodes[0].harts[0].x["s1"] == BASE  # still there to be looked at
    assert platform.run("1 us").outcome == Outcome.TIME_LIMIT


@pytest.mark.parametrize("value", ["text", None, 1.5])
def test_a_value_that_is_no_integer(machine, value):
    platform = machine(guests.USES_DEVICE)
    device = Recorder()
    device.stored = {0: 0}
    platform.nodes[0].add_device(BASE, 0x1000, Gives(value))
    with pytest.raises(TypeError):
        platform.run("10 ms")


class Gives:
    def __init__(self, value):
        self.value = value

    def read(self, offset, size):
        return self.value

    def write(self, offset, size, value):
        pass


def test_values_are_cut_to_the_size_of_the_access(machine):
    platform = machine(guests.USES_DEVICE)
    platform.nodes[0].add_device(BASE, 0x1000, Gives(-1))
    platform.run("10 ms")
    seen = platform.nodes[0].memory.array(platform.nodes[0].address_of("seen"), "<u8", 4)
    assert seen.tolist() == [0xFF, 0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF]


def run_inside(platform, method):
    class Curious:
        def read(self, offset, size):
            return 0

        def write(self, offset, size, value):
            getattr(platform, method)()

    platform.nodes[0].add_device(BASE, 0x1000, Curious())
    return platform.run("10 ms")


@pytest.mark.parametrize("method", ["run", "reset", "fork"])
def test_what_a_callback_must_not_do(machine, method):
    platform = machine(guests.USES_DEVICE)
    with pytest.raises(RuntimeError, match="callback"):
        platform.call(run_inside, method)


def access_inside(platform):
    """A device that looks at time, memory and registers while the machine runs."""
    seen = []

    class Curious:
        def read(self, offset, size):
            return 0

        def write(self, offset, size, value):
            seen.append((platform.now_ps, platform.running, platform.nodes[0].memory.read_int(0x8000_0000, 4)))

    platform.nodes[0].add_device(BASE, 0x1000, Curious())
    platform.run("10 ms")
    return seen, platform.running


def test_what_a_callback_may_do(machine):
    seen, afterwards = machine(guests.USES_DEVICE).call(access_inside)
    times = [time for time, _, _ in seen]
    assert len(seen) == 4 and times == sorted(times) and times[0] > 0
    assert all(running for _, running, _ in seen) and not afterwards
    assert len({word for _, _, word in seen}) == 1


def interrupt_every_100_us(platform):
    """A device that interrupts, and is acknowledged by a write."""

    class Ticker:
        def __init__(self):
            self.acknowledged = []

        def read(self, offset, size):
            return 0

        def write(self, offset, size, value):
            self.acknowledged.append((platform.now_ps, value))
            device.interrupt.clear()

    def tick():
        device.interrupt.set()
        platform.call_in("100 us", tick)

    ticker = Ticker()
    device = platform.nodes[0].add_device(BASE, 0x1000, ticker, interrupt=40)
    platform.call_in("100 us", tick)
    platform.run("1050 us")
    return ticker.acknowledged, device.interrupt.level


def test_interrupts(machine):
    platform = machine(guests.TAKES_INTERRUPTS)
    acknowledged, level = platform.call(interrupt_every_100_us)
    assert len(acknowledged) == 10 and {value for _, value in acknowledged} == {40} and not level
    assert all(0 < time % 100_000_000 < 2_000_000 for time, _ in acknowledged)  # at once, not at a slice's border
    assert platform.nodes[0].memory.read_int(platform.nodes[0].address_of("count")) == 10


def test_bad_devices(machine):
    node = machine().nodes[0]
    with pytest.raises(fabricvp.InputError, match="overlaps that of uart"):
        node.add_device(0x1000_0000, 16, Recorder())
    for base, size in ((BASE, 0), (2**64 - 16, 32)):
        with pytest.raises(fabricvp.InputError, match="empty or wraps"):
            node.add_device(base, size, Recorder())
    for source in (0, 97, 1000):
        with pytest.raises(fabricvp.InputError, match="interrupt source"):
            node.add_device(BASE, 16, Recorder(), interrupt=source)
    with pytest.raises(TypeError, match="method read"):
        node.add_device(BASE, 16, object())


def test_devices_of_the_configuration():
    """Named by their kinds; what Linux and U-Boot would find, and where Python sees them."""
    yaml = """
node:
  host:
    devices:
      - {name: modem, kind: uart, base: 0x10001000, interrupt: 12, timing: line}
      - {kind: rtc, base: 0x10002000, epoch: 86400}
"""
    with fabricvp.spawn(text=yaml) as platform:
        assert platform.config["node0.host.modem.timing"] == "line"
        assert {"modem", "device1"} <= set(platform.nodes[0].devices)
        assert "node0.host.modem.transmitted" in platform.statistics.snapshot()
        platform.run("1 us")
        low, high = (platform.nodes[0].memory.array(0x10002000 + offset, "<u4", 1)[0] for offset in (0, 4))
        assert int(high) << 32 | int(low) == 86_400 * 10**9 + 1000


@pytest.mark.parametrize(
    "device, expected_error",
    [
        ("{kind: uarts, base: 0x10001000}", "kind: 'uarts' is not one of uart, rtc"),
        (
            "{kind: uart, base: 0x10000000}",
            "host: device device0: address range of device0 (0x10000000, 0x100 bytes) overlaps that of uart",
        ),
        ("{kind: rtc, base: 0x10001000, interrupt: 10}", "host: device device0: interrupt source 10 is taken"),
        ("{kind: rtc, base: 0x10001000, interrupt: 97}", "97 is out of range: give 0 … 96"),
        ("{kind: rtc, base: 0x10001000, name: uart}", "the name 'uart' is taken"),
        ("{kind: rtc, base: 0x10001000, name: finisher}", "host: device finisher: the name is taken"),
        ("{kind: rtc, base: 0x10001000, clock: 1 MHz}", "unknown key 'clock'"),
    ],
)
def test_a_device_that_cannot_be(command, tmp_path, device, expected_error):
    (tmp_path / "machine.yaml").write_text(f"node: {{host: {{devices: [{device}]}}}}\n")
    done = command("run", "machine.yaml", "--time", "1us")
    assert done.returncode == 2 and expected_error in done.stderr and done.stderr.count("\n") == 1, done.stderr
