"""Code that looks for the file system."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import Expect, Probe
from scorewright.runners.probes.python.source import attempting

_FAMILY: Final = "files"
#: Nothing is there, and nothing is left there.
_PATH: Final = "/tmp/scorewright-probe"  # noqa: S108 - the code that names it must not get at it


def _refused(name: str, steps: str) -> Probe:
    return Probe(name, _FAMILY, attempting(steps), Expect.REFUSED)


def _made(statement: str) -> str:
    """Make something and, should that work, take it away again."""
    return f'{statement}\nos.unlink("{_PATH}")'


PROBES: Final = (
    _refused("open a file", 'open("/etc/passwd").read()'),
    _refused("open by number", 'os.open("/etc/passwd", os.O_RDONLY)'),
    _refused("open as a path", 'os.open("/", os.O_PATH)'),
    _refused("list the root", 'os.listdir("/")'),
    _refused("list the working folder", 'os.listdir(".")'),
    _refused("walk", 'os.scandir("/usr")'),
    _refused("stat a file", 'os.stat("/etc/passwd")'),
    _refused("stat the root", 'os.stat("/")'),
    _refused("access", 'None if os.access("/", os.F_OK) else open("/")'),
    _refused("read a link", 'os.readlink("/proc/self/exe")'),
    _refused("write a file", _made(f'open("{_PATH}", "w").write("x")')),
    _refused("write by pathlib", _made(f'__import__("pathlib").Path("{_PATH}").write_text("x")')),
    _refused("temporary file", '__import__("tempfile").TemporaryFile(dir="/tmp")'),
    _refused("make a folder", f'os.mkdir("{_PATH}")\nos.rmdir("{_PATH}")'),
    _refused("make a link", _made(f'os.symlink("/", "{_PATH}")')),
    _refused("make a device", _made(f'os.mknod("{_PATH}")')),
    _refused("remove a file", f'os.unlink("{_PATH}")'),
    _refused("change folder", 'os.chdir("/")'),
    _refused("working folder", "os.getcwd()"),
    _refused("own environment by /proc", 'open("/proc/self/environ").read()'),
    _refused("own memory by /proc", 'open("/proc/self/mem", "r+b")'),
    _refused("own mappings by /proc", 'open("/proc/self/maps").read()'),
    _refused("first process's memory by /proc", 'open("/proc/1/mem", "rb")'),
    _refused("device", 'open("/dev/urandom", "rb").read(1)'),
    _refused("map a file", '__import__("mmap").mmap(os.open("/etc/passwd", 0), 1)'),
    _refused(
        "database file",
        _made(f'__import__("sqlite3").connect("{_PATH}").execute("create table t(a)")'),
    ),
    _refused("load a library", '__import__("ctypes").CDLL("/lib/probe-of-ours.so")'),
    _refused(
        "import from a file",
        """
        import importlib.util
        spec = importlib.util.spec_from_file_location("stolen", os.__file__)
        module = importlib.util.module_from_spec(spec)
        os.stat(os.__file__)
        """,
    ),
    _refused("import of what is installed", '__import__("pip")'),
)
