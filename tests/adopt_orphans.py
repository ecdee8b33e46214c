"""Run a command as `python adopt_orphans.py REPORT_DESCRIPTOR COMMAND…` and report which processes it leaves.

Orphans of the command become children of this process, so that they can be told from those of others.
The report has a line with the command's process number, one with its largest resident set in KiB, and one for
each process that is left.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import IO

_PR_SET_CHILD_SUBREAPER = 36
#: Orphans that end within this time were only on their way out.
_PATIENCE_S = 5


def main(report: IO[str], command: list[str]) -> int:
    """Return the command's exit code, as a shell gives it."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot adopt orphans")
    child = os.posix_spawn(command[0], command, os.environ)
    print(child, file=report, flush=True)
    _, status, used = os.wait4(child, 0)
    print(used.ru_maxrss, file=report)
    _wait_for_orphans()
    for pid in _children():
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
        print(f"process {line.decode(errors='replace')!r:.200}", file=report)
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _wait_for_orphans() -> None:
    def give_up(_number: int, _frame: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_PATIENCE_S)
    try:
        while True:
            os.wait()
    except (ChildProcessError, TimeoutError):
        signal.alarm(0)


def _children() -> list[int]:
    text = Path("/proc/thread-self/children").read_text(encoding="ascii")
    return [int(pid) for pid in text.split()]


if __name__ == "__main__":
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    with os.fdopen(descriptor, "w", encoding="utf-8") as own_report:
        own_code = main(own_report, sys.argv[2:])
    sys.exit(own_code)
