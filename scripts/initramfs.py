# SPDX-License-Identifier: Apache-2.0
"""initramfs.py BUSYBOX OUTPUT: writes a small initramfs (cpio, newc) whose shell runs on the kernel's console.

The shell's prompt is `~ # `; `poweroff` powers off cleanly, `poweroff -f` at once. Folders and device nodes exist in the
archive only, so no privileges are needed.
"""
import stat
import sys

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
echo "Linux $(uname -r) on $(uname -m): a busybox shell; poweroff ends it"
"""

PROFILE = "cd /\nexport HOME=/ PATH=/bin PS1='~ # '\n"


def record(number, name, mode, data=b"", device=(0, 0), links=1):
    header = "070701" + "".join(
        f"{field:08x}"
        for field in (number, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(name) + 1, 0)
    )
    head = header.encode() + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def main(busybox, output):
    with open(busybox, "rb") as file:
        program = file.read()
    entries = [(folder, stat.S_IFDIR | 0o755, b"", (0, 0)) for folder in ("bin", "dev", "etc", "proc", "sys", "tmp", "root")]
    entries += [
        ("dev/console", stat.S_IFCHR | 0o600, b"", (5, 1)),
        ("dev/null", stat.S_IFCHR | 0o666, b"", (1, 3)),
        ("bin/busybox", stat.S_IFREG | 0o755, program, (0, 0)),
        ("bin/sh", stat.S_IFLNK | 0o777, b"busybox", (0, 0)),
        ("init", stat.S_IFLNK | 0o777, b"bin/busybox", (0, 0)),
        ("etc/inittab", stat.S_IFREG | 0o644, INITTAB.encode(), (0, 0)),
        ("etc/rc", stat.S_IFREG | 0o755, RC.encode(), (0, 0)),
        ("etc/profile", stat.S_IFREG | 0o644, PROFILE.encode(), (0, 0)),
    ]
    archive = b"".join(record(number, *entry) for number, entry in enumerate(entries, 1))
    archive += record(0, "TRAILER!!!", 0)
    with open(output, "wb") as file:
        file.write(archive + b"\0" * (-len(archive) % 512))


if __name__ == "__main__":
    main(*sys.argv[1:])
