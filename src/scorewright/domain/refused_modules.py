"""Standard library modules that the sandbox does not serve, each with its reason.

Everything else of the standard library can be imported; what needs the network, files or processes fails
where it is used. Standard library only: the sandbox imports this module before it locks itself.
"""

from __future__ import annotations

_NO_DISPLAY = "it opens windows, and the sandbox has no display"
_NO_TERMINAL = "it drives a terminal, and the sandbox has none"
_INSTALLER = "it installs software"
_WINDOWS = "it exists on Windows only"

REFUSAL_REASONS: dict[str, str] = {
    "tkinter": _NO_DISPLAY,
    "_tkinter": _NO_DISPLAY,
    "turtle": _NO_DISPLAY,
    "turtledemo": _NO_DISPLAY,
    "idlelib": _NO_DISPLAY,
    "antigravity": "it opens a web browser",
    "curses": _NO_TERMINAL,
    "_curses": _NO_TERMINAL,
    "_curses_panel": _NO_TERMINAL,
    "readline": _NO_TERMINAL,
    "ensurepip": _INSTALLER,
    "venv": _INSTALLER,
    "lib2to3": "it was removed from newer versions of Python",
    "test": "it holds Python's own tests",
    "msilib": _WINDOWS,
    "msvcrt": _WINDOWS,
    "nt": _WINDOWS,
    "winreg": _WINDOWS,
    "winsound": _WINDOWS,
}
"""Top-level module name to why an import of it cannot work."""

REFUSED_MODULES: frozenset[str] = frozenset(REFUSAL_REASONS)
