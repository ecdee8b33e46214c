"""Start a fork server: the jail's zygote, or Deno's launcher.

From the standard library alone, so that it can boot while the host still imports the rest.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Sequence

from scorewright.domain.errors import SandboxUnavailableError

#: All that a zygote's environment holds, with the seed of hashes: no variable of ours, so no secret, can be found in it.
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
ZYGOTE = "scorewright.runners.jail.zygote"
DENO_LAUNCHER = "scorewright.runners.deno.launcher"
READER = "scorewright.runners.reader.zygote"
_PACKAGES = ("scorewright", "msgspec", "time_machine", "tzdata")
#: What parses author sources; the standard library parses Python.
_READER_PACKAGES = (
    *("scorewright", "msgspec"),
    *("tree_sitter", "tree_sitter_javascript", "tree_sitter_typescript"),
)
_POLICY_PACKAGES = {"": (), "restricted": ("RestrictedPython",)}


class LaunchedZygote:
    """A fork server that was started, and the host's end of its control socket."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self.process = process
        self.control = control


def launch_zygote(
    *,
    omitted: frozenset[str] = frozenset(),
    prefix: Sequence[str] = (),
    policy: str = "",
    hash_seed: int = 0,
) -> LaunchedZygote:
    """Start the jail's zygote without waiting for it.

    Args:
        omitted: Layers to leave out (negative control only).
        prefix: Command to start it through (tests only).
        policy: What its workers shall be able to narrow the language to (`protocol.Policy`).
        hash_seed: What the hashes of texts are made with; 0 but for the purity check.

    Raises:
        SandboxUnavailableError: Not on Linux, or a package is missing.
    """
    folders = _import_paths((*_PACKAGES, *_POLICY_PACKAGES[policy]))
    return _launch(_program(ZYGOTE, policy), folders, omitted, prefix, hash_seed)


def launch_deno(
    *, omitted: frozenset[str] = frozenset(), prefix: Sequence[str] = ()
) -> LaunchedZygote:
    """Start the launcher of jailed Deno processes without waiting for it.

    Args:
        omitted: As for `launch_zygote`.
        prefix: As for `launch_zygote`.

    Raises:
        SandboxUnavailableError: Not on Linux, or a package is missing.
    """
    return _launch(_program(DENO_LAUNCHER, _find_deno()), _import_paths(), omitted, prefix)


def launch_reader(
    *, omitted: frozenset[str] = frozenset(), prefix: Sequence[str] = ()
) -> LaunchedZygote:
    """Start the zygote of what reads author sources without waiting for it.

    Args:
        omitted: As for `launch_zygote`.
        prefix: As for `launch_zygote`.

    Raises:
        SandboxUnavailableError: Not on Linux, or a package is missing.
    """
    folders = _import_paths(_READER_PACKAGES)
    return _launch(_DEEPEN + _program(READER, ""), folders, omitted, prefix)


def start_unjailed_reader() -> subprocess.Popen[bytes]:
    """Start a process that reads one author's source, asked for at its standard input.

    Raises:
        SandboxUnavailableError: A package is missing.
    """
    folders = _import_paths(_READER_PACKAGES)
    program = (
        _DEEPEN
        + "sys.path += sys.argv[1:]; from scorewright.runners.reader.plain import main; main()"
    )
    return subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [*_python(), "-c", program, *folders],
        cwd="/",
        env={**_ENVIRONMENT, "PYTHONHASHSEED": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


#: The parser of scripts goes deep, and a stack grows no further than it was allowed to when its program began.
READER_STACK_BYTES = 320 << 20
_DEEPEN = (
    "import os, resource, sys; "
    "_, most = resource.getrlimit(resource.RLIMIT_STACK); "
    f"deep = {READER_STACK_BYTES} if most < 0 else min({READER_STACK_BYTES}, most); "
    "resource.getrlimit(resource.RLIMIT_STACK)[0] == deep or "
    "(resource.setrlimit(resource.RLIMIT_STACK, (deep, most)), "
    "os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])); "
)


def _python() -> list[str]:
    return [sys.executable, "-s", "-P", "-S", *(["-B"] if sys.dont_write_bytecode else [])]


def _program(module: str, further: str) -> str:
    return (
        "import sys; sys.path += sys.argv[3:]; "
        f"from {module} import main; main(int(sys.argv[1]), sys.argv[2], {further!r})"
    )


def _launch(
    program: str,
    folders: Sequence[str],
    omitted: frozenset[str],
    prefix: Sequence[str],
    hash_seed: int = 0,
) -> LaunchedZygote:
    if sys.platform != "linux":
        raise SandboxUnavailableError(
            "the jail needs Linux; run code you trust with --runner local"
        )
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    arguments = ["-c", program, str(far.fileno()), ",".join(sorted(omitted)), *folders]
    with far:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and program
            [*prefix, *_python(), *arguments],
            pass_fds=[far.fileno()],
            cwd="/",
            env={**_ENVIRONMENT, "PYTHONHASHSEED": str(hash_seed)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C in the terminal is for the host to act on
        )
    return LaunchedZygote(process, near)


def _find_deno() -> str:
    """Return the path of the binary that the package `deno` brings."""
    try:
        import deno

        return deno.find_deno_bin()
    except (ImportError, FileNotFoundError):
        raise SandboxUnavailableError(
            "sandbox: JavaScript needs Deno, which is not installed: pip install deno"
        ) from None


def _import_paths(packages: Sequence[str] = _PACKAGES) -> list[str]:
    """Return the folders that hold this package and what a worker needs: a zygote runs without `site`."""
    folders: list[str] = []
    for name in packages:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SandboxUnavailableError(
                f"sandbox: the package {name} is not installed: pip install {name}"
            )
        folder = os.path.dirname(os.path.dirname(spec.origin))
        if folder not in folders:
            folders.append(folder)
    return folders
