# SPDX-License-Identifier: Apache-2.0
"""Machines with Linux from Python: program after program on one that is booted, and on branches of it; files that come
back, and what a guest may put into them."""

import io
import os
import tarfile
from pathlib import Path

import fabricvp
import opencl_machine
import pytest
from fabricvp import AddressError, ExpectTimeout, InputError, linux_files
from fabricvp.compiler import linux_program
from test_linux_gpu import WITH_CROSS_TOOLS, WITH_IMAGES

opencl_machine.require_compiler()

HERE = Path(__file__).parent
STARTS = int(os.environ.get("FABRICVP_PROGRAM_STARTS", "20"))  # 1,000 in `make test-deep PARTS=linux`
SEVERAL = ("main.cpp", "scale.hip", "shift.cu", "devices.c")


def elements(linux, program, n):
    return {"printed": linux.run(program, str(n), "2.5").stdout}


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_points_of_a_sweep_branch_from_one_booted_machine(programs):
    options = {"warm_up": fabricvp.boot_linux, "function": elements, "grid": {"n": [10, 1000]}, "progress": False}
    points = [{"program": str(programs / "saxpy")}]
    branched = fabricvp.sweep("linux_gpu", points=points, **options)
    assert [*branched["outcome"]] == ["ok", "ok"] and branched["branched"].all(), [*branched["log"]]
    assert [int(text.split()[0]) for text in branched["printed"]] == [10, 1000]
    alone = fabricvp.sweep("linux_gpu", points=points, branch=False, **options)
    assert branched["printed"].equals(alone["printed"]) and not alone["branched"].any()
    assert branched["sim.time_s"].equals(alone["sim.time_s"])


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_programs_on_one_machine_and_on_branches(programs, tmp_path):
    saxpy, misuse = programs / "saxpy", programs / "linux_gpu_misuse"
    (tmp_path / "data.txt").write_text("in a file\n")
    with fabricvp.linux() as linux:
        result = linux.run(saxpy, "1000", "2.5")
        assert (result.returncode, result.files) == (0, {}), result
        assert result.stdout.startswith("1000 elements, 0 wrong, y[999] = 4495.5, "), result
        assert linux.run(saxpy).returncode == 2
        result = linux.run(misuse, "echo", "two words", files=[tmp_path / "data.txt"], environment={"WORD": "a b"})
        assert result.stdout == "<two words>\na b\nin a file\n"
        # Files that it wrote, not those that it was given; each run has a folder of its own.
        result = linux.run(misuse, "write", "100000", files=[tmp_path / "data.txt"], collect=["*.bin", "*.txt"])
        assert {name: len(data) for name, data in result.files.items()} == {
            "a b.txt": 2,
            "deep/er/100000.bin": 100_000,
            "other.bin": 5,
        }
        assert linux.run(misuse, "echo", collect=["*"]).files == {}
        with pytest.raises(InputError, match="more than 67108864 bytes"):
            linux.run(misuse, "write", "80000000", collect=["*"])
        # A branch leaves this machine as it was; two of them are two machines.
        before = linux.platform.now
        assert "it waits" in linux.fork().run(misuse, "leave").stdout
        with linux.fork() as one, linux.fork() as other:
            with pytest.raises(ExpectTimeout):
                one.run(misuse, "forever", time="20 ms")
            assert other.run(misuse, "write", "7", collect=["deep/*"]).files == {"deep/er/7.bin": b"xxxxxxx"}
        assert linux.run(saxpy, "1000", "2.5", fork=True).returncode == 0 and linux.platform.now == before
        # What a program leaves does not keep the next from the GPU.
        assert linux.run(misuse, "touch").returncode == 139
        assert linux.run(saxpy, "1000", "2.5").returncode == 0
        with pytest.raises(InputError, match="no program"):
            linux.run(tmp_path / "data.txt")
        with pytest.raises(InputError, match="variable 'a b'"):
            linux.run(saxpy, environment={"a b": ""})


def built(folder: Path, name: str, *sources: Path) -> Path:
    """A program of sources, by the command's own function."""
    texts = {str(source): source.read_text() for source in sources}
    (folder / name).write_bytes(linux_program.build_linux(texts, linux_program.Options.of()))
    return folder / name


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_programs_with_what_hosts_do(tmp_path):
    several = built(tmp_path, "several", *(HERE / "linux_gpu_several" / name for name in SEVERAL))
    symbols = built(tmp_path, "symbols", HERE / "linux_gpu_symbols.hip")
    more = built(tmp_path, "more", HERE / "linux_gpu_more.hip")
    with fabricvp.linux() as linux:
        assert linux.run(several).stdout == "45 45, 4 blocks, 1\n"
        assert linux.run(symbols).stdout == "0 wrong\n"
        for what in ("attributes", "graphs", "rows"):
            assert linux.run(more, what).stdout == "0 wrong\n"
        result = linux.run(more, "managed")
        assert result.stdout.endswith("\n0 wrong\n") and "gpu0 fault: unmapped" in result.stdout, result
        # A callback tells of the fault before it, and a function is not called then.
        result = linux.run(more, "functions")
        assert result.stdout.endswith("\nf2c0e700\n0 wrong\n") and "bad aperture" in result.stdout, result
        result = linux.run(more, "texts")
        line = "[   -7|9   |0abc|1099511627776|{}|1.234e+03|z|text|0x1234|    42|%|44]\n"
        texts = f"before\n{line.format('2.50')}between\n{line.format('-10000000000.00')}(not a literal)\n"
        assert result.stdout.startswith(texts) and result.stdout.endswith("\n0 wrong\n"), result
        assert "void claim(int): assertion 'n == 1' failed (block 0,0,0, thread 0,0,0)\n" in result.stdout, result


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_programs_in_the_manner_of_public_ones(tmp_path):
    """What CUDA programs of benchmark suites do: deprecated calls, casts to void**, kernels in a source that another
    includes, flags that stop loops, tiles with borders, constants, files."""
    (tmp_path / "power.txt").write_text("".join(f"{i % 11 / 10}\n" for i in range(40 * 40)))
    traverse, heat, layers = (
        built(tmp_path, name, HERE / "linux_gpu_idioms" / f"{name}.cu") for name in ("traverse", "heat", "layers")
    )
    with fabricvp.linux() as linux:
        assert linux.run(traverse, "2000").stdout == "Kernel Executed 9 times, right\n"
        assert linux.run(layers, "64").stdout == "right\n"
        files = {"files": [tmp_path / "power.txt"], "collect": ["*.txt"]}
        result = linux.run(heat, "40", "2", "6", "power.txt", "out.txt", **files)
        assert result.stdout == "right\n" and [*result.files] == ["out.txt"], result
        assert len(result.files["out.txt"].splitlines()) == 1600


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_programs_for_earlier_versions_of_cuda(tmp_path, command):
    folder = HERE / "linux_gpu_idioms"
    sources = [folder / name for name in ("textures.cu", "inner/part.cu", "undeclared.c")]
    done = command("cc", "-I", folder, *sources, "-o", "textures")
    assert done.returncode == 0, done.stderr
    with fabricvp.linux() as linux:
        assert linux.run(tmp_path / "textures").stdout == "0 wrong\n"


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_an_opencl_program_of_bare_metal(tmp_path, command):
    """The example, as it stands."""
    examples = HERE.parents[1] / "examples"
    assert command("cc", examples / "kernels" / "spmv.cl", "-o", "spmv.elf").returncode == 0
    source = examples / "host_programs" / "spmv_opencl.c"
    done = command("cc", "--target", "linux", source, "-o", "spmv")
    assert done.returncode == 0, done.stderr
    done = command("run", "linux_gpu", "--program", "spmv", "--file", "spmv.elf")
    assert done.returncode == 0 and done.stdout.endswith("the result is right\n"), done.stdout + done.stderr
    (tmp_path / "image.c").write_text("#include <CL/cl.h>\nint main(void) { return clSVMAlloc(0) != 0; }\n")
    done = command("cc", "--target", "linux", "image.c", "-o", "image")
    assert (done.returncode, done.stderr) == (2, "fabricvp cc: undefined: clSVMAlloc\n")


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_several_programs_at_the_same_time(programs, command):
    saxpy, misuse = programs / "saxpy", programs / "linux_gpu_misuse"
    done = command("run", "linux_gpu", "--program", saxpy, "--program", saxpy, "--", "1000", "2.5")
    assert done.stdout.count("1000 elements, 0 wrong, y[999] = 4495.5") == 2, done.stdout + done.stderr
    assert done.returncode == 0, done
    # The first status in their order, whatever ends first: that of a signal, and saxpy's, which needs two arguments.
    done = command("run", "linux_gpu", "--program", misuse, "--program", saxpy, "--", "touch")
    assert done.returncode == 139, done


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_programs_in_the_manner_of_hipcc(command, tmp_path):
    """Kernels in a file of C++, HIP's own names, pinned memory as memory of the device; a file at a place of its own,
    and what kernels read beside their arrays."""
    source, data = HERE / "linux_gpu_hipcc.cpp", tmp_path / "data.txt"
    data.write_text("in its place\n")
    done = command("cc", "-x", "hip", "--target", "linux", source, "-o", "hipcc")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    with fabricvp.linux() as linux:
        given = {"files": [f"{data}=/srv/there/data.txt"], "fork": True}
        result = linux.run(tmp_path / "hipcc", "/srv/there/data.txt", **given)
        fault = "before it: a kernel used an address that is not there\n"
        assert result.returncode == 0 and fault in result.stdout, result
        assert result.stdout.startswith("bus 4 device 0 domain 0\n"), result
        assert result.stdout.endswith("in its place\n0 wrong\n"), result
        result = linux.run(tmp_path / "hipcc", **given, environment={"FABRICVP_MARGIN": "1024"})
        assert result.stdout == "bus 4 device 0 domain 0\nbefore it: no error\n0 wrong\n", result
        for bad in ("1048577", "-1", "a page", ""):
            result = linux.run(tmp_path / "hipcc", environment={"FABRICVP_MARGIN": bad}, fork=True)
            said = f"fabricvp: FABRICVP_MARGIN={bad}: must be bytes from 0 to 1048576\n"
            assert result.returncode == 1 and said in result.stdout, result
    run = ("run", "linux_gpu", "--program", "hipcc", "--file", f"{data}=/data.txt", "--", "../../data.txt")
    done = command(*run, timeout=6000)
    assert done.returncode == 0 and done.stdout.endswith("in its place\n0 wrong\n"), done.stdout + done.stderr


@WITH_CROSS_TOOLS
@WITH_IMAGES
@pytest.mark.timeout(40_000)
def test_starts_and_ends_leave_nothing(programs):
    """Programs that end well, with a fault, by a signal, and with a kernel that runs: the machine has its memory and
    huge pages afterwards. In KiB."""
    saxpy, misuse = programs / "saxpy", programs / "linux_gpu_misuse"
    with fabricvp.linux() as linux:

        def memory() -> tuple[int, int]:
            available, huge = linux.run(misuse, "memory").stdout.split()
            return int(available), int(huge)

        def start(number: int) -> None:
            what, status = [("wild", 0), ("touch", 139), ("leave", 0), ("", 0)][number % 4]
            if what:
                assert linux.run(misuse, what).returncode == status
            else:
                assert "1000 elements, 0 wrong" in linux.run(saxpy, "1000", "2.5").stdout

        for number in range(8):
            start(number)
        before = memory()
        for number in range(STARTS):
            start(number)
        after = memory()
    assert before[1] == after[1] == 64 << 10
    assert before[0] - after[0] < 1024, (before, after)


def test_machines_that_cannot(tmp_path):
    with pytest.raises(InputError, match="gpu: a machine that boots no Linux"):
        fabricvp.linux("gpu")


@pytest.mark.timeout(600)
def test_disks(tmp_path):
    image = tmp_path / "image"
    image.write_bytes(b"i" * 1024)
    text = f"""
node:
  pcie:
    endpoints:
      - {{name: blank, below: root, kind: virtio_blk, capacity: 1 MiB}}
      - {{name: kept, below: root, kind: virtio_blk, image: {image}}}
      - {{name: file, below: root, kind: virtio_blk, image: {tmp_path}/other, mode: writable}}
"""
    (tmp_path / "other").write_bytes(b"o" * 512)
    with fabricvp.spawn(text=text) as platform:
        disks = platform.nodes[0].disks
        assert {name: disk.size for name, disk in disks.items()} == {"blank": 1 << 20, "kept": 1024, "file": 512}
        disks["blank"].write(4090, b"across pages")
        with platform.fork() as branch:
            branch.nodes[0].disks["blank"].write(4090, b"ACROSS")
            assert branch.nodes[0].disks["blank"].read(4089, 8) == b"\0ACROSS "
        assert disks["blank"].read(4089, 14) == b"\0across pages\0"
        disks["kept"].write(1, b"xyz")
        assert disks["kept"].read(0, 5) == b"ixyzi" and image.read_bytes() == b"i" * 1024
        disks["file"].write(0, bytearray(b"xyz"))
        assert (tmp_path / "other").read_bytes() == b"xyz" + b"o" * 509
        for offset, size in ((1000, 25), (-1, 1), (2000, 0)):
            with pytest.raises(AddressError, match="has 1024 bytes"):
                disks["kept"].read(offset, size)


class Disk:
    """Stands for a disk with an archive on it."""

    def __init__(self, data: bytes):
        self.data, self.size = data, len(data)

    def read(self, offset: int, size: int) -> bytes:
        return self.data[offset : offset + size]


def archive(*members) -> Disk:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, data, *kind in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            if kind:
                member.type, member.linkname, member.size = kind[0], "/etc/passwd", 0
            tar.addfile(member, io.BytesIO(data))
    return Disk(made.getvalue())


@pytest.mark.parametrize("name", ["/etc/passwd", "../out", "a/../../out", "a//b", "..", "a\nb", "a\x1bb", "a\\b"])
def test_names_that_lead_elsewhere_are_refused(name):
    with pytest.raises(InputError, match="has a name that is none here"):
        linux_files.collected(archive(("fine", b"1"), (name, b"2")), 1)


def test_what_guests_may_put_into_the_archive(tmp_path):
    disk = archive(("./a/b", b"1"), ("link", b"", tarfile.SYMTYPE), ("hard", b"", tarfile.LNKTYPE), ("c", b"22"))
    assert linux_files.collected(disk, 1) == {"a/b": b"1", "c": b"22"}
    assert linux_files.collected(disk, 0) == {}
    with pytest.raises(InputError, match="ends inside of|malformed"):
        linux_files.collected(Disk(archive(("a", b"1" * 5000)).data[:3000]), 1)
    with pytest.raises(InputError, match="malformed"):
        linux_files.collected(Disk(b"no archive" * 1000), 1)
    linux_files.place(tmp_path / "o", {"a/b": b"1", "c": b"22"})
    assert (tmp_path / "o/a/b").read_bytes() == b"1"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "o/out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "o/file").symlink_to(tmp_path / "elsewhere/file")
    for name in ("out/x", "file"):
        with pytest.raises(InputError, match="a link leads out of"):
            linux_files.place(tmp_path / "o", {name: b"1"})
    assert not list((tmp_path / "elsewhere").iterdir())
    with pytest.raises(InputError, match="cannot be written"):
        linux_files.place(tmp_path / "o", {"c/d": b"1"})
    assert Path(tmp_path / "o/c").read_bytes() == b"22"
