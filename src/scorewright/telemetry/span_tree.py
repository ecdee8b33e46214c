"""The spans of one trace in tree order, whatever order they arrived in and however broken they are.

Nothing here calls itself: a trace may be thousands of levels deep.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from scorewright.telemetry.raw_span import RawSpan

_NEVER: Final = 2**64


class SpanTree(msgspec.Struct, frozen=True):
    """Spans in tree order, siblings by start; the first one is the root."""

    spans: tuple[RawSpan, ...]
    #: Positions of the parents; -1 for none.
    parents: tuple[int, ...]
    #: Levels below a root.
    depths: tuple[int, ...]
    notices: tuple[str, ...]


def distinct(spans: Iterable[RawSpan]) -> tuple[list[RawSpan], int]:
    """Keep one version of each span.

    Of several, the one that ended last is kept, then the one that says more, then the one that comes last as
    text: the order in which they arrived makes no difference.

    Returns:
        The spans, and how many versions were left out.
    """
    kept: dict[str, RawSpan] = {}
    dropped = 0
    for span in spans:
        known = kept.get(span.span_id)
        if known is None:
            kept[span.span_id] = span
            continue
        dropped += 1
        if span != known and _precedence(span) > _precedence(known):
            kept[span.span_id] = span
    return list(kept.values()), dropped


def _precedence(span: RawSpan) -> tuple[int, int, bytes]:
    said = len(span.attributes) + len(span.events)
    return span.end_ns or 0, said, msgspec.json.encode(span, order="sorted")


def start_of(span: RawSpan) -> int:
    """Return when a span started; one of unknown start comes last."""
    return _NEVER if span.start_ns is None else span.start_ns


def _by_start(span: RawSpan) -> tuple[int, bool, str]:
    return start_of(span), span.parent_id is not None, span.span_id


def arrange(spans: Iterable[RawSpan]) -> SpanTree:
    """Put the spans of one trace, at least one, in tree order.

    A root is a span that has no parent in the trace. Where a circle has none, its earliest span stands in.
    """
    unique, dropped = distinct(spans)
    ordered = sorted(unique, key=_by_start)
    known = {span.span_id: span for span in ordered}
    children: dict[str, list[RawSpan]] = {}
    roots: list[RawSpan] = []
    for span in ordered:
        if span.parent_id in known and span.parent_id != span.span_id:
            children.setdefault(str(span.parent_id), []).append(span)
        else:
            roots.append(span)
    walk = _Walk(children)
    for root in roots:
        walk.take(root)
    stand_ins = [
        stand_in
        for span in ordered
        if span.span_id not in walk.positions
        and walk.take(stand_in := _earliest_of_circle(span, known))
    ]
    notices = _notices(roots, stand_ins, dropped)
    return SpanTree(tuple(walk.spans), tuple(walk.parents), tuple(walk.depths), tuple(notices))


class _Walk:
    """Takes spans with all that stands below them, each once."""

    def __init__(self, children: dict[str, list[RawSpan]]) -> None:
        self._children = children
        self.positions: dict[str, int] = {}
        self.spans: list[RawSpan] = []
        self.parents: list[int] = []
        self.depths: list[int] = []

    def take(self, root: RawSpan) -> bool:
        waiting = [(root, -1, 0)]
        while waiting:
            span, parent, depth = waiting.pop()
            if span.span_id in self.positions:
                continue
            position = self.positions[span.span_id] = len(self.spans)
            self.spans.append(span)
            self.parents.append(parent)
            self.depths.append(depth)
            below = self._children.get(span.span_id, ())
            waiting.extend((child, position, depth + 1) for child in reversed(below))
        return True


def _earliest_of_circle(span: RawSpan, known: dict[str, RawSpan]) -> RawSpan:
    """Follow parents until they repeat; every span that no root reaches leads into a circle."""
    seen: dict[str, int] = {}
    path: list[RawSpan] = []
    while span.span_id not in seen:
        seen[span.span_id] = len(path)
        path.append(span)
        span = known[str(span.parent_id)]
    return min(path[seen[span.span_id] :], key=_by_start)


def _notices(roots: list[RawSpan], stand_ins: list[RawSpan], dropped: int) -> Iterable[str]:
    if stand_ins:
        some = ", ".join(span.span_id for span in stand_ins[:3])
        yield f"no root: parents form a circle; its earliest span ({some}) stands in"
    orphans = [span for span in roots if span.parent_id not in {None, span.span_id}]
    if orphans:
        some = ", ".join(f"{span.parent_id} of {span.span_id}" for span in orphans[:3])
        count = len(orphans)
        yield f"incomplete: the parent of {count} span{'' if count == 1 else 's'} is missing ({some})"
    if len(roots) + len(stand_ins) > 1:
        others = [*roots, *stand_ins][1:]
        some = ", ".join(f"{span.span_id} {span.name!r}" for span in others[:3])
        yield f"{len(others) + 1} roots: the earliest one counts; the others are {some}"
    if dropped:
        yield f"{dropped} further version{'' if dropped == 1 else 's'} of spans left out: each counts once"
