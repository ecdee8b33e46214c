"""Conversations as items: the traces of one session, in order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from scorewright.domain.convention import Level
from scorewright.domain.errors import UsageError
from scorewright.domain.item_shape import ItemShape
from scorewright.sources.item_shapes import Members, span_shape
from scorewright.sources.listed import Entry, ListedSource, chosen
from scorewright.sources.source import Field, Notice, SourceKind, Wanted
from scorewright.sources.trace_files import judged_traces
from scorewright.sources.trace_items import trace_members
from scorewright.telemetry.assembly import Trace, session_of
from scorewright.telemetry.items import conversation_item

#: What a source keeps of a turn.
Turn = TypeVar("Turn")


class ConversationItems(ListedSource, Generic[Turn]):
    """Sessions by the start of their first turn; a trace that names no session is one by itself.

    Args:
        turns: In order: the trace's id, the session that it names, and what is kept of it.
        path: Where they were read.
        notices: What was odd about how they were read.
        with_previous: Whether earlier turns show what was said in them.
    """

    kind: SourceKind = "conversations"
    noun = "conversation"

    def __init__(
        self,
        turns: Iterable[tuple[str, str | None, Turn]],
        *,
        path: Path | None,
        notices: Sequence[Notice],
        with_previous: bool,
    ) -> None:
        self._with_previous = with_previous
        sessions: dict[tuple[bool, str], list[Turn]] = {}
        for trace_id, session_id, turn in turns:
            key = (session_id is not None, session_id or trace_id)
            sessions.setdefault(key, []).append(turn)
        self._conversations = list(sessions.values())
        named = {name for is_named, name in sessions if is_named}
        entries = [
            Entry(name if is_named else _free_id(name, named), name, Level.TRACE)
            for is_named, name in sessions
        ]
        alone = sum(not is_named for is_named, _ in sessions)
        if alone:
            total = sum(map(len, self._conversations))
            text = f"traces that name no session: {alone:,} of {total:,}; each is a conversation of its own"
            notices = [*notices, Notice(None, text)]
        super().__init__(entries, path=path, notices=notices)

    def item_level(self, level: Level) -> Level:
        """Return the level of the items that an evaluator of a level sees.

        Raises:
            UsageError: The caller's: a conversation is not seen by its agents or model calls.
        """
        if level in (Level.AGENT, Level.LLM):
            raise UsageError(
                f"its level is {level.value}, but a conversation is judged as a whole; "
                "judge its traces with --source traces"
            )
        return Level.TRACE

    def fields(self, level: Level) -> list[Field]:  # noqa: ARG002 - all are of one level
        """List what the items hold."""
        return self._members().fields

    def shape(self, level: Level) -> ItemShape:  # noqa: ARG002 - all are of one level
        """Say how arguments are read from the items."""
        return span_shape(self._members(), part="trace", objects={Level.TRACE: "trace_item"})

    def items(self, wanted: Wanted = None) -> Iterator[bytes]:
        """Stream the conversations in order, made anew each time."""
        for turns in chosen(self._conversations, wanted):
            yield conversation_item(self._traces_of(turns), with_previous=self._with_previous)

    def _traces_of(self, turns: Sequence[Turn]) -> Sequence[Trace]:
        """Return the traces of a conversation, in order."""
        raise NotImplementedError

    def _attribute_names(self) -> Iterable[str]:
        """Name the attributes that the last turns' roots have."""
        raise NotImplementedError

    def _members(self) -> Members:
        return trace_members("conversation", self._attribute_names())


class Conversations(ConversationItems[Trace]):
    """The conversations of a file or folder.

    Args:
        traces: In order.
        path: Where they were read.
        notices: What was odd about the files.
        with_previous: Whether earlier turns show what was said in them.
    """

    def __init__(
        self,
        traces: Sequence[Trace],
        *,
        path: Path | None,
        notices: Sequence[Notice],
        with_previous: bool,
    ) -> None:
        turns = [(trace.root.trace_id, session_of(trace), trace) for trace in traces]
        super().__init__(turns, path=path, notices=notices, with_previous=with_previous)

    def _traces_of(self, turns: Sequence[Trace]) -> Sequence[Trace]:
        return turns

    def _attribute_names(self) -> set[str]:
        return {name for turns in self._conversations for name in turns[-1].root.attributes}


def _free_id(trace_id: str, sessions: Collection[str]) -> str:
    """Return what a trace without a session is called: by its id, even where a session has taken that as its own."""
    item_id = trace_id
    while item_id in sessions:
        item_id += "/"
    return item_id


def open_conversations(path: Path, *, with_previous: bool) -> Conversations:
    """Read a file or folder of traces as conversations.

    Raises:
        CallerError: Nothing in it can be read as traces.
    """
    traces, notices = judged_traces(path)
    return Conversations(
        traces,
        path=path,
        notices=notices,
        with_previous=with_previous,
    )
