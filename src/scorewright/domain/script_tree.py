"""Parse JavaScript and TypeScript into a syntax tree. Imported only where such a source is parsed.

The parser is native code and the text may be hostile. It releases its stack by recursion, one frame for each
open construct, so it runs on a stack that outlasts the deepest text, a thread's if need be; and as some texts take it minutes,
it is stopped at a deadline. The tree is only ever walked by a cursor, and never upwards.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import cast

import tree_sitter

from scorewright.domain.signature import Diagnostic, Severity
from scorewright.domain.source_language import ScriptLanguage

#: A frame has 96 bytes and stands for at least one byte of source.
_STACK_BYTES_PER_BYTE = 256
_LEAST_STACK_BYTES = 1 << 20
#: Ordinary code takes a tenth of this.
_CPU_S_PER_BYTE = 3e-6
_LEAST_CPU_S = 0.5
#: Also what is copied each time a node is asked for its text.
_CHUNK_BYTES = 1 << 11

#: Nodes that have parameters and a body of their own.
FUNCTIONS = frozenset(
    "function_declaration function_expression arrow_function method_definition "
    "generator_function generator_function_declaration".split()
)
#: Wrappers that leave a value as it is; the value is their first child that has a name, but for `<T>value`.
_TRANSPARENT = frozenset(
    "parenthesized_expression as_expression satisfies_expression non_null_expression "
    "type_assertion".split()
)
#: A hostile text has thousands around each of thousands of values.
_MAX_WRAPPERS = 20


@dataclass(frozen=True, slots=True)
class ScriptTree:
    """A parsed source."""

    root: tree_sitter.Node
    raw: bytes
    """The source as UTF-8."""
    language: ScriptLanguage

    def text(self, node: tree_sitter.Node) -> str:
        """Return a node's source text."""
        return self.raw[node.start_byte : node.end_byte].decode()

    def line(self, node: tree_sitter.Node) -> str:
        """Return the whole line that a node starts on."""
        start = node.start_byte - node.start_point.column
        end = self.raw.find(b"\n", start)
        return self.raw[start : end if end >= 0 else len(self.raw)].decode()

    def place(self, node: tree_sitter.Node) -> tuple[int, int]:
        """Return a node's line and its column in characters, both from 1."""
        row, column_bytes = node.start_point
        before = self.raw[node.start_byte - column_bytes : node.start_byte]
        return row + 1, len(before.decode()) + 1

    def problem(
        self, node: tree_sitter.Node, code: str, message: str, *, severity: Severity = "error"
    ) -> Diagnostic:
        """Return a diagnostic at a node."""
        line, column = self.place(node)
        return Diagnostic(severity=severity, code=code, message=message, line=line, column=column)


def parse_tree(source: str, language: ScriptLanguage) -> ScriptTree | None:
    """Parse a source; what is not understood becomes nodes that say so.

    Args:
        source: Well-formed text.
        language: Which grammar to read it by.

    Returns:
        The tree, or None when the parser was stopped at its deadline.
    """
    raw = source.encode()
    found: list[tree_sitter.Tree] = []
    failed: list[BaseException] = []

    def work() -> None:
        # No parser outlives this thread: it releases its stack when it goes.
        try:
            found.extend(_parse(raw, language))
        except BaseException as error:  # noqa: BLE001 - raised again on the caller's thread
            failed.append(error)

    _run_on_deep_stack(work, _LEAST_STACK_BYTES + len(raw) * _STACK_BYTES_PER_BYTE)
    if failed:
        raise failed[0]
    return ScriptTree(found[0].root_node, raw, language) if found else None


def _run_on_deep_stack(work: Callable[[], None], stack_bytes: int) -> None:
    """Call `work`, on a thread of its own unless this stack will do; memory is only taken as far as it is used."""
    if _reach_of_stack() >= stack_bytes:
        work()
        return
    page = 1 << 16
    before = threading.stack_size(-(-stack_bytes // page) * page)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()


def _reach_of_stack() -> float:
    """Return how far the present stack may grow, in bytes; 0 for a thread's, which cannot."""
    if threading.current_thread() is not threading.main_thread():
        return 0
    return _reach_of_main_stack()


@cache  # asked once: a jail does not let it be asked again
def _reach_of_main_stack() -> float:
    try:
        import resource
    except ImportError:  # not there on Windows
        return 0
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    return math.inf if soft == resource.RLIM_INFINITY else soft


def _parse(raw: bytes, language: ScriptLanguage) -> Iterator[tree_sitter.Tree]:
    """Yield the tree, or nothing when it would take too long."""
    deadline_s = time.thread_time() + _LEAST_CPU_S + len(raw) * _CPU_S_PER_BYTE
    parser = tree_sitter.Parser(_grammar(language))
    try:
        yield parser.parse(
            lambda offset, _point: raw[offset : offset + _CHUNK_BYTES],
            encoding="utf8",
            progress_callback=lambda _offset, _has_error: time.thread_time() > deadline_s,
        )
    except ValueError:  # stopped
        return


def _grammar(language: ScriptLanguage) -> tree_sitter.Language:
    if language == "typescript":
        import tree_sitter_typescript

        return tree_sitter.Language(tree_sitter_typescript.language_typescript())
    import tree_sitter_javascript

    return tree_sitter.Language(tree_sitter_javascript.language())


def walk(root: tree_sitter.Node, *, prune: Collection[str] = ()) -> Iterator[tree_sitter.Node]:
    """Yield a node and all below it, each before its children.

    Args:
        root: Where to start.
        prune: Types of nodes whose children are left out.
    """
    cursor = root.walk()
    while True:
        node = cast("tree_sitter.Node", cursor.node)
        yield node
        if node.type not in prune and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def unwrap(node: tree_sitter.Node) -> tree_sitter.Node:
    """Return the value inside parentheses and type assertions, within bounds."""
    for _ in range(_MAX_WRAPPERS):
        if node.type not in _TRANSPARENT:
            break
        node = parts(node)[-1 if node.type == "type_assertion" else 0]
    return node


def parts(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return the children that have a name, without comments."""
    return [child for child in node.named_children if not child.is_extra]


def has_token(node: tree_sitter.Node, token: str) -> bool:
    """Tell whether a word or sign such as `async` is a direct part of a node."""
    return any(child.type == token for child in node.children)
