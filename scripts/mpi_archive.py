# SPDX-License-Identifier: Apache-2.0
"""mpi_archive.py ROOT OUTPUT: writes what Open MPI needs (cpio, newc) beside an initramfs with the tools of RDMA, which
stands before it.

ROOT holds unpacked Debian packages. `mpi` makes what Open MPI needs of /dev. `start_ranks NODES [OPTION...] PROGRAM
[ARGUMENT...]` runs a program on node0, node1 …, one rank on each, while the others run `serve_ranks`, which ends with
it. There is no ssh: daemons are started through a TCP port. Ranks exchange data by UCX over verbs."""

import pathlib
import stat
import sys

from initramfs import libraries, record

PROGRAMS = ["mpirun.openmpi", "prterun", "prted"]
#: What programs load by themselves.
UCX_MODULES = ["libuct_ib.so.0"]
#: Messages, and limits of their text.
DATA = ["usr/share/openmpi", "usr/share/prte", "etc/openmpi"]

SET_UP = """\
#!/bin/busybox sh
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
"""

# Memory that PMIx shares between processes has to lie at one address in all of them, which fails: gds=hash.
START_RANKS = """\
#!/bin/busybox sh
export PMIX_MCA_gds=hash PMIX_MCA_pcompress_base_silence_warning=1 PRTE_MCA_plm_ssh_agent=/bin/start_daemon
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_pml=${OMPI_MCA_pml:-ucx} UCX_TLS=${UCX_TLS:-rc_verbs,ud_verbs,self}
nodes=$1
shift
hosts=node0
others=$(seq 1 $((nodes - 1)))
for n in $others; do hosts=$hosts,node$n; done
/usr/bin/mpirun.openmpi --host $hosts -np $nodes -x UCX_TLS "$@" 2>/tmp/errors
status=$?
# What is left out is a race between mpirun and its child, without consequence.
sed '/plm:ssh: Warning: setpgid/d' /tmp/errors >&2
for n in $others; do start_daemon node$n "echo >/tmp/ranks"; done
exit $status
"""

SERVE_RANKS = """\
#!/bin/busybox sh
mkfifo /tmp/ranks
nc -ll -p 514 -e /bin/run_daemon &
read -r line </tmp/ranks
kill $!
rm /tmp/ranks
"""

START_DAEMON = """\
#!/bin/busybox sh
host=$1
shift
until echo "$*" | nc $host 514; do sleep 0.001; done
"""

RUN_DAEMON = """\
#!/bin/busybox sh
read -r line
eval "$line" </dev/null 2>&1
"""

SCRIPTS = {
    "mpi": SET_UP,
    "start_ranks": START_RANKS,
    "serve_ranks": SERVE_RANKS,
    "start_daemon": START_DAEMON,
    "run_daemon": RUN_DAEMON,
}


def entries(root):
    found = {}
    (mpi,) = root.glob("usr/lib/*/libmpi.so.40")
    ucx = {name: (mpi.parent / "ucx" / name).read_bytes() for name in UCX_MODULES}
    programs = {name: (root / "usr/bin" / name).read_bytes() for name in PROGRAMS}
    for data in (mpi.read_bytes(), *programs.values(), *ucx.values()):
        found |= libraries(root, data)
    found[mpi.name] = mpi.read_bytes()
    for folder in ("usr", "usr/bin", "usr/share", "etc", "lib", "lib/ucx"):
        yield folder, stat.S_IFDIR | 0o755, b"", (0, 0)
    for folder in DATA:
        for path in [root / folder, *sorted((root / folder).rglob("*"))]:
            name = str(path.relative_to(root))
            if path.is_dir():
                yield name, stat.S_IFDIR | 0o755, b"", (0, 0)
            elif path.is_file():
                yield name, stat.S_IFREG | 0o644, path.read_bytes(), (0, 0)
    files = {f"usr/bin/{name}": data for name, data in programs.items()}
    files |= {f"bin/{name}": text.encode() for name, text in SCRIPTS.items()}
    files |= {f"lib/{name}": data for name, data in sorted(found.items())}
    files |= {f"lib/ucx/{name}": data for name, data in ucx.items()}
    yield from ((name, stat.S_IFREG | 0o755, data, (0, 0)) for name, data in files.items())


def main(root, output):
    # Numbers of their own: those of the initramfs and of programs' archives are others.
    archive = b"".join(record(number, *entry) for number, entry in enumerate(entries(pathlib.Path(root)), 50_000))
    archive += record(0, "TRAILER!!!", 0)
    pathlib.Path(output).write_bytes(archive + b"\0" * (-len(archive) % 512))


if __name__ == "__main__":
    main(*sys.argv[1:])
