# SPDX-License-Identifier: Apache-2.0
"""initramfs.py ROOT OUTPUT [rdma FILE...]: writes a small initramfs (cpio, newc) whose shell runs on the kernel's
console.

ROOT holds unpacked Debian packages: busybox-static, a kernel, pciutils and the libraries it needs. The shell's prompt
is `~ # `; `poweroff` powers off cleanly, `poweroff -f` at once; `modules` loads what disks need, `gpus [PAGES]` what
programs need that use GPUs, with so many huge pages. Where there is an executable /job/start, it runs in place of the
shell (`fabricvp run --program`). With `rdma` it has the tools of libibverbs and perftest, infiniband-diags and opensm;
`rdma` loads what adapters need, with its arguments for ib_mthca, and `peer_memory` lets them reach the GPUs' memory;
`network ADDRESS` loads what the first virtio network adapter needs, and gives it that IP address, and `ipoib ADDRESS`
what IP over InfiniBand and librdmacm need, and gives ib0 that address. Folders and device nodes exist in the archive
only, so no privileges are needed. FILE is a program or a module (.ko); those that do not exist are left out."""

import lzma
import pathlib
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

# In the order in which they must be loaded.
MODULES = ["virtio_blk", "crc16", "crc32c_generic", "mbcache", "jbd2", "ext4"]
# What hands GPUs to programs.
GPU_MODULES = ["uio", "uio_pci_generic"]
# Modules that a kernel may have as parts of others: ib_uverbs needs ib_uverbs_support from Linux 7 on.
OPTIONAL_MODULES = {"ib_uverbs_support"}
RDMA_MODULES = ["ib_core", "ib_uverbs_support", "ib_uverbs", "ib_umad", "ib_mthca"]
NETWORK_MODULES = ["failover", "net_failover", "virtio_net"]
# Connections by IP address (librdmacm), and IP over InfiniBand.
CM_MODULES = ["ib_cm", "iw_cm", "configfs", "rdma_cm", "rdma_ucm", "ib_ipoib"]
RDMA_TOOLS = [
    "ibv_devinfo",
    "ibv_devices",
    *(f"ibv_{kind}_pingpong" for kind in ("rc", "uc", "ud", "srq")),
    *(f"ib_{verb}_{what}" for verb in ("write", "read", "send", "atomic") for what in ("bw", "lat")),
]
SUBNET_TOOLS = ["opensm", "ibnetdiscover", "smpquery", "ibstat", "perfquery", "ibqueryerrors", "saquery"]
CM_TOOLS = ["rping", "rstream"]

INITTAB = """\
::sysinit:/etc/rc
::respawn:-/bin/cttyhack /bin/sh -l
::ctrlaltdel:/bin/reboot
"""

# init starts the shell with a session of its own; cttyhack gives it the terminal behind /dev/console.
RC = """\
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox --install -s /bin
[ -x /job/start ] && exec /job/start
echo "Linux $(uname -r) on $(uname -m): a busybox shell; poweroff ends it"
"""

LOAD = "#!/bin/busybox sh\nfor m in $(cat /lib/modules/order); do insmod /lib/modules/$m.ko; done\n"

LOAD_GPUS = """\
#!/bin/busybox sh
for m in $(cat /lib/modules/gpu_order); do insmod /lib/modules/$m.ko; done
echo fab0 1f10 > /sys/bus/pci/drivers/uio_pci_generic/new_id
echo ${1:-32} > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
"""

LOAD_RDMA = """\
#!/bin/busybox sh
ip link set lo up
for m in $(cat /lib/modules/rdma_order); do
    if [ $m = ib_mthca ]; then insmod /lib/modules/$m.ko "$@"; else insmod /lib/modules/$m.ko; fi
done
"""

LOAD_PEER_MEMORY = "#!/bin/busybox sh\ninsmod /lib/modules/peer_memory.ko\n"

LOAD_NETWORK = """\
#!/bin/busybox sh
ip link set lo up
for m in $(cat /lib/modules/network_order); do insmod /lib/modules/$m.ko; done
ip addr add $1/24 dev eth0 && ip link set eth0 up
"""

LOAD_IPOIB = """\
#!/bin/busybox sh
for m in $(cat /lib/modules/ipoib_order); do insmod /lib/modules/$m.ko; done
ip addr add $1/24 dev ib0 && ip link set ib0 up
"""

# Names for lspci, of what our machines have.
PCI_IDS = """\
15b3  Mellanox Technologies
\t6274  MT25204 [InfiniHost III Lx HCA]
1af4  Virtio
\t1041  network device
\t1042  block device
fab0  FabricVP
\t1050  PCIe switch, upstream port
\t1051  PCIe switch, downstream port
\t1052  PCIe root port
\t1f00  Copy engine
\t1f10  GPU
C 01  Mass storage controller
\t00  SCSI storage controller
C 02  Network controller
\t00  Ethernet controller
C 03  Display controller
\t02  3D controller
C 06  Bridge
\t04  PCI bridge
C 08  Generic system peripheral
\t80  System peripheral
C 0c  Serial bus controller
\t06  InfiniBand
"""

PROFILE = "cd /\nexport HOME=/ PATH=/bin PS1='~ # '\n"


def record(number, name, mode, data=b"", device=(0, 0), links=1):
    header = "070701" + "".join(
        f"{field:08x}" for field in (number, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(name) + 1, 0)
    )
    head = header.encode() + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def needed(program):
    """Names of the shared libraries that an ELF64 file asks for, and of its interpreter."""
    (offset,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    segments = [struct.unpack_from("<IIQQQQ", program, offset + i * size) for i in range(count)]
    names, dynamic = [], {}

    def file_offset(address):
        return next(o + address - a for kind, _, o, a, _, length in segments if kind == 1 and a <= address < a + length)

    def text(at):
        return program[at : program.index(b"\0", at)].decode()

    for kind, _, at, _, _, length in segments:
        if kind == 3:
            names.append(pathlib.PurePosixPath(text(at)).name)
        if kind == 2:
            for entry in range(at, at + length, 16):
                tag, value = struct.unpack_from("<QQ", program, entry)
                dynamic.setdefault(tag, []).append(value)
    strings = dynamic.get(5)
    return names + [text(file_offset(strings[0]) + value) for value in dynamic.get(1, [])]


def libraries(root, program):
    """Contents of all libraries that a program needs, by name."""
    found, asked = {}, needed(program)
    while asked:
        name = asked.pop()
        if name in found:
            continue
        path = next((p for p in sorted(root.glob(f"usr/lib/**/{name}")) if p.exists()), None)
        if path is None:
            sys.exit(f"initramfs: {name}, which a program needs, is not in {root}")
        found[name] = path.read_bytes()
        asked += needed(found[name])
    return found


def kernel_module(root, name):
    for path in root.glob(f"usr/lib/modules/*/kernel/**/{name}.ko*"):
        data = path.read_bytes()
        return lzma.decompress(data) if path.suffix == ".xz" else data
    return None


def stripped(module):
    """A module without the symbols that loading does not need: a tenth of the time. Without a tool for it, as it
    is."""
    tool = next(filter(None, map(shutil.which, ("riscv64-linux-gnu-objcopy", "riscv64-unknown-elf-objcopy"))), None)
    if not tool:
        return module
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "module.ko"
        file.write_bytes(module)
        subprocess.run([tool, "--strip-unneeded", file], check=True)
        return file.read_bytes()


def rdma_entries(root, files):
    """Modules, tools, libraries of RDMA, programs and modules beside them, and what tells libibverbs of its driver."""
    files = [file for file in files if file.exists()]
    programs = [file for file in files if file.suffix != ".ko"]
    own_modules = {file.stem: file.read_bytes() for file in files if file.suffix == ".ko"}
    (provider,) = root.glob("usr/lib/*/libibverbs/libmthca-rdmav*.so")
    tools = {name: next(root.glob(f"usr/*bin/{name}")).read_bytes() for name in RDMA_TOOLS + SUBNET_TOOLS + CM_TOOLS}
    tools |= {program.name: program.read_bytes() for program in programs}
    found = libraries(root, provider.read_bytes())
    for program in tools.values():
        found |= libraries(root, program)
    # pthread_exit() loads it when a thread ends.
    found["libgcc_s.so.1"] = next(root.glob("usr/lib/*/libgcc_s.so.1")).read_bytes()
    orders = {"rdma": RDMA_MODULES, "network": NETWORK_MODULES, "ipoib": CM_MODULES}
    modules = {name: kernel_module(root, name) for order in orders.values() for name in order}
    for name in [name for name in OPTIONAL_MODULES if modules[name] is None]:
        del modules[name]
    orders = {kind: [name for name in order if name in modules] for kind, order in orders.items()}
    modules |= own_modules
    if missing := [name for name, data in modules.items() if data is None]:
        sys.exit(f"initramfs: the kernel has no modules {', '.join(missing)}")
    folder = provider.relative_to(root).parent
    parents = [*reversed(folder.parents)][1:] + [
        folder,
        *map(pathlib.PurePosixPath, ("etc/libibverbs.d", "var", "var/cache", "var/cache/opensm", "var/log")),
    ]
    yield from ((str(parent), stat.S_IFDIR | 0o755, b"", (0, 0)) for parent in parents)
    yield f"{folder}/{provider.name}", stat.S_IFREG | 0o755, provider.read_bytes(), (0, 0)
    yield "etc/libibverbs.d/mthca.driver", stat.S_IFREG | 0o644, b"driver mthca\n", (0, 0)
    yield "bin/rdma", stat.S_IFREG | 0o755, LOAD_RDMA.encode(), (0, 0)
    yield "bin/ipoib", stat.S_IFREG | 0o755, LOAD_IPOIB.encode(), (0, 0)
    if "peer_memory" in own_modules:
        yield "bin/peer_memory", stat.S_IFREG | 0o755, LOAD_PEER_MEMORY.encode(), (0, 0)
    yield "bin/network", stat.S_IFREG | 0o755, LOAD_NETWORK.encode(), (0, 0)
    yield from (
        (f"lib/modules/{name}_order", stat.S_IFREG | 0o644, "".join(f"{m}\n" for m in order).encode(), (0, 0))
        for name, order in orders.items()
    )
    yield from ((f"bin/{name}", stat.S_IFREG | 0o755, data, (0, 0)) for name, data in tools.items())
    yield from ((f"lib/{name}", stat.S_IFREG | 0o755, data, (0, 0)) for name, data in sorted(found.items()))
    yield from (
        (f"lib/modules/{name}.ko", stat.S_IFREG | 0o644, stripped(data), (0, 0)) for name, data in modules.items()
    )


def main(root, output, wanted="", *programs):
    root = pathlib.Path(root)
    program = (root / "usr/bin/busybox").read_bytes()
    lspci = (root / "usr/bin/lspci").read_bytes()
    folders = (
        "bin",
        "dev",
        "etc",
        "lib",
        "lib/modules",
        "mnt",
        "proc",
        "sys",
        "tmp",
        "root",
        "usr",
        "usr/share",
        "usr/share/misc",
    )
    entries = [(folder, stat.S_IFDIR | 0o755, b"", (0, 0)) for folder in folders]
    entries += [
        ("dev/console", stat.S_IFCHR | 0o600, b"", (5, 1)),
        ("dev/null", stat.S_IFCHR | 0o666, b"", (1, 3)),
        ("bin/busybox", stat.S_IFREG | 0o755, program, (0, 0)),
        ("bin/sh", stat.S_IFLNK | 0o777, b"busybox", (0, 0)),
        ("bin/modules", stat.S_IFREG | 0o755, LOAD.encode(), (0, 0)),
        ("bin/lspci-full", stat.S_IFREG | 0o755, lspci, (0, 0)),  # busybox has a small one of the short name
        ("init", stat.S_IFLNK | 0o777, b"bin/busybox", (0, 0)),
        ("etc/inittab", stat.S_IFREG | 0o644, INITTAB.encode(), (0, 0)),
        ("etc/rc", stat.S_IFREG | 0o755, RC.encode(), (0, 0)),
        ("usr/share/misc/pci.ids", stat.S_IFREG | 0o644, PCI_IDS.encode(), (0, 0)),
        ("etc/profile", stat.S_IFREG | 0o644, PROFILE.encode(), (0, 0)),
    ]
    entries += [
        (f"lib/{name}", stat.S_IFREG | 0o755, data, (0, 0)) for name, data in sorted(libraries(root, lspci).items())
    ]
    modules = {name: data for name in MODULES if (data := kernel_module(root, name)) is not None}
    entries += [(f"lib/modules/{name}.ko", stat.S_IFREG | 0o644, data, (0, 0)) for name, data in modules.items()]
    entries += [("lib/modules/order", stat.S_IFREG | 0o644, "".join(f"{name}\n" for name in modules).encode(), (0, 0))]
    gpu_modules = {name: data for name in GPU_MODULES if (data := kernel_module(root, name)) is not None}
    if len(gpu_modules) == len(GPU_MODULES):
        entries += [
            ("bin/gpus", stat.S_IFREG | 0o755, LOAD_GPUS.encode(), (0, 0)),
            ("lib/modules/gpu_order", stat.S_IFREG | 0o644, "".join(f"{n}\n" for n in GPU_MODULES).encode(), (0, 0)),
        ]
        entries += [
            (f"lib/modules/{name}.ko", stat.S_IFREG | 0o644, stripped(data), (0, 0))
            for name, data in gpu_modules.items()
        ]
    if wanted == "rdma":
        names = {name for name, *_ in entries}
        entries += [entry for entry in rdma_entries(root, map(pathlib.Path, programs)) if entry[0] not in names]
    archive = b"".join(record(number, *entry) for number, entry in enumerate(entries, 1))
    archive += record(0, "TRAILER!!!", 0)
    with open(output, "wb") as file:
        file.write(archive + b"\0" * (-len(archive) % 512))


if __name__ == "__main__":
    main(*sys.argv[1:])
