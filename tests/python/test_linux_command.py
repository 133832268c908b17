# SPDX-License-Identifier: Apache-2.0
"""`fabricvp linux`: images go where machines look for them. Nothing is fetched here: kernel and initramfs are given."""

import os

OPENSBI = "/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin"
#: 64 bytes as an uncompressed RISC-V Image begins.
IMAGE = bytes(56) + b"RSC\x05" + bytes(4)


def test_images_of_ones_own_are_found_by_name(command, tmp_path, monkeypatch):
    monkeypatch.setenv("FABRICVP_LINUX", str(tmp_path / "the cache"))
    assert command("linux", "path").stdout.strip() == str(tmp_path / "the cache")
    (tmp_path / "mine").write_bytes(IMAGE)
    (tmp_path / "files").write_bytes(bytes(512))
    done = command("linux", "fetch", "--image", "mine", "--initramfs", "files")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "the cache" / "Image").read_bytes() == IMAGE
    assert (tmp_path / "the cache" / "initramfs_rdma.cpio").stat().st_size == 512
    # As a package is installed: configurations have no build folder beside them.
    configs = tmp_path / "installed" / "configs"
    configs.mkdir(parents=True)
    (configs / "boots.yaml").write_text(
        f"node: {{images: {{firmware: {OPENSBI}, kernel: ../build/linux/Image,"
        " initrd: ../build/linux/initramfs.cpio}}\n"
    )
    monkeypatch.setenv("FABRICVP_CONFIGS", str(configs))
    done = command("run", "boots", "--time", "1 us", "--quiet")
    assert "no such file" not in done.stderr, done.stderr
    os.remove(tmp_path / "the cache" / "Image")
    done = command("run", "boots", "--time", "1 us", "--quiet")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "build/linux/Image: no such file" in done.stderr and "`fabricvp linux fetch`" in done.stderr, done.stderr


def test_what_is_wrong_is_said_in_a_line(command, tmp_path, monkeypatch):
    monkeypatch.setenv("FABRICVP_LINUX", str(tmp_path / "cache"))
    assert "example: fabricvp linux fetch" in command("linux", "--help").stdout
    (tmp_path / "text").write_text("no image " * 20)
    for arguments, said in (
        (["fetch", "--image", "nowhere"], "nowhere: no such file"),
        (["fetch", "--image", "text", "--initramfs", "text"], "no uncompressed RISC-V Image"),
        (["get"], "invalid choice"),
    ):
        done = command("linux", *arguments)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "cache" / "Image").exists()
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("FABRICVP_LINUX", str(tmp_path / "blocked" / "below"))
    done = command("linux", "fetch", "--image", "text", "--initramfs", "text")
    assert done.returncode == 2 and "blocked" in done.stderr and done.stderr.count("\n") == 1, done.stderr
