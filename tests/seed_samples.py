"""The Python samples of the three documents, cut out of them as they are printed."""

from __future__ import annotations

from pathlib import Path

SEEDS = Path(__file__).parents[2] / "shared" / "seeds"


def lines_of(seed: str) -> list[str]:
    return (SEEDS / seed).read_text(encoding="utf-8").split("\n")


def agenta_samples() -> list[str]:
    """Cut out the samples that have a body, in the order of the page."""
    lines = lines_of("agenta-custom-code-evaluator.txt")
    starts = [number for number, line in enumerate(lines) if line.startswith("from typing import")]
    samples: list[str] = []
    for start in starts:
        end = start
        while not lines[end] or lines[end].startswith((" ", "from ", "def ", ")")):
            end += 1
        samples.append("\n".join(lines[start:end]).rstrip() + "\n")
    return [sample for sample in samples if "return" in sample]


#: The page has lost its indentation: for each sample the level of each of its lines.
AGENTLOOP_LEVELS = {
    "default template": [0, 1, 1, 2, 2, 1],
    "format validation": [0, 1, 1, 1, 2, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1],
    "numeric tolerance": [0, 1, 1, 2, 3, 2, 2, 1, 1, 2, 1, 2, 1, 1, 1, 2, 1],
    "tool calling": [0, 1, 1, 1, 2, 1, 1, 1, 2, 3, 1, 1, 1, 2, 1, 2, 2, 1],
}


def agentloop_sample(name: str) -> str:
    """Cut a sample out of the page; the sentence after it is glued to its last line."""
    lines = lines_of("agentloop-code-evaluator.txt")
    starts = [number for number, line in enumerate(lines) if line.startswith("def evaluate(")]
    assert len(starts) == len(AGENTLOOP_LEVELS)
    start = starts[list(AGENTLOOP_LEVELS).index(name)]
    levels = AGENTLOOP_LEVELS[name]
    block = lines[start : start + len(levels)]
    block[-1] = block[-1][: block[-1].rindex("}") + 1]
    return "".join(f"{'    ' * level}{line}\n" for level, line in zip(levels, block, strict=True))


def amp_sample() -> str:
    lines = lines_of("amp-custom-evaluators.txt")
    (start,) = [number for number, line in enumerate(lines) if line.startswith("def evaluate(")]
    end = start + 1
    while not lines[end] or lines[end].startswith(" "):
        end += 1
    return "\n".join(lines[start:end]).rstrip() + "\n"
