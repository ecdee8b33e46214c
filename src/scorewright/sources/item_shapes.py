"""How arguments are read from the items of each source that comes from telemetry. Source: contracts §2 and §4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from scorewright.domain.binding import How, Path
from scorewright.domain.convention import Level
from scorewright.domain.item_shape import Filling, ItemShape
from scorewright.sources.source import Field
from scorewright.telemetry.items.members import MEMBERS, Subject

#: Fields of a trace that a variable of their last name is filled with.
_OF_TRACES: Final = (
    "tool_context",
    "agent_trajectory",
    "rag_context",
    "rag_retrieval_queries",
    "rag_retrieval_documents",
    "rag_llm_output",
)
_TRACE_DICT: Final = Filling("trace_dict")


#: What is offered in another way: attributes by their own names, spans as the trace dict, the id as `traceId`.
_NOT_OFFERED: Final = frozenset({"trace.attributes", "spans", "trace.trace_id"})


def describe(subject: Subject) -> dict[str, str]:
    """Return the fields of items about a subject, each with what it holds: what was asked and answered first."""
    part = "trace" if subject == "conversation" else subject
    first = (f"{part}.input", f"{part}.output", f"{subject}.turns")
    described = {
        member.name: member.description
        for member in MEMBERS
        if subject in member.subjects and member.name not in _NOT_OFFERED
    }
    return {name: described[name] for name in first if name in described} | described


class Members:
    """The fields of one kind of item, and the names that its attributes have in the data.

    Args:
        described: Name to description, in the order to show; paths follow the dots.
        attributes: The object that holds attributes under their own names, dots and all; None where there is none.
        names: Those that occur in the data.
        columns: Further names at the top of the items, dots and all, each with its description; one that a field
            has already is passed over.
    """

    def __init__(
        self,
        described: Mapping[str, str],
        *,
        attributes: str | None = None,
        names: Iterable[str] = (),
        columns: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.fields = [Field(name, text) for name, text in described.items()]
        self.paths: dict[str, Path] = {name: tuple(name.split(".")) for name in described}
        for name, text in columns.items():
            # A column that is called like a field, dots and all, must not take its place.
            if name not in described:
                self.fields.append(Field(name, text))
                self.paths[name] = (name,)
        if attributes is not None:
            self._add_attributes(attributes, sorted(set(names)))

    def _add_attributes(self, attributes: str, known: Sequence[str]) -> None:
        within: Path = tuple(attributes.split("."))
        if not known:
            self.fields.append(Field(attributes, "attributes under their own names"))
            self.paths[attributes] = within
            return
        for name in known:
            self.fields.append(Field(f"{attributes}.{name}", "an attribute"))
            self.paths[f"{attributes}.{name}"] = (*within, name)


def span_shape(members: Members, *, part: str, objects: Mapping[Level, How]) -> ItemShape:
    """Return the shape of items that hold spans.

    Args:
        members: Their fields.
        part: What the items are about, whose input and output are the ones meant: `trace`, `agent` or `llm`.
        objects: The levels of evaluators that can be given such an item, and how.
    """
    asked, answered = f"{part}.input", f"{part}.output"
    short = {name: (f"trace.{name}",) for name in _OF_TRACES}
    return ItemShape(
        word="field",
        fields=members.paths,
        synonyms={
            "input": (asked,),
            "output": (answered,),
            "outputs": (answered,),
            # Of an agent only its steps are told, and not the tools of the whole trace.
            "context": ("trace.tool_context", "trajectory.steps"),
            **short,
        },
        roles={
            "inputs": Filling("application_input", (members.paths[asked],)),
            "trace": _TRACE_DICT,
        },
        wholes={"trace": _TRACE_DICT},
        objects=objects,
    )


def log_shape(members: Members) -> ItemShape:
    """Return the shape of log records: a record's body is what is judged, and there is no trace."""
    body = members.paths["log.body"]
    return ItemShape(
        word="field",
        fields=members.paths,
        synonyms=dict.fromkeys(("body", "output", "outputs"), ("log.body",))
        | {name: (f"log.{name}",) for name in ("severity", "timestamp")},
        roles={"inputs": Filling("application_input", (body,)), "trace": Filling("constant")},
        objects={},
    )
