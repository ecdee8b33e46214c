"""The body of `scorewright check`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from scorewright.cli.figures import counted
from scorewright.cli.speech import say, visible
from scorewright.domain.check import check_evaluator
from scorewright.domain.convention import Convention, Level
from scorewright.domain.errors import UsageError
from scorewright.domain.json_value import JsonObject

if TYPE_CHECKING:  # what only the purity check needs
    from scorewright.domain.evaluator import Evaluator
    from scorewright.services.purity import Difference, Purity
    from scorewright.sources.opening import WantedKind
    from scorewright.sources.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """The options of one call, as given."""

    evaluators: list[Path]
    convention: str | None
    purity: bool
    data: Path | None
    source: WantedKind
    level: str | None
    previous_turns: bool
    mapping: list[str]
    params: list[str]
    limit: int
    timeout_s: float
    memory_mb: int
    runner: str
    as_json: bool


def check_command(options: CheckOptions) -> int:
    """Print what each file declares and what is wrong with it; with `purity`, judge items to find out.

    Returns:
        0, or 1 when a file has errors.
    """
    if options.purity and options.data is None:
        raise UsageError("--purity needs items to judge: --data PATH")
    if not options.purity and _says_what_to_judge(options):
        raise UsageError(
            "--data, --source, --level, --previous-turns, --map and --param are for --purity; without it nothing is run"
        )
    convention = Convention(options.convention) if options.convention else None
    documents = [check_evaluator(path, convention=convention) for path in options.evaluators]
    failed = any(map(_errors, documents))
    if options.purity:
        if failed:
            say("note: nothing was run: correct the errors first")
        else:
            _add_purity(documents, options)
    if options.as_json:
        sys.stdout.buffer.write(msgspec.json.encode(documents) + b"\n")
        sys.stdout.buffer.flush()
    else:
        for document in documents:
            _print(document)
    return int(any(map(_errors, documents)))


def _says_what_to_judge(options: CheckOptions) -> bool:
    of_items = (options.data, options.level, options.previous_turns)
    return options.source != "auto" or any((*of_items, options.mapping, options.params))


def _add_purity(documents: list[JsonObject], options: CheckOptions) -> None:
    """Run the purity check, and write its answers into the documents."""
    from scorewright.cli.environment import required_layers
    from scorewright.cli.run import make_tasks
    from scorewright.runners.base import Limits
    from scorewright.services.evaluators import load_evaluators
    from scorewright.services.plan import Settings
    from scorewright.services.purity import check_purity
    from scorewright.services.runner_choice import Runners

    convention = Convention(options.convention) if options.convention else None
    evaluators = load_evaluators(options.evaluators, convention=convention)
    runners = Runners(
        options.runner, required_layers=required_layers(), environ=os.environ, notice=say
    )
    try:
        tasks = make_tasks(evaluators, runners, mapping=options.mapping, params=options.params)
        answers = check_purity(
            tasks,
            _items(options, evaluators),
            settings=Settings(
                limits=Limits(timeout_s=options.timeout_s, memory_mb=options.memory_mb),
                limit=options.limit,
            ),
            make_runner=runners.python_with_hash_seed,
        )
    finally:
        runners.close()
    for document, evaluator, purity in zip(documents, evaluators, answers, strict=True):
        document["purity"] = _purity_document(purity)
        diagnostics = document["diagnostics"]
        assert isinstance(diagnostics, list)  # noqa: S101 - the document's form
        diagnostics += [_diagnostic(evaluator, purity, one) for one in purity.differences]
        if not purity.compared:
            diagnostics.append(_not_known(evaluator))


def _items(options: CheckOptions, evaluators: list[Evaluator]) -> Source:
    from scorewright.sources.opening import open_source

    assert options.data is not None  # noqa: S101 - checked before
    return open_source(
        options.data,
        options.source,
        levels={evaluator.level for evaluator in evaluators},
        record_level=Level(options.level) if options.level else None,
        with_previous_turns=options.previous_turns,
    )


def _purity_document(purity: Purity) -> JsonObject:
    return {
        "items": purity.items,
        "compared": purity.compared,
        "varied": list(purity.varied),
        "pure": purity.is_pure,
        "differences": [msgspec.structs.asdict(one) for one in purity.differences],
    }


def _diagnostic(evaluator: Evaluator, purity: Purity, found: Difference) -> JsonObject:
    with_other = (
        f"in another {found.varied}"
        if found.varied == "item order"
        else f"with another {found.varied}"
    )
    return {
        "severity": "error",
        "code": "nondeterministic",
        "message": (
            f"{found.items:,} of {counted(purity.items, 'item')} came out differently {with_other}; "
            f"first item {found.first_item}: {found.example}"
        ),
        "line": evaluator.signature.line,
        "column": evaluator.signature.column,
    }


def _not_known(evaluator: Evaluator) -> JsonObject:
    return {
        "severity": "error",
        "code": "not_compared",
        "message": "every item hit a limit of time or memory, so there was nothing to compare",
        "line": evaluator.signature.line,
        "column": evaluator.signature.column,
    }


def _errors(document: JsonObject) -> int:
    diagnostics = document["diagnostics"]
    assert isinstance(diagnostics, list)  # noqa: S101 - the document's form
    return sum(isinstance(d, dict) and d["severity"] == "error" for d in diagnostics)


def _print(document: JsonObject) -> None:
    errors = _errors(document)
    verdict = counted(errors, "error") if errors else "ok"
    print(f"{document['path']}: {document['convention'] or 'no convention'}, {verdict}")
    language = str(document["language"])
    for heading in ("variables", "params"):
        rows = document[heading]
        assert isinstance(rows, list)  # noqa: S101 - the document's form
        for row in rows:
            assert isinstance(row, dict)  # noqa: S101 - the document's form
            print(f"  {heading[:-1]:9} {_describe(row, language)}")
    purity: Any = document.get("purity")
    if purity is not None:
        print(f"  purity    {_describe_purity(purity)}")
    diagnostics = document["diagnostics"]
    assert isinstance(diagnostics, list)  # noqa: S101 - the document's form
    for found in diagnostics:
        assert isinstance(found, dict)  # noqa: S101 - the document's form
        message = visible(str(found["message"]))
        print(f"  {found['severity']:9} {found['line']}:{found['column']} {message}")


def _describe(row: JsonObject, language: str) -> str:
    name = row.get("name") or row.get("key")
    kind = row.get("annotation") or row.get("type")
    parts = [f"{name}" if kind is None else f"{name}: {kind}"]
    default = row.get("default")
    shown = str(default) if language == "python" else msgspec.json.encode(default).decode()
    parts.append("required" if row.get("required") else f"optional, default {shown}")
    if row.get("description"):
        parts.append(str(row["description"]))
    return visible("  ".join(parts))


def _describe_purity(purity: dict[str, Any]) -> str:
    changed = ", ".join(purity["varied"])
    judged = f"{counted(purity['items'], 'item')} judged with another {changed}"
    if not purity["compared"]:
        return f"{judged}: NOT KNOWN, every item hit a limit of time or memory"
    left_out = purity["items"] - purity["compared"]
    but = (
        f" ({left_out:,} hit a limit of time or memory, and cannot be compared)" if left_out else ""
    )
    return f"{judged}: {'always the same' if purity['pure'] else 'NOT always the same'}{but}"
