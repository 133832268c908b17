# SPDX-License-Identifier: Apache-2.0
"""Machines with Linux and GPUs behind Debian's U-Boot, which reads kernel and initramfs from disks: programs run there,
too. Without these files, as in a clone where `make linux` has not run, a machine is all but run."""

import io
import shutil
import tarfile
from pathlib import Path

import fabricvp
import opencl_machine
import pytest
from fabricvp import linux_job
from linux_rdma import BAD_SIGNS, shell_of
from test_linux_cluster import with_images
from test_linux_gpu import HALO

opencl_machine.require_compiler()

REPOSITORY = Path(__file__).resolve().parents[2]
IMAGES = REPOSITORY / "build" / "linux"
MACHINES = ("linux_gpu_uboot", "linux_quad_uboot", "linux_cluster_uboot")
PROMPT = "=> "


def boot(platform, initramfs):
    """Types at each node's prompt what the how-to says, and gives shells of Linux."""
    kernel, files = ((IMAGES / name).stat().st_size for name in ("Image", initramfs))
    for node in platform.nodes:
        node.console.expect("stop autoboot", timeout="60 s")
        node.console.type("\n")
    for console in (node.console for node in platform.nodes):
        console.expect(PROMPT, timeout="60 s")
        console.command(
            f"virtio scan; virtio dev 0; virtio read ${{kernel_addr_r}} 0 {kernel // 512:x}", PROMPT, "60 s"
        )
        console.command(f"virtio dev 1; virtio read ${{ramdisk_addr_r}} 0 {files // 512:x}", PROMPT, "60 s")
        console.type(f"booti ${{kernel_addr_r}} ${{ramdisk_addr_r}}:{files:x} ${{fdtcontroladdr}}\n")
    return [shell_of(node) for node in platform.nodes]


def run(node, shell, program, *arguments):
    """What a program prints that comes by the disk `exchange`."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(program, "program")
    node.disks["exchange"].write(0, archive.getvalue())
    for line in ("gpus", *linux_job.FIND_DISK, "tar x -f $disk program", "chmod +x program"):
        shell(line)
    return shell(" ".join(("./program", *arguments)))


@with_images
@pytest.mark.timeout(6000)
def test_linux_gpu_by_u_boot(programs):
    with fabricvp.spawn("linux_gpu_uboot") as platform:
        (shell,) = boot(platform, "initramfs.cpio")
        said = run(platform.nodes[0], shell, programs / "saxpy", "1000", "2.5")
        assert "1000 elements, 0 wrong, y[999] = 4495.5" in said, said
        found = shell("lspci-full -nn")
        assert "3D controller [0302]: FabricVP GPU [fab0:1f10]" in found, found
        detail = shell("lspci-full -vv -d fab0:1f10")
        assert "MSI-X" in detail and "Kernel driver in use: uio_pci_generic" in detail, detail


@with_images
@pytest.mark.timeout(6000)
def test_linux_quad_by_u_boot(command, tmp_path):
    assert command("cc", HALO, "-o", "halo", "--target", "linux").returncode == 0
    with fabricvp.spawn("linux_quad_uboot") as platform:
        (shell,) = boot(platform, "initramfs.cpio")
        said = run(platform.nodes[0], shell, tmp_path / "halo")
        assert "1111 4 GPUs, the numbers are right" in said, said


@with_images
@pytest.mark.timeout(6000)
def test_linux_cluster_by_u_boot(programs):
    with fabricvp.spawn("linux_cluster_uboot") as platform:
        shells = boot(platform, "initramfs_rdma.cpio")
        for node, shell in zip(platform.nodes, shells):
            shell("rdma")
            said = run(node, shell, programs / "saxpy", "1000", "2.5")
            assert "1000 elements, 0 wrong, y[999] = 4495.5" in said, said
            found = shell("lspci-full -nn")
            assert "Mellanox Technologies MT25204 [InfiniHost III Lx HCA] [15b3:6274]" in found, found
            assert "PORT_ACTIVE" in shell("ibv_devinfo") and "uio0" in shell("ls /dev")
            assert not BAD_SIGNS.search(shell("dmesg")), shell("dmesg")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Configurations that stand where `make linux` has made nothing."""
    folder = tmp_path / "clone" / "configs"
    shutil.copytree(REPOSITORY / "configs", folder)
    monkeypatch.setenv("FABRICVP_CONFIGS", str(folder))
    monkeypatch.setenv("FABRICVP_LINUX", str(tmp_path / "cache"))
    return folder.parent


@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", MACHINES)
def test_without_images_a_machine_is_all_but_run(command, clone, machine):
    for reads in ("describe", machine), ("draw", machine, "--dot"), ("describe", machine, "node0.pcie.kernel"):
        done = command(*reads)
        assert done.returncode == 0, done.stderr
    for runs in ("check", machine), ("run", machine, "--time", "1 us"):
        done = command(*runs)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert "build/linux/Image: no such file" in done.stderr and "`make linux`" in done.stderr, done.stderr
    with fabricvp.spawn(machine) as platform:
        assert platform.config["node0.pcie.kernel.image"] == str(clone / "build" / "linux" / "Image")
        with pytest.raises(fabricvp.InputError, match="build/linux/Image: no such file"):
            platform.nodes[0].disks["kernel"].read(0, 512)
        with pytest.raises(fabricvp.InputError, match="build/linux/Image: no such file"):
            platform.run(time="1 us")


def test_without_images_no_program_is_run(clone):
    with fabricvp.spawn("linux_gpu") as platform, pytest.raises(fabricvp.InputError) as error:
        linux_job.initramfs(platform, "linux_gpu", 0)
    assert "build/linux/initramfs.cpio: no such file: `fabricvp linux fetch --again`" in str(error.value)


def test_disks_find_what_was_fetched(command, clone):
    """As an installed package has it: `fabricvp linux fetch` puts images into a folder of the user's."""
    cache = clone.parent / "cache"
    cache.mkdir()
    (cache / "Image").write_bytes(b"kernel".ljust(512))
    done = command("run", "linux_gpu_uboot", "--time", "1 us")
    assert done.returncode == 2 and "build/linux/initramfs.cpio: no such file" in done.stderr, done.stderr
    (cache / "initramfs.cpio").write_bytes(bytes(1024))
    with fabricvp.spawn("linux_gpu_uboot") as platform:
        disks = platform.nodes[0].disks
        assert disks["kernel"].read(0, 6) == b"kernel" and disks["initramfs"].size == 1024
        platform.run(time="1 us")
