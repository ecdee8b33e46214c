"""Options that commands share, and how their values are read."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scorewright.domain.convention import Convention

RUNNERS: Final = ("auto", "jail", "restricted", "deno", "remote", "local")
CONVENTIONS: Final = tuple(one.value for one in Convention)
_RUNNER_VARIABLE: Final = "SCOREWRIGHT_RUNNER"


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the choice of the output's form."""
    parser.add_argument(
        "--format",
        choices=("table", "json"),
        default="table",
        help="json: one document on stdout and nothing else there",
    )


def add_convention(parser: argparse.ArgumentParser) -> None:
    """Add what tells how `evaluate` is called."""
    parser.add_argument(
        "--convention", choices=CONVENTIONS, help="how evaluate is called; detected when not given"
    )


def add_assignments(parser: argparse.ArgumentParser) -> None:
    """Add what fills variables and config params."""
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        dest="mapping",
        metavar="[EVALUATOR.]VARIABLE=FIELD",
        help="column, path (meta.tags[0]) or JSON constant for a variable",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        dest="params",
        metavar="[EVALUATOR.]KEY=VALUE",
        help="value of a config param",
    )


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add what tells how data are taken apart into items."""
    parser.add_argument(
        "--source",
        choices=("auto", "dataset", "traces", "conversations", "trajectories", "logs"),
        default="auto",
        help="what the data are (default: auto, which tells data sets, traces and logs apart)",
    )
    parser.add_argument(
        "--level",
        choices=("trace", "agent", "llm"),
        help="what of a trace evaluators see that are written for no level (default: trace)",
    )
    parser.add_argument(
        "--previous-turns",
        action="store_true",
        help="of conversations, show input and output of earlier turns as well",
    )


def add_run_limits(parser: argparse.ArgumentParser) -> None:
    """Add where and with how much evaluators run."""
    parser.add_argument(
        "--runner",
        choices=RUNNERS,
        help=f"where the code runs; local is no sandbox (default: auto; {_RUNNER_VARIABLE} may name any other)",
    )
    parser.add_argument(
        "--workers", type=at_least(1), metavar="N", help="processes (default: one per core)"
    )
    add_bounds(parser)


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Add what an evaluator may use."""
    parser.add_argument(
        "--timeout-s",
        type=_seconds,
        default=10.0,
        metavar="S",
        help="seconds an item may take (default: 10)",
    )
    parser.add_argument(
        "--memory-mb",
        type=at_least(16),
        default=256,
        metavar="M",
        help="MiB a worker may use (default: 256)",
    )


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add where the server's data are."""
    parser.add_argument(
        "--database",
        metavar="URL",
        help="sqlite:///PATH or postgresql://… (default: SCOREWRIGHT_DATABASE_URL, or scorewright.db in "
        "SCOREWRIGHT_HOME or .scorewright)",
    )


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add which items are judged."""
    parser.add_argument(
        "--filter",
        metavar="EXPRESSION",
        help="""only rows that match, as in 'tokens > 1000 and not output contains "sorry"'""",
    )
    parser.add_argument(
        "--sample-rate",
        type=_share,
        default=1.0,
        metavar="RATE",
        help="take each row with this probability, 0 to 1, the same rows every time (default: 1)",
    )
    parser.add_argument("--limit", type=at_least(0), metavar="N", help="the first N of these rows")


def add_run_output(parser: argparse.ArgumentParser) -> None:
    """Add where results go, and what counts as good enough."""
    parser.add_argument(
        "--out", type=Path, metavar="PATH", help="results as .jsonl, .csv or .parquet"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="keep the results in --out; run what failed or is missing",
    )
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help="compute every result, and keep none in .scorewright/cache",
    )
    parser.add_argument(
        "--fail-under",
        action="append",
        default=[],
        metavar="EVALUATOR[.METRIC|.pass_rate]=NUMBER",
        help="exit with 1 when the mean is below, or too many items failed",
    )
    parser.add_argument(
        "--max-failed",
        type=_share,
        default=0.05,
        metavar="SHARE",
        help="share of failed items that --fail-under tolerates (default: 0.05)",
    )


def add_judge_bounds(parser: argparse.ArgumentParser) -> None:
    """Add what judges may spend."""
    parser.add_argument(
        "--max-cost-usd",
        type=_dollars,
        metavar="USD",
        help="what judges may spend on models; what is left then fails, and --resume can try it again",
    )


def at_least(least: int) -> Callable[[str], int]:
    """Return what reads a whole number of at least this."""

    def read(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"{number} is less than {least}")
        return number

    read.__name__ = "whole number"  # what argparse calls it in messages
    return read


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0.05 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.05 and 86400 seconds")
    return seconds


_seconds.__name__ = "number of seconds"  # what argparse calls it in messages


def _dollars(text: str) -> float:
    dollars = float(text)
    if not 0 < dollars <= 1e9:
        raise argparse.ArgumentTypeError(f"{text} is no amount above 0")
    return dollars


_dollars.__name__ = "amount in dollars"  # what argparse calls it in messages


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return share


_share.__name__ = "share"
