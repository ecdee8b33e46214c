"""Code that wants to start, signal or end processes, or to break its own."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import Expect, Probe
from scorewright.runners.probes.python.source import attempting, evaluating

_FAMILY: Final = "process"


def _refused(name: str, steps: str) -> Probe:
    return Probe(name, _FAMILY, attempting(steps), Expect.REFUSED)


def _dies(name: str, body: str) -> Probe:
    return Probe(name, _FAMILY, evaluating(body), Expect.DIES)


def _fails(name: str, body: str) -> Probe:
    return Probe(name, _FAMILY, evaluating(body), Expect.FAILS)


PROBES: Final = (
    _refused("fork", "[os.fork() for _ in range(100)]"),
    _refused("thread", "import threading\nthreading.Thread(target=print).start()"),
    _refused("thread, from below", "import _thread\nreturn _thread.start_new_thread(print, ())"),
    _refused(
        "pool of threads", "import concurrent.futures as f\nf.ThreadPoolExecutor().submit(print)"
    ),
    _refused(
        "watchdog thread of faulthandler",
        "import faulthandler\nfaulthandler.dump_traceback_later(1, file=1)",
    ),
    _refused("subprocess", '__import__("subprocess").run(["/bin/id"])'),
    _refused(
        "shell",
        """
        if os.system("id"):
            raise PermissionError("no shell came up")
        """,
    ),
    _refused("posix_spawn", 'os.posix_spawn("/bin/id", ["id"], {})'),
    _refused(
        "multiprocessing",
        'import multiprocessing as m\nm.get_context("fork").Process(target=print).start()',
    ),
    _refused("pseudo terminal", "__import__('pty').fork()"),
    Probe("execv", _FAMILY, attempting('os.execv("/bin/sh", ["sh"])'), Expect.KILLED),
    _refused("copy a descriptor", "[os.dup(3) for _ in range(10000)]"),
    _refused("pipe", "os.pipe()"),
    _refused("memory file", 'os.memfd_create("x")'),
    _refused("kill itself", "os.kill(os.getpid(), 9)"),
    _refused("raise a signal", "__import__('signal').raise_signal(9)"),
    Probe(
        "signal its parent, its group, everybody",
        _FAMILY,
        attempting(
            """
            refused = 0
            for pid in (os.getppid(), 0, -1, 1, 2):
                try:
                    os.kill(pid, 0)
                except OSError:
                    refused += 1
            if refused == 5:
                raise PermissionError("all five")
            """
        ),
        Expect.REFUSED,
    ),
    _refused("signal through a descriptor", "__import__('signal').set_wakeup_fd(3)"),
    _refused("lower its own limits", "__import__('resource').setrlimit(7, (4096, 4096))"),
    _refused("another user", "os.setuid(0)"),
    _refused("another priority", "os.nice(1)"),
    _refused("another processor", "os.sched_setaffinity(0, {0})"),
    _dies("end at once", "import os\nos._exit(0)"),
    _fails("sys.exit", "import sys\nsys.exit(3)"),
    _fails("keyboard interrupt", "raise KeyboardInterrupt"),
    _fails("generator exit", "raise GeneratorExit"),
    _fails("exit at exit", "import atexit, os\natexit.register(os._exit, 0)\nraise SystemExit(0)"),
    Probe(
        "exit while loading",
        _FAMILY,
        "import os\nos._exit(0)\n\ndef evaluate(x): pass\n",
        Expect.DIES,
    ),
    _dies("abort", "import os\nos.abort()"),
    _dies("read of address zero", "import ctypes\nctypes.string_at(0)"),
    _dies(
        "write over the interpreter", "import ctypes\nctypes.memset(id(int), 255, 4096)\nint('1')"
    ),
    Probe(
        "alarm without a handler",
        _FAMILY,
        evaluating(
            """
            import signal
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            while True: pass
            """
        ),
        Expect.DIES,
    ),
    Probe(
        "stack that overflows in C",
        _FAMILY,
        evaluating(
            """
            import ctypes
            at = ctypes.c_char * (1 << 20)
            ctypes.memset(ctypes.addressof(at()) - (1 << 26), 0, 1 << 26)
            """
        ),
        Expect.CONTAINED,
    ),
)
