"""The author's source as a module that is made anew for every item.

A fresh namespace per item costs about two microseconds and is what makes results independent of order and of
the number of workers: module-level lists, counters and memos start over (contracts §6).
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from scorewright import authoring
from scorewright.runners.harness.protocol import Policy

MODULE_NAME = "evaluator"
#: What an author need not import. Source: amp seed, whose samples import nothing.
PROVIDED = ("EvalResult", "Trace", "AgentTrace", "LLMSpan", "Param")


class _SourceLoader:
    """Where `traceback` and `inspect` find the lines of a file that is nowhere."""

    def __init__(self, source: str) -> None:
        self._source = source

    def get_source(self, _name: str) -> str:
        return self._source


class AuthorModule:
    """Compiled once; `fresh` runs its module level again in an empty namespace."""

    def __init__(self, source: str, filename: str, policy: Policy = "") -> None:
        """Compile `source`, under a policy of the language where there is one.

        Raises:
            SyntaxError, ValueError, RecursionError, MemoryError: The author's; it does not compile.
        """
        self._start = {name: getattr(authoring, name) for name in PROVIDED}
        self._start.update(
            __builtins__=builtins, __file__=filename, __loader__=_SourceLoader(source)
        )
        if policy == "restricted":
            from scorewright.runners.harness import restricted

            self._code = restricted.compile_source(source, filename)
            self._start.update(restricted.make_namespace())
        else:
            self._code = compile(source, filename, "exec", dont_inherit=True)
        self._namespace: dict[str, Any] = {}

    def fresh(self) -> Callable[..., Any]:
        """Return `evaluate` of a namespace that nothing was left in."""
        module = ModuleType(MODULE_NAME)
        # dataclasses and pickle look their module up by name.
        sys.modules[MODULE_NAME] = module
        # Emptying the last namespace breaks its cycles with its functions: no garbage for the collector.
        self._namespace.clear()
        self._namespace = namespace = module.__dict__
        namespace.update(self._start)
        exec(self._code, namespace)  # noqa: S102 - this is what the sandbox is for
        evaluate = namespace.get("evaluate")
        if not callable(evaluate):
            raise NameError("the source ran, but left no function named evaluate")  # noqa: TRY004
        return evaluate  # type: ignore[no-any-return]
