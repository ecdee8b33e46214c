"""Commands and their options. Bodies live in modules of their own, imported when a command is called:
`scorewright --help` has to be quick.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from scorewright.domain.errors import CallerError, OurError

EXIT_MISSED = 1
EXIT_CALLER = 2
EXIT_OURS = 3

app = typer.Typer(
    name="scorewright",
    help="Write evaluators, and run them sandboxed and fast over your data.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
datasets_app = typer.Typer(help="Look at data files.", no_args_is_help=True, rich_markup_mode=None)
runner_app = typer.Typer(help="Prove the sandbox.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(datasets_app, name="datasets")
app.add_typer(runner_app, name="runner")


class Format(StrEnum):
    """How a command prints."""

    TABLE = "table"
    JSON = "json"


class Source(StrEnum):
    """What the data are."""

    AUTO = "auto"
    DATASET = "dataset"


class RunnerName(StrEnum):
    """Where author code runs."""

    AUTO = "auto"
    JAIL = "jail"
    LOCAL = "local"


class ConventionName(StrEnum):
    """How `evaluate` is called."""

    VARIABLES = "variables"
    INPUTS_OUTPUTS_TRACE = "inputs_outputs_trace"
    TRACE_OBJECT = "trace_object"
    LEGACY_SCORE = "legacy_score"
    LEGACY_CORRECT_ANSWER = "legacy_correct_answer"


class LanguageName(StrEnum):
    """What an evaluator is written in."""

    PYTHON = "python"


_Format = Annotated[Format, typer.Option("--format", help="table, or one JSON document on stdout.")]
_Convention = Annotated[
    ConventionName | None,
    typer.Option("--convention", help="How evaluate is called; detected when not given."),
]


@app.callback(invoke_without_command=True)
def _root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from scorewright._version import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command(
    epilog="Example: scorewright run exact.py --data answers.jsonl --map expected=answer "
    "--out results.jsonl --fail-under exact=0.8"
)
def run(
    evaluators: Annotated[
        list[str], typer.Argument(metavar="EVALUATOR...", help=".py files or .yaml definitions.")
    ],
    data: Annotated[
        Path, typer.Option("--data", help="CSV, JSONL, JSON or Parquet; gzipped or not.")
    ],
    *,
    source: Annotated[Source, typer.Option(help="What the data are.")] = Source.AUTO,
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="[EVALUATOR.]VARIABLE=FIELD",
            help="Column, path (meta.tags[0]) or JSON constant for a variable.",
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="[EVALUATOR.]KEY=VALUE", help="Value of a config param."),
    ] = None,
    convention: _Convention = None,
    runner: Annotated[
        RunnerName,
        typer.Option(envvar="SCOREWRIGHT_RUNNER", help="local runs without a sandbox."),
    ] = RunnerName.AUTO,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; one per core by default.")
    ] = None,
    timeout_s: Annotated[float, typer.Option(min=0.1, help="Seconds per item.")] = 10.0,
    memory_mb: Annotated[int, typer.Option(min=16, help="MiB per worker.")] = 256,
    limit: Annotated[int | None, typer.Option(min=0, help="First rows only.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Results as .jsonl, .csv or .parquet.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep the results in --out; run what failed or is missing."),
    ] = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-under",
            metavar="EVALUATOR[.METRIC|.pass_rate]=NUMBER",
            help="Exit with 1 when the mean is below; also when too many items failed.",
        ),
    ] = None,
    max_failed: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Share of failed items that --fail-under tolerates."),
    ] = 0.05,
    output_format: _Format = Format.TABLE,
) -> None:
    """Run evaluators over a data set."""
    from scorewright.cli.run import RunOptions, run_command

    del source  # a dataset is the only source there is yet
    options = RunOptions(
        evaluators=evaluators,
        data=data,
        mapping=mapping or [],
        params=param or [],
        convention=convention,
        runner=runner.value,
        workers=workers,
        timeout_s=timeout_s,
        memory_mb=memory_mb,
        limit=limit,
        out=out,
        resume=resume,
        fail_under=fail_under or [],
        max_failed=max_failed,
        as_json=output_format is Format.JSON,
    )
    raise typer.Exit(run_command(options))


@app.command(epilog="Example: scorewright check exact.py")
def check(
    evaluators: Annotated[list[Path], typer.Argument(metavar="EVALUATOR...")],
    *,
    convention: _Convention = None,
    output_format: _Format = Format.TABLE,
) -> None:
    """Show signature, variables, params and diagnostics; runs nothing."""
    from scorewright.cli.check import check_command

    raise typer.Exit(
        check_command(evaluators, convention=convention, as_json=output_format is Format.JSON)
    )


@app.command(epilog="Example: scorewright new polite-tone --convention trace_object")
def new(
    name: Annotated[str, typer.Argument(help="Name of the evaluator; the file is NAME.py.")],
    *,
    language: Annotated[LanguageName, typer.Option(help="Language.")] = LanguageName.PYTHON,
    convention: Annotated[
        ConventionName, typer.Option(help="How evaluate is called.")
    ] = ConventionName.VARIABLES,
) -> None:
    """Write the start of an evaluator into this folder."""
    from scorewright.cli.new import new_command

    del language  # Python is the only one there is yet
    new_command(name, convention=convention)


@datasets_app.command("inspect", epilog="Example: scorewright datasets inspect answers.csv")
def inspect_dataset(
    data: Annotated[Path, typer.Argument(metavar="PATH")],
    *,
    output_format: _Format = Format.TABLE,
) -> None:
    """Show rows, columns, types and what was noticed while reading."""
    from scorewright.cli.datasets import inspect_command

    inspect_command(data, as_json=output_format is Format.JSON)


@runner_app.command("check", epilog="Example: scorewright runner check jail")
def check_runner(
    name: Annotated[str, typer.Argument(metavar="[NAME]")] = "jail",
    *,
    output_format: _Format = Format.TABLE,
) -> None:
    """Attack the sandbox of this machine and give a verdict per probe."""
    from scorewright.cli.runner import check_command

    raise typer.Exit(check_command(name, as_json=output_format is Format.JSON))


def main() -> NoReturn:
    """Run the command line; the caller's mistakes and ours end as one line and an exit code."""
    try:
        app()
    except CallerError as error:
        _fail(str(error), EXIT_CALLER)
    except OurError as error:
        _fail(str(error), EXIT_OURS)
    except BrokenPipeError:
        # The reader of our output has gone, as with `| head`.
        sys.stderr.close()
        sys.exit(EXIT_OURS)
    sys.exit(0)


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    sys.exit(code)
