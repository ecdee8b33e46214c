"""Three evaluators, one a convention, whose results are all that results can be; and rows for them."""

from __future__ import annotations

from typing import Any

from command_line import CommandLine

FINE = 'def evaluate(output):\n    return {"score": len(output), "explanation": f"[{output}]"}\n'
#: The three conventions, with everything a result can be.
THREE = {
    "length.py": FINE,
    "profile.py": """\
def evaluate(inputs, outputs, trace):
    number = inputs["number"]
    print("row", number)
    if number % 11 == 3:
        raise ValueError(f"no {number % 2}")
    if number % 11 == 5:
        return EvalResult.skip("not this one")
    if number % 11 == 7:
        return 1.5
    return {
        "score": (number % 10) / 10,
        "explanation": "größer 値 \\N{SNOWMAN}, with \\"quotes\\"\\nand lines",
        "big": 2**53 + number,
        "deep": {"flag": number % 2 == 0, "with.dot": None, "list": [1, {"a": 0.5}]},
        "text": "=1+1",
    }
""",
    "faithful.py": """\
def evaluate(trace: Trace, least: int = 4) -> EvalResult:
    return EvalResult(score=float(len(trace.output) >= least), passed=len(trace.output) > 4)
""",
}
ROWS: list[dict[str, Any]] = [{"output": "x" * (n % 9), "number": n} for n in range(1, 501)]


def write_workshop(cli: CommandLine) -> CommandLine:
    """Write the evaluators, all rows as `rows.jsonl` and the first twenty as `few.jsonl`."""
    cli.write_rows("rows.jsonl", ROWS)
    cli.write_rows("few.jsonl", ROWS[:20])
    for name, source in THREE.items():
        cli.write(name, source)
    return cli
