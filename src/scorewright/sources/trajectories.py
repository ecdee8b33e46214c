"""What agents did as items: of the agents in traces, or as files of messages tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from scorewright.domain.binding import How
from scorewright.domain.convention import Level
from scorewright.domain.errors import UsageError
from scorewright.domain.item_shape import ItemShape
from scorewright.sources.item_shapes import Members, describe, span_shape
from scorewright.sources.listed import Entry, ListedSource, chosen
from scorewright.sources.message_files import read_trajectories
from scorewright.sources.source import Field, Notice, SourceKind, Wanted
from scorewright.sources.trace_files import judged_traces
from scorewright.sources.trace_items import TraceItems
from scorewright.sources.traces import Traces
from scorewright.telemetry.assembly import Trace
from scorewright.telemetry.trajectories import Trajectory, trajectory_item

#: An evaluator of traces sees of a trajectory the agent's part of its trace.
_OBJECTS: Final[dict[Level, How]] = {Level.AGENT: "agent_item", Level.TRACE: "trace_item"}


class OfAgents(TraceItems):
    """Makes the agents of traces trajectories; stands before the class that says where the traces are."""

    kind: SourceKind = "trajectories"

    def item_level(self, level: Level) -> Level:
        """Return the level of the items that an evaluator of a level sees.

        Raises:
            UsageError: The caller's: a trajectory is no model call.
        """
        return _item_level(level)

    def shape(self, level: Level) -> ItemShape:
        """Say how arguments are read from trajectories."""
        return span_shape(self.members(level), part="agent", objects=_OBJECTS)


class TracedTrajectories(OfAgents, Traces):
    """The agents of traces, by start."""

    def __init__(
        self, traces: Sequence[Trace], *, path: Path | None, notices: Sequence[Notice]
    ) -> None:
        super().__init__(traces, path=path, notices=notices, levels=[Level.AGENT])
        self.noun = "trajectory"


class TrajectoryFile(ListedSource):
    """The trajectories that files tell, in their order; each is known by its number.

    Args:
        trajectories: In order.
        path: Where they were read.
        notices: What was odd about the files.
    """

    kind: SourceKind = "trajectories"
    noun = "trajectory"

    def __init__(
        self,
        trajectories: Sequence[Trajectory],
        *,
        path: Path | None,
        notices: Sequence[Notice],
    ) -> None:
        self._trajectories = trajectories
        entries = [
            Entry(str(number), one.trace_id or str(number), Level.AGENT)
            for number, one in enumerate(trajectories, 1)
        ]
        super().__init__(entries, path=path, notices=notices)

    def item_level(self, level: Level) -> Level:
        """Return the level of the items that an evaluator of a level sees.

        Raises:
            UsageError: The caller's: a trajectory is no model call.
        """
        return _item_level(level)

    def fields(self, level: Level) -> list[Field]:  # noqa: ARG002 - all are of one level
        """List what the trajectories hold."""
        return self._members().fields

    def shape(self, level: Level) -> ItemShape:  # noqa: ARG002 - all are of one level
        """Say how arguments are read from trajectories."""
        return span_shape(self._members(), part="agent", objects=_OBJECTS)

    def items(self, wanted: Wanted = None) -> Iterator[bytes]:
        """Stream the trajectories in order, made anew each time."""
        return map(trajectory_item, chosen(self._trajectories, wanted))

    def _members(self) -> Members:
        others = dict.fromkeys(name for one in self._trajectories for name in one.others)
        columns = dict.fromkeys(others, "a further member of the row")
        return Members(describe("agent"), columns=columns)


def open_trajectories(path: Path, *, of_traces: bool) -> TracedTrajectories | TrajectoryFile:
    """Read a file or folder as trajectories.

    Args:
        path: Where they are.
        of_traces: Whether they are to be taken from traces there.

    Raises:
        CallerError: Nothing in it can be read so.
    """
    if of_traces:
        traces, notices = judged_traces(path)
        return TracedTrajectories(traces, path=path, notices=notices)
    read = read_trajectories(path)
    return TrajectoryFile(
        read.trajectories, path=path, notices=[Notice(None, text) for text in read.notices]
    )


def _item_level(level: Level) -> Level:
    if level is Level.LLM:
        raise UsageError(
            "its level is llm, but a trajectory is judged as a whole; judge model calls with --source traces"
        )
    return Level.AGENT
