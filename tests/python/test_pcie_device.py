# SPDX-License-Identifier: Apache-2.0
"""PCIe devices in Python: what software finds of them, DMA, interrupts, errors."""

import json
import shutil
import subprocess
from pathlib import Path

import fabricvp
import pytest
from fabricvp.data import sdk_folder

MACHINE = """
node:
  host: {interrupts: %s}
  pcie:
    switches: [{name: switch0}]
    endpoints:
      - {name: d0, kind: recorder, below: switch0, delay: 3 us, room: 2 KiB, factor: 5}
"""


class Recorder(fabricvp.PcieDevice):
    """remembers what happens"""

    kind = "recorder"
    vendor, device, class_code, revision = 0x1234, 0x0ABC, 0x058000, 7
    bars = {0: 256, 2: fabricvp.Bar("1 MiB", wide=True, prefetchable=True)}
    vectors = 2
    parameters = {
        "delay": ("1 us", "of what it does"),
        "room": ("4 KiB", "memory"),
        "factor": (3, "of what it does"),
        "fast": (True, "or slow"),
        "label": ("none", "for people"),
    }
    statistics = {"reads": "reads of host memory", "bytes": ("bytes read", "B")}

    def __init__(self):
        self.log, self.resets, self.given = [], 0, (self.delay, self.room, self.factor, self.fast, self.label)

    def reset(self):
        self.resets += 1

    def read(self, bar, offset, size):
        self.log.append(("read", bar, offset, size))
        return 0x0102030405060708

    def write(self, bar, offset, size, value):
        self.log.append(("write", bar, offset, size, value))
        if bar == 0 and offset == 0:
            self.dma_read(value, 256, self.arrived)
        if bar == 0 and offset == 8:
            self.clear_interrupt()

    def arrived(self, done):
        self.log.append(("dma", done.status, len(done.data)))
        self.count("reads")
        self.count("bytes", len(done.data))
        self.asked = self.now
        self.call_in(self.delay, lambda: self.answer(done))

    def answer(self, done):
        self.waited = self.now - self.asked
        self.written = self.dma_write(0x8010_0000, bytes(self.factor * b % 256 for b in done.data))
        self.interrupt(1)


#: Enumerates, and has the device read 256 bytes and write them to another place. Ends 0 if all is as it must be.
DRIVER = """
#include "drivers/pci/pci.h"
#include "lib/console.h"
#include "lib/mmio.h"
#include "lib/timer.h"
#include "lib/traps.h"
static volatile int vectors[4], seen;
static uintptr_t bar0;
static void on_interrupt(void *context, int vector)
{
    (void)context;
    if (vector == PCI_ANY_VECTOR) mmio_write32(bar0 + 8, 1);
    vectors[seen++ & 3] = vector;
}
int main(void)
{
    static struct pci_host host;
    if (!pci_start(&host)) return 1;
    struct pci_function *f = pci_find_id(&host, NULL, 0x1234, 0x0abc);
    if (!f || f->class_code != 0x058000 || pci_read8(f, 8) != 7) return 2;
    if (f->bars[0].size != 256 || f->bars[2].size != 1 << 20 || !f->bars[2].wide) return 3;
    if (!pci_enable(f)) return 4;
    bar0 = pci_bar(f, 0);
    const enum pci_delivery how = pci_connect(f, 2, PCI_MSIX, on_interrupt, f);
    console_printf("by %s\\n", pci_delivery_names[how]);
    if (mmio_read8(bar0 + 1) != 0x08 || mmio_read64(bar0 + 8) != 0x0102030405060708) return 5;
    mmio_write16(pci_bar(f, 2) + 0xffffe, 0xbeef);
    uint8_t *from = (uint8_t *)0x80200000, *to = (uint8_t *)0x80100000;
    for (int i = 0; i < 256; ++i) from[i] = i;
    interrupts_on();
    mmio_write64(bar0, (uintptr_t)from);
    for (int i = 0; i < 1000 && !seen; ++i) timer_wait(1);
    interrupts_off();
    if (!seen || vectors[0] != (how == PCI_MSIX ? 1 : PCI_ANY_VECTOR)) return 6;
    for (int i = 0; i < 256; ++i) if (to[i] != (uint8_t)(5 * i)) return 7;
    return pci_reset_function(f) ? 0 : 8;
}
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    folder = tmp_path_factory.mktemp("driver")
    (folder / "main.c").write_text(DRIVER)
    (folder / "Makefile").write_text(f"include {sdk_folder()}/fabricvp.mk\nmain.elf: main.c\n\t$(build_firmware)\n")
    subprocess.run(["make", "-C", folder, "main.elf"], check=True, timeout=100, capture_output=True)
    return folder / "main.elf"


@pytest.mark.parametrize("interrupts, by", [("plic", "INTx"), ("aplic_imsic", "MSI-X")])
def test_a_driver_finds_and_uses_it(interrupts, by, driver):
    with fabricvp.spawn(text=MACHINE % interrupts, plugins=[Recorder]) as platform:
        platform.load_images(firmware=driver)
        result = platform.run("1 s")
        assert result.outcome == "power_off", result
        assert f"by {by}" in platform.nodes[0].console.output
        device = platform.nodes[0].pcie.devices["d0"]
        assert device.name == "node0.pcie.d0" and device.given == (3e-6, 2048, 5, True, "none")
        assert device.log[:5] == [
            ("read", 0, 1, 1),
            ("read", 0, 8, 8),
            ("write", 2, 0xFFFFE, 2, 0xBEEF),
            ("write", 0, 0, 8, 0x8020_0000),
            ("dma", "ok", 256),
        ]
        assert device.waited == pytest.approx(3e-6) and device.written and device.resets == 1
        values = platform.statistics.snapshot("node0.pcie.d0.")
        assert values["node0.pcie.d0.reads"] == 1 and values["node0.pcie.d0.bytes"] == 256
        # The bytes went over the link: two reads of up to 128 bytes at least, and their writes.
        assert values["node0.pcie.d0.link.tlps_sent"] >= 4 and values["node0.pcie.d0.dma.reads"] >= 1
        assert platform.config["node0.pcie.d0.delay"] == 3e-6


def statistics_of(driver):
    with fabricvp.spawn(text=MACHINE % "plic", plugins=[Recorder]) as platform:
        platform.load_images(firmware=driver)
        platform.run("10 ms")
        return {k: v for k, v in platform.statistics.snapshot().items() if k != "sim.wall_s"}


def test_runs_repeat(driver):
    assert statistics_of(driver) == statistics_of(driver)


def read_without_bus_master(platform):
    device = platform.nodes[0].pcie.devices["d0"]
    seen = []
    device.dma_read(0x8000_0000, 4, seen.append)
    written = device.dma_write(0x8000_0000, b"1234")
    platform.run("1 us")
    return seen, written


def test_without_bus_mastering():
    with fabricvp.spawn(text=MACHINE % "plic", plugins=[Recorder]) as platform:
        assert platform.call(read_without_bus_master) == ([fabricvp.DmaRead("bus_master_off", b"")], False)


def misuse(platform):
    device = platform.nodes[0].pcie.devices["d0"]
    wrong = []
    for call in (
        lambda: device.dma_read(0, 0, print),
        lambda: device.dma_read(0, 1 << 30, print),
        lambda: device.dma_read(-1, 8, print),
        lambda: device.dma_write(2**64 - 4, b"12345"),
        lambda: device.dma_write(0, b""),
        lambda: device.interrupt(2),
        lambda: device.count("nothing"),
        lambda: device.call_in("-1 us", print),
    ):
        try:
            call()
        except (ValueError, KeyError) as error:
            wrong.append(type(error).__name__)
    return wrong


def test_misuse_is_an_exception():
    with fabricvp.spawn(text=MACHINE % "plic", plugins=[Recorder]) as platform:
        assert len(platform.call(misuse)) == 8


FAILING = """
import fabricvp
class Broken(fabricvp.PcieDevice):
    kind, vendor, device, bars = "recorder", 0x1234, 0x0ABC, {0: 256}
    class_code, revision = 0x058000, 7
    parameters = {"delay": ("1 us", ""), "room": ("1 KiB", ""), "factor": (1, "")}
    def %s
"""


@pytest.mark.parametrize(
    "method, says",
    [
        ("__init__(self): self.x = 1 // 0", "broken.py:7: ZeroDivisionError"),
        ("reset(self): oops", "broken.py:7: NameError"),
        ("read(self, bar, offset, size): return 'text'", "TypeError"),
        ("read(self, bar, offset, size): self.dma_read(0, 0, print)", "pcie_devices.py"),
    ],
)
def test_an_exception_under_the_command(method, says, command, tmp_path, driver):
    (tmp_path / "broken.py").write_text(FAILING % method)
    # A 64-bit BAR is looked for first; this one has none, so let the driver come as far as its first read.
    (tmp_path / "m.yaml").write_text(MACHINE % "plic")
    probe = tmp_path / "probe.c"
    probe.write_text(
        '#include "drivers/pci/pci.h"\n#include "lib/mmio.h"\nint main(void) { static struct pci_host h;'
        " if (!pci_start(&h)) return 1; struct pci_function *f = pci_find_id(&h, NULL, 0x1234, 0x0abc);"
        " if (!f || !pci_enable(f)) return 2; pci_reset_function(f); pci_enable(f);"
        " return (int)mmio_read32(pci_bar(f, 0)) & 0; }\n"
    )
    (tmp_path / "Makefile").write_text(f"include {sdk_folder()}/fabricvp.mk\nprobe.elf: probe.c\n\t$(build_firmware)\n")
    subprocess.run(["make", "-C", tmp_path, "probe.elf"], check=True, timeout=100, capture_output=True)
    done = command("run", "m.yaml", "--plugin", "broken.py", "--firmware", "probe.elf", "--time", "1s")
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_an_exception_surfaces_from_run(driver):
    class Fails(Recorder):
        def read(self, bar, offset, size):
            raise LookupError("no such register")

    with fabricvp.spawn(text=MACHINE % "plic", plugins=[Fails]) as platform:
        platform.load_images(firmware=driver)
        with pytest.raises(LookupError, match="no such register"):
            platform.run("10 ms")


def test_a_file_for_the_command_and_a_configuration(command, tmp_path, driver):
    shutil.copy(Path(__file__), tmp_path / "test_pcie_device.py")
    source = Path(__file__).read_text()
    own = source[source.index("class Recorder") : source.index("#: Enumerates")]
    (tmp_path / "recorder.py").write_text("import fabricvp\n\n" + own)
    (tmp_path / "m.yaml").write_text("plugins: [recorder.py]" + MACHINE % "plic")
    shutil.copy(driver, tmp_path / "driver.elf")
    done = command("run", "m.yaml", "--firmware", "driver.elf", "--out", "out")
    assert done.returncode == 0 and "by INTx" in done.stdout, done.stdout + done.stderr
    assert json.loads((tmp_path / "out" / "stats.json").read_text())["node0.pcie.d0.bytes"] == 256
    again = command("run", "out/config.resolved.yaml", "--out", "again")
    assert again.returncode == 0, again.stderr
    assert "doubles" not in command("describe", "m.yaml").stdout


@pytest.mark.parametrize(
    "body, says",
    [
        ("kind = 'Bad'", "kind = 'Bad'"),
        ("", "kind = ''"),
        ("kind = 'virtio_blk'", "there is a kind 'virtio_blk' of PCIe endpoints already"),
        ("kind = 'x'; device = 1 << 16", "device = 65536: a number of 16 bits"),
        ("kind = 'x'; bars = {0: 100}", "a power of two"),
        ("kind = 'x'; bars = {6: 4096}", "0 to 5"),
        ("kind = 'x'; bars = {0: 'much'}", "bars: 0"),
        ("kind = 'x'; bars = {0: fabricvp.Bar(4096, wide=True), 1: 16}", "takes the next one"),
        ("kind = 'x'; vectors = 65", "vectors = 65"),
        ("kind = 'x'; bars = {n: 16 for n in range(6)}; vectors = 1", "MSI-X needs one"),
        ("kind = 'x'; parameters = {'link': (1, '')}", "every endpoint has 'link'"),
        ("kind = 'x'; parameters = {'read': (1, '')}", "an attribute of every device"),
        ("kind = 'x'; parameters = {'a': ([], '')}", "a number, a truth value or text"),
        ("kind = 'x'; parameters = {'a': (-1, '')}", "-1 is not within"),
        ("kind = 'x'; statistics = {'dma': ''}", "every endpoint has 'dma'"),
        ("kind = 'x'; vectors = True", "vectors = True: 0 to 64"),
        ("kind = 'x'; bars = None", "bars = None: a dictionary of sizes by number"),
        ("kind = 'x'; bars = {0: 1.5}", "bars: 0: 1.5: bytes, or text such as '4 KiB'"),
        ("kind = 'x'; bars = {True: 4096}", "0 to 5"),
        ("kind = 'x'; bars = {0: fabricvp.Bar(4096, wide='no')}", "bars: 0: wide = 'no': True or False"),
        ("kind = 'x'; parameters = [1]", "parameters = [1]: a dictionary"),
        ("kind = 'x'; parameters = {'a': (1,)}", "parameters: a: (1,): must be (default, help)"),
        ("kind = 'x'; parameters = {'a': (1, 2)}", "parameters: a: help: 2: must be text"),
        (r"kind = 'x'; parameters = {'a': ('\ud800', '')}", "holds half a surrogate pair"),
        ("kind = 'x'; statistics = {'a': 1}", "statistics: a: help: 1: must be text"),
        ("kind = 'x'; statistics = {'a': ('', 1)}", "statistics: a: unit: 1: must be text"),
        ("kind = 'x", "broken.py:3: SyntaxError"),
        ("kind = 1 // 0", "broken.py:3: ZeroDivisionError"),
    ],
)
def test_a_class_that_cannot_be(body, says, command, tmp_path):
    (tmp_path / "broken.py").write_text(f"import fabricvp\nclass Broken(fabricvp.PcieDevice):\n    {body or 'pass'}\n")
    done = command("check", "bare", "--plugin", "broken.py")
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize(
    "endpoint, says",
    [
        ("{name: d0, kind: recorders}", "'recorders' is not one of"),
        ("{name: d0, kind: recorder, delay: 5}", "delay"),
        ("{name: d0, kind: recorder, dalay: 5 us}", "did you mean 'delay'"),
        ("{name: d0, kind: recorder, factor: many}", "factor"),
    ],
)
def test_a_configuration_that_cannot_be(endpoint, says):
    with pytest.raises(fabricvp.InputError, match=says):
        fabricvp.spawn(text=f"node: {{pcie: {{endpoints: [{endpoint}]}}}}", plugins=[Recorder])


def test_a_file_without_devices(command, tmp_path):
    (tmp_path / "empty.py").write_text("x = 1\n")
    done = command("check", "bare", "--plugin", "empty.py")
    assert done.returncode == 2 and "defines no subclass of fabricvp.PcieDevice" in done.stderr, done.stderr
