"""The report of a run as people read it: every number with what it is made of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from scorewright.cli.console import open_console
from scorewright.cli.figures import counted, figure, parts_of_mixed, percent, span
from scorewright.cli.speech import visible
from scorewright.services.report import Report

_BARS = " ▁▂▃▄▅▆▇█"
_MAX_FAILURES = 8
_MAX_SLOWEST = 3
_MAX_ID = 12
_MAX_METRICS = 20
_MAX_MESSAGE = 300
_DISTRIBUTION = "distribution"
#: How a record says that nothing contained the code that made it.
_UNSAFE = ": no sandbox"
_ANY_WIDTH = 10_000


def print_report(report: Report, *, out: Path | None) -> None:
    """Print summaries, metrics, failures and the slowest items."""
    console = open_console()
    document = report.document()
    summaries: list[dict[str, Any]] = document["summary"]  # type: ignore[assignment]
    console.print(_heading(report))
    console.print()
    thresholds = [task.evaluator.threshold for task in report.tasks]
    console.print(summary_table(summaries, thresholds, console))
    noun = report.source.noun
    for part in (_metrics(summaries), _failures(summaries, noun), _slowest(summaries, noun)):
        if part is not None:
            console.print()
            console.print(part)
    if out is not None:
        console.print()
        count = sum(summary.judged for summary in report.summaries)
        console.print(Text(f"{counted(count, 'result')} in {out}"))


def _heading(report: Report) -> Text:
    items = counted(report.total, report.source.noun)
    if not report.is_complete:
        items = f"{report.items:,} of {items}"
    heading = Text(f"{items} in {report.duration_s:.2f} s, ")
    # One per kind of sandbox: Python and JavaScript run in different ones. Of two of a kind the one that lacks more.
    known = sorted(filter(None, report.runners), key=lambda one: len(one.missing))
    runners = {one.tier: one for one in known}
    if "local" in runners:
        heading.append("NO SANDBOX: the code ran with your own rights", style="bold red")
    elif not runners:
        refused = any(summary.unavailable for summary in report.summaries)
        heading.append("there was no sandbox" if refused else "nothing had to run")
    else:
        for place, (tier, runner) in enumerate(sorted(runners.items())):
            before = ", " if place else "sandbox: "
            heading.append(f"{before}{tier}, {len(runner.layers)} layers on")
            if runner.missing:
                heading.append(f"; off: {', '.join(runner.missing)}", style="yellow")
        clock = datetime.fromtimestamp(report.clock_s, UTC)
        heading.append(f", clock {clock:%Y-%m-%dT%H:%M:%SZ}")
    for part in (
        _selection(report),
        _kept(report),
        _reused(report),
        _judges(report),
        _nondeterministic(report),
    ):
        heading.append(part)
    return heading


def _selection(report: Report) -> Text:
    """Say what the rows were taken from, where they are not simply the first ones."""
    selection, text = report.selection, Text()
    if selection.filter is not None:
        shown = visible(selection.filter)
        shown = shown if len(shown) <= _MAX_MESSAGE else f"{shown[:_MAX_MESSAGE]}…"
        text.append(
            f"\n{selection.matched:,} of {counted(selection.rows, report.source.noun)} match {shown}"
        )
    if selection.rate < 1:
        of = counted(selection.matched, report.source.noun)
        text.append(f"\n{selection.sampled:,} of {of} sampled at rate {selection.rate:g}")
    return text


def _judges(report: Report) -> Text:
    judges = report.judges
    if not judges.requests:
        return Text()
    unpriced = f", {judges.unpriced:,} of unknown cost" if judges.unpriced else ""
    tokens = judges.tokens_in + judges.tokens_out
    asked = counted(judges.requests, "request")
    return Text(f"\n{asked} to models, {tokens:,} tokens, ${judges.cost_usd:.4f}{unpriced}")


def _reused(report: Report) -> Text:
    count = sum(report.reused)
    return Text(f"\n{counted(count, 'result')} reused: same code, same arguments" if count else "")


def _nondeterministic(report: Report) -> Text:
    text = Text(style="yellow")
    for task, look in zip(report.tasks, report.second_looks, strict=True):
        if look.differing:
            text.append(
                f"\n{task.evaluator.name} is nondeterministic: {look.differing:,} of "
                f"{counted(look.items, 'item')} judged twice came out differently (first: {report.source.noun} "
                f"{look.first_item}); scorewright check --purity tells why"
            )
    return text


def _kept(report: Report) -> Text:
    text = Text()
    if report.kept:
        text.append(f"\n{counted(report.kept, 'result')} kept from the earlier run")
    if report.kept_of_other_version:
        other = f", {report.kept_of_other_version:,} made by another version of the evaluator"
        text.append(other, style="yellow")
    unsafe = sorted(name for name in report.kept_runners if name.endswith(_UNSAFE))
    if unsafe:
        text.append(f", some of them WITHOUT SANDBOX ({', '.join(unsafe)})", style="bold red")
    return text


def summary_table(
    summaries: Sequence[dict[str, Any]], thresholds: Sequence[float | None], console: Console
) -> RenderableType:
    """Lay the numbers out so that none is cut: a table where it fits, else a block an evaluator.

    Args:
        summaries: Of each evaluator, as documents.
        thresholds: Of each evaluator: at which score it passes.
        console: Where it is to fit.
    """
    rows = [_figures(one, limit) for one, limit in zip(summaries, thresholds, strict=True)]
    for left_out in ((), (_DISTRIBUTION,)):
        table = _summary_table(rows, left_out)
        needed = Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), table)
        if needed.maximum <= console.width:
            return table
    return Text("\n\n").join(map(_block, rows))


def _figures(summary: dict[str, Any], threshold: float | None) -> dict[str, Text]:
    failed, skipped = summary["failed"], summary["skipped"]
    items = summary["scored"] + skipped + failed
    threshold = threshold if summary["mean_n"] else None
    return {
        "evaluator": Text(summary["evaluator"]),
        "mean (95 %)": _mean(summary),
        "n": _count(summary, items),
        "passed": _pass_rate(summary, threshold),
        "failed": Text(f"{failed:,}", style="red" if failed else "dim"),
        "skipped": Text(f"{skipped:,}", style="" if skipped else "dim"),
        _DISTRIBUTION: _distribution(summary),
    }


def _summary_table(rows: list[dict[str, Text]], left_out: Collection[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = [heading for heading in rows[0] if heading not in left_out]
    for heading in shown:
        is_number = heading not in ("evaluator", _DISTRIBUTION)
        table.add_column(heading, justify="right" if is_number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*[row[heading] for heading in shown])
    return table


def _block(row: dict[str, Text]) -> Text:
    name, *labelled = row.items()
    block = Text().append(name[1].plain, style="bold")
    for label, figures in labelled:
        if figures:
            block.append(f"\n  {label:12}  ")
            block.append(Text(", ").join(figures.split("\n")))
    return block


def _mean(summary: dict[str, Any]) -> Text:
    mean, interval, ends = summary["mean_score"], summary["mean_interval"], summary["score_range"]
    if mean is None:
        return Text("no score", style="dim")
    bounds = (*(ends or ()), summary["min_score"], summary["max_score"])
    text = Text(figure(mean, *bounds))
    if interval is not None:
        text.append(_spread(mean, interval, ends or ()))
    if ends is not None and ends != [0, 1]:
        text.append(f"\nof {span(*[f'{end:g}' for end in ends])}")
        text.append(f"; normalised {figure(summary['mean_normalised'], 0, 1)}")
    return text


def _spread(mean: float, interval: list[float], ends: Sequence[float]) -> str:
    # Where the range cuts an interval, its halves differ and one number cannot stand for both.
    if any(bound in ends for bound in interval):
        low, high = [figure(bound, mean, *ends) for bound in interval]
        return f" ({span(low, high)})"
    return f" ± {figure(interval[1] - mean, digits=2)}"


def _count(summary: dict[str, Any], items: int) -> Text:
    if summary["mean_score"] is None and not summary["out_of_range"]:
        return Text("–", style="dim")
    text = Text(f"{summary['mean_n']:,} of {items:,}")
    if summary["out_of_range"]:
        text.append(f"\n{summary['out_of_range']:,} out of range", style="yellow")
    return text


def _pass_rate(summary: dict[str, Any], threshold: float | None) -> Text:
    rate, interval = summary["pass_rate"], summary["pass_rate_interval"]
    if rate is None:
        return Text("no verdict", style="dim")
    beside = "" if threshold is None else f"≥ {threshold:g}: "
    low, high = map(percent, interval)
    return Text(f"{beside}{percent(rate)} ({span(low, high)}), n = {summary['pass_rate_n']:,}")


def _distribution(summary: dict[str, Any]) -> Text:
    counts: list[int] = summary["histogram"]["counts"] if summary["histogram"] else []
    if not any(counts):
        return Text("")
    most = max(counts)
    bars = "".join(_BARS[0 if not n else 1 + (n * (len(_BARS) - 2)) // most] for n in counts)
    low, high = summary["score_range"] or (summary["min_score"], summary["max_score"])
    return Text.assemble((f"{low:g} ", "dim"), (bars, "cyan"), (f" {high:g}", "dim"))


def _metrics(summaries: list[dict[str, Any]]) -> RenderableType | None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric", overflow="fold")
    table.add_column("type", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("n", justify="right", no_wrap=True)
    for summary in summaries:
        shown = list(summary["metrics"].items())[:_MAX_METRICS]
        for name, metric in shown:
            title = Text(visible(f"{summary['evaluator']}.{name}"))
            table.add_row(title, metric["type"], _metric_value(metric), f"{metric['count']:,}")
        left = len(summary["metrics"]) - len(shown)
        if left:
            table.add_row(Text(f"{summary['evaluator']}: {left:,} more", style="dim"))
    return table if table.row_count else None


def _metric_value(metric: dict[str, Any]) -> Text:
    match metric["type"]:
        case "number":
            low, high = metric["min"], metric["max"]
            mean = figure(metric["mean"], low, high, digits=4)
            return Text(f"mean {mean}, {figure(low, digits=6)} to {figure(high, digits=6)}")
        case "boolean":
            return Text(f"{percent(metric['share_true'])} true")
        case "string":
            values = list(metric["values"].items())
            most = visible(", ".join(f"{value} × {count:,}" for value, count in values[:3]))
            return Text(most, overflow="ellipsis", no_wrap=True)
        case "mixed":
            return Text(parts_of_mixed(metric))
        case _:
            return Text("")


def _failures(summaries: list[dict[str, Any]], noun: str) -> RenderableType | None:
    groups = [(s["evaluator"], group) for s in summaries for group in s["failures"]]
    if not groups:
        return None
    text = Text("failures", style="bold")
    groups.sort(key=lambda pair: -pair[1]["count"])
    for evaluator, group in groups[:_MAX_FAILURES]:
        where = "" if group["line"] is None else f", line {group['line']}"
        message = f"{group['type']}: {group['message']}" if group["type"] else group["message"]
        message = visible(message)
        if len(message) > _MAX_MESSAGE:
            message = f"{message[:_MAX_MESSAGE]}…"
        text.append(f"\n{group['count']:>6,} × ", style="red")
        text.append(f"{evaluator}{where}: {group['code']}: {message}", style="not bold")
        text.append(f" (first: {_named(noun, group['first_item'])})", style="not bold dim")
    if len(groups) > _MAX_FAILURES:
        text.append(f"\n         {len(groups) - _MAX_FAILURES:,} more kinds", style="not bold dim")
    return text


def _slowest(summaries: list[dict[str, Any]], noun: str) -> RenderableType | None:
    slow = [(s["evaluator"], item) for s in summaries for item in s["slowest"]]
    if not slow:
        return None
    slow.sort(key=lambda pair: -pair[1]["duration_ms"])
    parts = [
        f"{_named(noun, _shortened(item['item']))} {item['duration_ms']:.3g} ms ({evaluator})"
        for evaluator, item in slow[:_MAX_SLOWEST]
    ]
    return Text(f"slowest: {', '.join(parts)}", style="dim")


def _shortened(item: int | str) -> int | str:
    """Cut the parts of a long id: three of them stand in one line."""
    if isinstance(item, int):
        return item
    parts = item.split("/")
    return "/".join(part if len(part) <= _MAX_ID else f"{part[:8]}…" for part in parts)


def _named(noun: str, item: int | str) -> str:
    """Name an item: `row 1,000`, `trace 5b8a…`."""
    return f"{noun} {item:,}" if isinstance(item, int) else f"{noun} {item}"
