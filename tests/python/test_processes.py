# SPDX-License-Identifier: Apache-2.0
"""Several machines in one program: spawn() and fork()."""

import os
import signal
import socket
import time

import fabricvp
import guests
import pytest
from fabricvp import Outcome


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_machines_side_by_side(machine):
    first, second = machine(guests.HELLO), machine(guests.COUNTS)
    pending = [first.run.start("10 ms"), second.run.start("100 us")]
    assert [p.result().outcome for p in pending] == [Outcome.POWER_OFF, Outcome.TIME_LIMIT]
    assert pending[0].done()
    assert first.pid != second.pid


def test_a_busy_machine_says_so(machine):
    platform = machine(guests.COUNTS)
    pending = platform.run.start("1 s")
    with pytest.raises(RuntimeError, match="busy"):
        platform.run("1 us")
    with pytest.raises(TimeoutError):
        pending.result(timeout=0.01)
    pending.interrupt()
    with pytest.raises(KeyboardInterrupt):
        pending.result(timeout=600)
    assert platform.run("1 us").outcome == Outcome.TIME_LIMIT


def test_an_interrupt_at_any_moment_hits_its_request_alone(machine):
    platform = machine(guests.COUNTS)
    for attempt in range(20):
        pending = platform.run.start()
        time.sleep(attempt * 0.001)
        pending.interrupt()
        with pytest.raises(KeyboardInterrupt):
            pending.result(timeout=600)
        pending = platform.run.start("1 ns")
        assert pending.result().outcome == Outcome.TIME_LIMIT
        pending.interrupt()  # too late: nothing happens


def test_errors_come_back(machine):
    with pytest.raises(fabricvp.InputError, match="hearts"):
        fabricvp.spawn(text="node: {host: {hearts: 2}}")
    with pytest.raises(fabricvp.InputError, match="no such"):
        fabricvp.spawn("/nowhere/machine.yaml")
    with pytest.raises(TypeError):
        fabricvp.spawn()
    platform = machine()
    with pytest.raises(fabricvp.InputError) as caught:
        platform.run("1 parsec")
    assert "in the platform's process" in caught.value.__notes__[0]
    with pytest.raises(AttributeError):
        platform.no_such_thing  # noqa: B018


def test_close_ends_the_process(machine):
    with fabricvp.spawn(text="nodes: 1") as platform:
        pid = platform.pid
        assert alive(pid)
    assert not alive(pid)
    platform.close()
    with pytest.raises(fabricvp.RemoteError):
        platform.run("1 us")


def test_close_ends_a_running_process(machine):
    platform = machine(guests.COUNTS)
    platform.run.start()
    platform.close()
    assert not alive(platform.pid)


def test_a_killed_child_is_reported(machine):
    platform = machine()
    os.kill(platform.pid, signal.SIGKILL)
    with pytest.raises(fabricvp.RemoteError, match="is gone"):
        platform.run("1 ms")


def test_children_end_with_their_parent(run_script, assemble):
    done = run_script(
        """
        import os, sys, fabricvp
        spawned = fabricvp.spawn(text="nodes: 1")
        spawned.load_images(firmware=sys.argv[1])
        spawned.run("1 us")
        forked = spawned.fork()
        print(spawned.pid, forked.pid, flush=True)
        spawned.run.start()
        forked.run.start()
        os.kill(os.getpid(), 9)
        """,
        assemble(guests.COUNTS),
        check=False,
    )
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    end = time.monotonic() + 100
    while any(alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(alive(pid) for pid in pids)


def test_branches_of_a_warm_machine(machine):
    warm = machine(guests.ECHO)
    warm.nodes[0].console.expect("ready> ")
    now = warm.now_ps
    children = [warm.fork() for _ in range(3)]
    try:
        assert len({child.pid for child in children} | {warm.pid}) == 4
        for number, child in enumerate(children):
            assert child.now_ps == now
            child.nodes[0].console.type(f"child {number}\n")
        pending = [child.nodes[0].console.expect.start("ready> ") for child in children]
        for number, p in enumerate(pending):
            assert f"you typed child {number}\n" in p.result().before
        assert warm.now_ps == now and warm.nodes[0].console.output == "ready> "
        assert warm.nodes[0].console.command("parent", "ready> ") == "you typed parent\n"
    finally:
        for child in children:
            child.close()
    assert not any(alive(child.pid) for child in children)


def test_a_branch_continues_exactly(machine):
    """A branch ends where the machine itself ends, bit by bit, and can be branched again."""
    warm = machine(guests.ADDS, node__host__harts=4)
    warm.run("3 us")

    def state(platform):
        platform.run("7 us")
        values = {k: v for k, v in platform.statistics.snapshot().items() if k != "sim.wall_s"}
        return (
            values,
            [list(hart.x) for hart in platform.nodes[0].harts],
            platform.nodes[0].memory.read(0x8000_0000, 8192),
        )

    with warm.fork() as child, child.fork() as grandchild:
        assert state(grandchild) == state(child) == state(warm)


def test_branches_have_memory_of_their_own(machine):
    warm = machine(guests.COUNTS)
    warm.run("10 us")
    total = warm.nodes[0].address_of("total")
    before = warm.nodes[0].memory.read_int(total)
    with warm.fork() as child:
        child.nodes[0].memory.write_int(total, 1)
        child.nodes[0].harts[0].x["s1"] = 10**6
        child.run("10 us")
        assert child.nodes[0].memory.read_int(total) > 10**6
    assert warm.nodes[0].memory.read_int(total) == before


def test_fork_of_this_process(run_script, assemble):
    """In the parent's process: output and exit functions are not doubled, and devices are there in the child."""
    done = run_script(
        """
        import atexit, sys, fabricvp
        atexit.register(lambda: print("at exit"))
        print("before", end=" ")                       # not flushed yet when the process is forked
        platform = fabricvp.Platform.from_text("nodes: 1")
        platform.load_images(firmware=sys.argv[1])

        class Device:
            stored = {}
            def read(self, offset, size):
                return self.stored[offset]
            def write(self, offset, size, value):
                self.stored[offset] = value

        device = platform.nodes[0].add_device(0x2000_0000, 4096, Device())
        platform.run("1 ns")
        with platform.fork() as child:
            assert child.run("10 ms").outcome == "power_off"
        assert Device.stored == {}
        assert platform.run("10 ms").outcome == "power_off"
        assert len(Device.stored) == 4
        print("after")
        """,
        assemble(guests.USES_DEVICE),
    )
    assert done.stdout == "before after\nat exit\n"
    assert done.stderr == ""


def test_a_branch_leaves_sockets_to_the_parent(machine):
    """A console on a socket and a GDB port stay with the machine; a branch neither writes to nor holds them."""
    warm = machine(guests.ECHO)
    console = warm.nodes[0].console
    console.attach("tcp:0")
    gdb = warm.listen_gdb()
    with socket.create_connection(("127.0.0.1", console.port)) as client:
        client.settimeout(100)
        console.expect("ready> ")
        warm.run("1 ms")
        assert client.recv(100) == b"ready> "
        with warm.fork() as child:
            assert child.nodes[0].console.port == 0
            assert child.nodes[0].console.command("child", "ready> ") == "you typed child\n"
            assert console.command("parent", "ready> ") == "you typed parent\n"
            warm.run("1 ms")
            assert client.recv(100) == b"parent\nyou typed parent\nready> "
            warm.close()
            assert client.recv(100) == b""  # no other process holds the connection
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", gdb), timeout=100)
            assert child.run("1 us").outcome == Outcome.TIME_LIMIT


def double(platform, factor):
    return factor * len(platform.nodes[0].harts)


def test_functions_run_in_the_child(machine):
    platform = machine(node__host__harts=2)
    assert platform.call(double, 21) == 42
    with pytest.raises(fabricvp.RemoteError, match="cannot be carried"):
        platform.call(make_a_generator)
    with pytest.raises(ZeroDivisionError):
        platform.call(divide)


def make_a_generator(platform):
    return (n for n in range(3))


def divide(platform):
    return 1 // 0


def test_classes_of_a_script_are_known_in_the_child(run_script, assemble):
    done = run_script(
        """
        import sys, fabricvp

        class Device:
            def __init__(self):
                self.writes = 0
            def read(self, offset, size):
                return 0
            def write(self, offset, size, value):
                self.writes += 1

        if __name__ == "__main__":
            with fabricvp.spawn(text="nodes: 1") as platform:
                platform.load_images(firmware=sys.argv[1])
                device = platform.nodes[0].add_device(0x2000_0000, 4096, Device())
                platform.run("10 ms")
                print(device.object.writes)
        """,
        assemble(guests.USES_DEVICE),
    )
    assert done.stdout == "4\n"


def test_spawn_without_a_main_guard(run_script):
    """The child would begin the script again."""
    done = run_script(
        """
        import fabricvp

        def harts(platform):
            return len(platform.nodes[0].harts)

        platform = fabricvp.spawn(text="nodes: 1")
        print(platform.call(harts))
        """,
        check=False,
    )
    assert done.returncode == 1 and done.stdout == ""
    assert (
        done.stderr.splitlines()[-1]
        == "fabricvp.remote.MissingMainGuard: spawn() is called while a child process imports this script: put what the"
        ' script does under if __name__ == "__main__":'
    )
    assert done.stderr.count("Traceback") == 1


def test_second_platform_in_a_process(run_script):
    run_script("""
        import fabricvp
        try:
            fabricvp.Platform.from_text("nodes: banana")
        except fabricvp.InputError:
            pass                                       # a machine that was not built does not count
        first = fabricvp.Platform.from_text("nodes: 1")
        for make in (lambda: fabricvp.Platform.from_text("nodes: 1"), lambda: fabricvp.Platform.from_config("uboot")):
            try:
                make()
            except RuntimeError as error:
                assert "fabricvp.spawn" in str(error), error
            else:
                raise AssertionError("a second platform was built")
        with fabricvp.spawn(text="nodes: 2") as second:
            assert len(second.nodes) == 2 and len(first.nodes) == 1
        """)


def test_what_a_notebook_defines_travels_by_value(run_script):
    """A notebook's `__main__` has no file that a child could import; scripts keep being imported."""
    run_script(
        """
        import sys, textwrap, types

        source = textwrap.dedent('''
            import fabricvp

            class Found:
                def __init__(self, harts): self.harts = harts

            factor = 3

            def look(platform):
                return Found(factor * len(platform.nodes[0].harts))

            with fabricvp.spawn(text="nodes: 1", node__host__harts=2) as p:
                found = p.call(look)
                assert type(found) is Found and found.harts == 6
                assert p.call(lambda machine, k: k + len(machine.nodes), 4) == 5
                with p.fork() as branch:
                    assert branch.call(look).harts == 6
        ''')
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(source, "<cell>", "exec"), main.__dict__)
        """
    )
    run_script(
        """
        import fabricvp

        class Found:
            pass

        def look(platform):
            return Found()

        if __name__ == "__main__":
            with fabricvp.spawn(text="nodes: 1") as p:
                assert type(p.call(look)) is Found
                assert p.call(lambda machine: len(machine.nodes)) == 1
        """
    )


def test_views_of_dictionaries_are_carried(machine):
    statistics = machine(guests.HELLO).statistics
    assert set(statistics.keys()) == set(statistics.snapshot())
    assert len(statistics.values()) == len(statistics)
    assert {p: v for p, v in statistics.items() if p.startswith("node0.")} == statistics.snapshot("node0.")
    assert all(isinstance(value, float) for value in statistics.values())
