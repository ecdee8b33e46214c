"""Whether a source may ask what time it is.

The clock stands still during a run, but not from one run to the next: results of a source that asks for the time hold
for their run alone. A source that only computes with times it is given gives the same results for ever.
"""

from __future__ import annotations

import ast
from typing import Final

#: What tells the time, by whatever it is reached, and what reaches any name at all.
_TELLS_TIME: Final = frozenset(
    "now today utcnow time asyncio email http logging sched sqlite3 "
    "eval exec __import__ importlib runpy sys builtins ctypes gc globals vars "
    "__builtins__ __globals__ __dict__ __loader__ __spec__ __subclasses__".split()
)


def reads_clock(tree: ast.Module) -> bool:
    """Whether the source may ask for the time; rather yes than no.

    Args:
        tree: The parsed source.
    """
    return any(not _TELLS_TIME.isdisjoint(_names(node)) for node in ast.walk(tree))


def _names(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return [name]
        case ast.Import(names=aliases):
            return [part for alias in aliases for part in alias.name.split(".")]
        case ast.ImportFrom(module=module, names=aliases):
            return [*(module or "").split("."), *(alias.name for alias in aliases)]
        case _:
            return []
