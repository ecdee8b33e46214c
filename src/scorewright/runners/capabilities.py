"""What each runner can do, in one table: who chooses a runner, and the reference page, read it from here."""

from __future__ import annotations

from typing import Final

import msgspec

from scorewright.domain.source_language import LANGUAGES, Language


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """One runner as operators see it."""

    tier: str
    languages: tuple[Language, ...]
    #: What stands between the code and the machine.
    boundary: str
    #: Whether hostile code is contained.
    contains: bool
    #: Languages for which `auto` takes it.
    automatic_for: tuple[Language, ...] = ()
    #: Who ends an item that takes too long.
    time: str
    #: What bounds the memory.
    memory: str
    #: What the code sees of time and chance.
    clock: str
    #: What it needs to be there.
    needs: str


_PYTHON: Final = ("python",)
_SCRIPTS: Final = ("javascript", "typescript")

CAPABILITIES: Final = (
    Capabilities(
        tier="jail",
        languages=_PYTHON,
        boundary="layers of the kernel around a process that can only compute",
        contains=True,
        automatic_for=_PYTHON,
        time="a timer in the worker, then the host, then the kernel",
        memory="the kernel: `--memory-mb` beyond the interpreter's own",
        clock="stands still; chance is seeded",
        needs="Linux 5.3 with seccomp",
    ),
    Capabilities(
        tier="restricted",
        languages=_PYTHON,
        boundary="the jail; inside it RestrictedPython's language policy, which is no boundary",
        contains=True,
        time="as `jail`",
        memory="as `jail`",
        clock="as `jail`",
        needs="as `jail`, and RestrictedPython",
    ),
    Capabilities(
        tier="deno",
        languages=_SCRIPTS,
        boundary="the language alone, Deno without permissions, and layers of the kernel around it",
        contains=True,
        automatic_for=_SCRIPTS,
        time="the host",
        memory="V8 for its heap, the kernel for all: `--memory-mb` beyond what V8 reserves",
        clock="stands still; chance is seeded",
        needs="Linux 5.3 with seccomp, and Landlock or namespaces",
    ),
    Capabilities(
        tier="remote",
        languages=LANGUAGES,
        boundary="a sandbox at Daytona with its network blocked; what it is made of is the provider's",
        contains=True,
        time="a loop in the sandbox, then the provider",
        memory="the kernel in the sandbox for Python, V8 for the others",
        clock="runs for Python, stands still for the others; chance is seeded",
        needs="an account, a snapshot with Python and, for the others, Node",
    ),
    Capabilities(
        tier="local",
        languages=_PYTHON,
        boundary="none: a process with your own rights, for code you trust",
        contains=False,
        time="a timer in the worker, then the host",
        memory="the kernel: `--memory-mb` beyond the interpreter's own",
        clock="runs, and chance is not seeded",
        needs="POSIX",
    ),
)
"""The strongest for a language stands first."""

BY_TIER: Final = {one.tier: one for one in CAPABILITIES}
