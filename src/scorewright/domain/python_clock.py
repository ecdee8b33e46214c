"""Whether a source may ask what time it is.

The clock stands still during a run, but not from one run to the next: results of a source that asks for the time hold
for their run alone. A source that only computes with times it is given gives the same results for ever. The check is
conservative: what it does not know counts as a clock.
"""

from __future__ import annotations

import ast
from typing import Final

#: Modules in which no time is told, or only by the names below.
_TIMELESS_MODULES: Final = frozenset(
    "__future__ abc amp_evaluation base64 binascii bisect calendar cmath collections colorsys copy csv dataclasses "
    "datetime decimal difflib enum fnmatch fractions functools hashlib heapq hmac html io itertools json math numbers "
    "random re scorewright secrets statistics string struct textwrap typing unicodedata urllib uuid zlib zoneinfo".split()
)
#: What tells the time, by whatever it is reached, and what reaches any name at all.
_TELLS_TIME: Final = frozenset(
    "now today utcnow time os sys modules codecs builtins attrgetter methodcaller "
    "eval exec globals vars breakpoint".split()
)
_HARMLESS_DUNDERS: Final = frozenset({"__name__", "__doc__", "__init__", "__post_init__"})


def reads_clock(tree: ast.Module) -> bool:
    """Whether the source may ask for the time; rather yes than no.

    Args:
        tree: The parsed source.
    """
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = {id(call.func) for call in calls if _gets_by_harmless_name(call)}
    return any(id(node) not in named and _may_tell_time(node) for node in ast.walk(tree))


def _gets_by_harmless_name(call: ast.Call) -> bool:
    """Whether a call is `getattr(value, "name", …)` with a name that tells no time."""
    match call:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return not _is_clock(name)
        case _:
            return False


def _may_tell_time(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            return name == "getattr" or _is_clock(name)
        case ast.Attribute(attr=name):
            return _is_clock(name)
        case ast.Import(names=aliases):
            return not all(alias.name.split(".")[0] in _TIMELESS_MODULES for alias in aliases)
        case ast.ImportFrom(module=module, names=aliases):
            is_timeless = (module or "").split(".")[0] in _TIMELESS_MODULES
            return not is_timeless or any(_is_clock(alias.name) for alias in aliases)
        case _:
            return False


def _is_clock(name: str) -> bool:
    return name in _TELLS_TIME or (name.startswith("__") and name not in _HARMLESS_DUNDERS)
