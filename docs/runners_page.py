"""Writes reference/runners.md from the code: `make docs`. A test compares the page with what this would write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from scorewright.domain.json_copy import MAX_EXPLANATION_BYTES, MAX_RESULT_BYTES
from scorewright.domain.source_language import LANGUAGE_TITLES, Language
from scorewright.engine.execute import MAX_ITEM_BYTES
from scorewright.runners.base import Limits
from scorewright.runners.capabilities import CAPABILITIES, Capabilities
from scorewright.runners.deno import layers as deno
from scorewright.runners.jail import layers as jail

PAGE = Path(__file__).with_name("reference") / "runners.md"

_HEAD = """\
# Runners

<!-- Written by docs/runners_page.py from the code; change it there, then: make docs -->

For operators: what executes an evaluator, and what stands between its code and the machine. How the sandboxes work and how they
are proven is told in [the sandbox](../explanation/sandbox.md); what holds on the machine at hand says `scorewright runner check`.
"""
_CHOICE = """\
## Which one is taken

`auto`, the default, takes for each evaluator the strongest runner of its language, and never `restricted`, `remote` or `local`. Where
the machine cannot give a mandatory layer, nothing is run and the missing layer is named; there is no weaker mode that starts by itself. On a machine
that is not Linux, or has no seccomp, that leaves `remote`, and `local` for code you trust. A runner in WebAssembly, which needs nothing of the kernel, is
planned and not there yet.

- `--runner NAME` asks for one. Naming one that does not take the evaluator's language is an error.
- `SCOREWRIGHT_RUNNER=NAME` does so for every run. It may not say `local`: to do without a sandbox is asked for each time.
- `SCOREWRIGHT_RUNNER_REQUIRE=landlock,net_namespace` makes further layers mandatory. `empty_root` and `own_root` name the same thing in either sandbox.

Every run stores runner, engine and its version, the layers that held and those that were missing, and the limits
([results](results.md#the-report-of-a-run)).
"""
_LAYERS = """\
## Layers of the kernel

*Mandatory*: without it nothing is run. *Where there is*: taken where the machine offers it, reported by name where not. `restricted` has the layers of `jail`.
"""
_LIMITS = """\
## Limits

Of one evaluator, in every runner. They are part of a result's environment.
"""


def render() -> str:
    """Return the whole page."""
    parts = [
        _HEAD,
        "## What there is",
        _table(
            ("Runner", "Languages", "Boundary", "Hostile code", "Taken by `auto` for", "Needs"),
            map(_boundary_row, CAPABILITIES),
        ),
        _table(
            ("Runner", "Ends what takes too long", "Bounds memory", "Clock and chance"),
            ((f"`{one.tier}`", one.time, one.memory, one.clock) for one in CAPABILITIES),
        ),
        _CHOICE,
        _LAYERS,
        _table(("Layer", "Takes away", "`jail`", "`deno`"), map(_layer_row, _layer_names())),
        _LIMITS,
        _table(("What", "Most, unless set", "Set by"), _limit_rows()),
    ]
    return "\n".join(f"{part.strip()}\n" for part in parts)


def _boundary_row(one: Capabilities) -> Sequence[str]:
    verdict = "contained" if one.contains else "**not contained**"
    automatic = _titles(one.automatic_for) or "–"
    return f"`{one.tier}`", _titles(one.languages), one.boundary, verdict, automatic, one.needs


def _titles(languages: Iterable[Language]) -> str:
    return ", ".join(LANGUAGE_TITLES[one] for one in languages)


def _layer_names() -> list[str]:
    return [*jail.PURPOSES, *deno.PURPOSES]


def _layer_row(name: str) -> Sequence[str]:
    purpose = {**jail.PURPOSES, **deno.PURPOSES}[name]
    return f"`{name}`", purpose, _state(name, in_deno=False), _state(name, in_deno=True)


def _state(name: str, *, in_deno: bool) -> str:
    if name in (deno.MANDATORY if in_deno else jail.MANDATORY):
        return "mandatory"
    known = deno.NAMES if in_deno else frozenset(jail.PURPOSES)
    return "where there is" if name in known else "–"


def _limit_rows() -> Iterable[Sequence[str]]:
    usual = Limits()
    yield "wall time of one item", f"{usual.timeout_s:g} s", "`--timeout-s`"
    yield "memory of a worker, beyond its runtime", f"{usual.memory_mb} MiB", "`--memory-mb`"
    yield "prints kept of one item", f"{usual.max_output_bytes >> 10} KiB", "–"
    yield "one result", f"{MAX_RESULT_BYTES >> 10} KiB", "–"
    yield "an explanation", f"{MAX_EXPLANATION_BYTES >> 10} KiB", "–"
    yield "an item", f"{MAX_ITEM_BYTES >> 20} MiB", "–"


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
