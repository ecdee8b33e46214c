"""The report of a run as people read it: every number with what it is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from scorewright.cli.console import open_console
from scorewright.cli.speech import visible
from scorewright.services.evaluation import Report

_BARS = " ▁▂▃▄▅▆▇█"
_MAX_FAILURES = 8
_MAX_SLOWEST = 3
_MAX_METRICS = 20
_MAX_MESSAGE = 300


def print_report(report: Report, *, out: Path | None) -> None:
    """Print summaries, metrics, failures and the slowest items."""
    console = open_console()
    document = report.document()
    summaries: list[dict[str, Any]] = document["summary"]  # type: ignore[assignment]
    console.print(_heading(report))
    console.print()
    console.print(_summary_table(summaries, report.items))
    for part in (_metrics(summaries), _failures(summaries), _slowest(summaries)):
        if part is not None:
            console.print()
            console.print(part)
    if out is not None:
        console.print()
        count = report.items * len(report.tasks)
        console.print(Text(f"{count:,} results in {out}"))


def _heading(report: Report) -> Text:
    rows = f"{report.items:,} rows"
    if not report.is_complete:
        rows = f"{report.items:,} of {report.total:,} rows"
    heading = Text(f"{rows} in {report.duration_s:.2f} s, ")
    runner = next((one for one in report.runners if one is not None), None)
    if any(one is not None and one.tier == "local" for one in report.runners):
        heading.append("NO SANDBOX: the code ran with your own rights", style="bold red")
    elif runner is None:
        heading.append("nothing had to run")
    else:
        heading.append(f"sandbox: {runner.tier}, {len(runner.layers)} layers on")
        if runner.missing:
            heading.append(f"; off: {', '.join(runner.missing)}", style="yellow")
    if report.kept:
        heading.append(f"\n{report.kept:,} results kept from the earlier run")
        if report.kept_of_other_version:
            text = f", {report.kept_of_other_version:,} of them made by another version of the evaluator"
            heading.append(text, style="yellow")
    return heading


def _summary_table(summaries: list[dict[str, Any]], items: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("evaluator", overflow="fold")
    for heading in ("mean ± 95 %", "n", "passed", "failed", "skipped"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("distribution", no_wrap=True)
    for summary in summaries:
        failed = summary["failed"]
        table.add_row(
            Text(summary["evaluator"]),
            _mean(summary),
            _count(summary, items),
            _pass_rate(summary),
            Text(f"{failed:,}", style="red" if failed else "dim"),
            Text(f"{summary['skipped']:,}", style="" if summary["skipped"] else "dim"),
            _distribution(summary),
        )
    return table


def _mean(summary: dict[str, Any]) -> Text:
    mean, interval = summary["mean_score"], summary["mean_interval"]
    if mean is None:
        return Text("no score", style="dim")
    if interval is None:
        return Text(f"{mean:.3g}")
    half = max(interval[1] - mean, mean - interval[0])
    return Text(f"{mean:.3g} ± {half:.2g}")


def _count(summary: dict[str, Any], items: int) -> Text:
    count = summary["mean_n"] if summary["mean_score"] is not None else summary["scored"]
    text = Text(f"{count:,} of {items:,}")
    if summary["out_of_range"]:
        text.append(f"\n{summary['out_of_range']:,} out of range", style="yellow")
    return text


def _pass_rate(summary: dict[str, Any]) -> Text:
    rate, interval = summary["pass_rate"], summary["pass_rate_interval"]
    if rate is None:
        return Text("no verdict", style="dim")
    low, high = interval
    return Text(f"{rate:.0%} ({low:.0%}–{high:.0%}), n = {summary['pass_rate_n']:,}")


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
    for heading in ("metric", "type", "value", "n"):
        table.add_column(heading, justify="right" if heading == "n" else "left")
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
            return Text(f"mean {metric['mean']:.4g}, {metric['min']:g} to {metric['max']:g}")
        case "boolean":
            return Text(f"{metric['share_true']:.0%} true")
        case "string":
            values = list(metric["values"].items())
            most = visible(", ".join(f"{value} × {count:,}" for value, count in values[:3]))
            return Text(most, overflow="ellipsis", no_wrap=True)
        case _:
            return Text("")


def _failures(summaries: list[dict[str, Any]]) -> RenderableType | None:
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
        text.append(f" (first: row {group['first_item']:,})", style="not bold dim")
    if len(groups) > _MAX_FAILURES:
        text.append(f"\n         {len(groups) - _MAX_FAILURES:,} more kinds", style="not bold dim")
    return text


def _slowest(summaries: list[dict[str, Any]]) -> RenderableType | None:
    slow = [(s["evaluator"], item) for s in summaries for item in s["slowest"]]
    if not slow:
        return None
    slow.sort(key=lambda pair: -pair[1]["duration_ms"])
    parts = [
        f"row {item['item']:,} {item['duration_ms']:.3g} ms ({evaluator})"
        for evaluator, item in slow[:_MAX_SLOWEST]
    ]
    return Text(f"slowest: {', '.join(parts)}", style="dim")
