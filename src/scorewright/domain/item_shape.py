"""What the items of a source offer: fields under the names that people write, and what each role is filled with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from scorewright.domain.binding import How, Path
from scorewright.domain.convention import Level
from scorewright.domain.field_path import parse_path
from scorewright.domain.suggestion import quote

Role: TypeAlias = Literal["inputs", "trace", "testcase"]


class Filling(msgspec.Struct, frozen=True):
    """How an argument is read from an item, and from where."""

    how: How
    paths: tuple[Path, ...] = ()


class ItemShape(msgspec.Struct, frozen=True, kw_only=True):
    """What can be asked of the items that one evaluator sees."""

    #: What messages call a field.
    word: Literal["column", "field"]
    #: Path by the name that people write, in the order to show; None when nothing is known of them.
    fields: Mapping[str, Path] | None
    #: Variable to the fields that it is looked for in, in turn, where these have other names.
    synonyms: Mapping[str, tuple[str, ...]]
    #: What is no plain field. A role that is not here cannot be had.
    roles: Mapping[Role, Filling]
    #: What a mapping may name beside fields.
    wholes: Mapping[str, Filling] = {}
    #: How the object is made that an evaluator of a level takes. A level that is not here cannot be judged.
    objects: Mapping[Level, How]

    @property
    def names(self) -> list[str]:
        """The fields' names."""
        return list(self.fields or ())

    def paths_of(self, variable: str) -> tuple[Path, ...]:
        """Return where a variable of this name is looked for."""
        names = self.synonyms.get(variable, (variable,))
        if self.fields is None:
            return tuple((name,) for name in names)
        return tuple(self.fields[name] for name in names if name in self.fields)

    def read_path(self, text: str) -> Path:
        """Read a field's name, or a path that leads on from it.

        Raises:
            FieldPathError: The caller's: it is no path.
        """
        return parse_path(text, fields=self.fields or {})

    def reason_against(self, path: Path) -> str | None:
        """Say why a path cannot be in any item; None where it may be, or nothing is known.

        It may lead on from a field, whose inside is not known, or be a whole that holds fields.
        """
        if self.fields is None:
            return None
        for known in self.fields.values():
            shorter = min(len(known), len(path))
            if known[:shorter] == path[:shorter]:
                return None
        return f"there is no {self.word} {quote(self.top_of(path))}"

    def top_of(self, path: Path) -> str:
        """Return the part of a path that could be a field's name."""
        return str(path[0]) if self.word == "column" else ".".join(map(str, path))


_ROW_SYNONYMS: Final = {
    "input": ("input", "inputs"),
    "output": ("output", "outputs"),
    "outputs": ("outputs", "output"),
}


def row_shape(columns: Iterable[str] | None) -> ItemShape:
    """Return the shape of a data set's rows.

    Args:
        columns: Their names; None when unknown, and then any may be asked for.
    """
    return ItemShape(
        word="column",
        fields=None if columns is None else {column: (column,) for column in columns},
        synonyms=_ROW_SYNONYMS,
        roles={
            "inputs": Filling("inputs"),
            "trace": Filling("trace"),
            "testcase": Filling("testcase"),
        },
        objects={Level.TRACE: "trace_object"},
    )
