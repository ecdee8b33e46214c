"""From a path and what was said about it to a source."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Final, Literal, TypeAlias, assert_never

from scorewright.domain.convention import Level
from scorewright.domain.errors import UsageError
from scorewright.sources.dataset import open_dataset
from scorewright.sources.dataset.file import find_file
from scorewright.sources.export_files import is_protobuf
from scorewright.sources.source import Source, SourceKind

WantedKind: TypeAlias = SourceKind | Literal["auto"]

#: Enough to tell an OTLP request from a data set.
_HEAD_BYTES: Final = 4_096
#: A request, or the first of several in lines or a list; empty ones may come before it. A collector that writes all
#: signals into one file may begin with metrics.
_REQUEST: Final = re.compile(
    rb'\s*\[?\s*(?:\{\s*\}[\s,]*)*\{\s*"resource(Spans|_spans|Logs|_logs|Metrics|_metrics)"'
)


def open_source(
    path: Path,
    kind: WantedKind = "auto",
    *,
    levels: Collection[Level] = (Level.RECORD,),
    record_level: Level | None = None,
    with_previous_turns: bool = False,
) -> Source:
    """Open data as a source of items.

    Args:
        path: A file; for traces and logs a folder as well.
        kind: What the data are; `auto` tells data sets, traces and logs apart by their content.
        levels: Of the evaluators that will see the items.
        record_level: What of a trace evaluators see that are written for no level; a trace when None.
        with_previous_turns: Whether a conversation shows what was said in its earlier turns.

    Raises:
        CallerError: The caller's: the data cannot be read as this, or what was said does not go with it.
    """
    found = _kind_of(path) if kind == "auto" else kind
    if record_level is not None and found != "traces":
        raise UsageError(f"--level says what is judged of traces, and these are {_NAMES[found]}")
    if with_previous_turns and found != "conversations":
        raise UsageError(
            f"--previous-turns is for conversations, and these are {_NAMES[found]}; "
            "name them with --source conversations"
        )
    # One kind's reader alone is imported: the others cost start-up time.
    match found:
        case "dataset":
            return open_dataset(path)
        case "traces":
            from scorewright.sources.traces import open_traces

            return open_traces(path, levels=levels, record_level=record_level or Level.TRACE)
        case "conversations":
            from scorewright.sources.conversations import open_conversations

            return open_conversations(path, with_previous=with_previous_turns)
        case "trajectories":
            from scorewright.sources.trajectories import open_trajectories

            return open_trajectories(path, of_traces=_kind_of(path) == "traces")
        case "logs":
            from scorewright.sources.logs import open_logs

            return open_logs(path)
        case _:
            assert_never(found)


_NAMES: Final[dict[SourceKind, str]] = {
    "dataset": "a data set",
    "traces": "traces",
    "conversations": "conversations",
    "trajectories": "trajectories",
    "logs": "logs",
}


def _kind_of(path: Path) -> SourceKind:
    """Tell by the first bytes what a file is: a request of OTLP names its signal first of all.

    A folder is no data set, and most folders of exports are of traces.
    """
    if path.is_dir():
        return "traces"
    with find_file(path).open() as stream:
        head = stream.read(_HEAD_BYTES)
    request = _REQUEST.match(head)
    if request is not None:
        return "logs" if request[1].lower().endswith(b"logs") else "traces"
    return "traces" if is_protobuf(head) else "dataset"
