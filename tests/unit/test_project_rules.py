"""House rules that a tool can check; CONTRIBUTING.md states them for people."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAX_MODULE_LINES = 500
MAX_TARGETS = 15
SHAPELESS_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "stuff"}

# Put together here, so that this file is not its own finding.
REGISTRY = re.compile(
    "|".join(
        (
            r"pypi\." + "org",
            r"python" + r"hosted\.org",
            r"registry\." + r"npmjs",
            r"^\s*--(extra-)?" + "index-url",
            r"^\s*(--|PIP_)?" + "find[-_]links",
        )
    ),
    re.MULTILINE | re.IGNORECASE,
)


def tracked_files() -> list[Path]:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs git and a clone: the rule is about tracked files")
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    paths = (ROOT / name for name in listing.stdout.split("\0") if name)
    return sorted(path for path in paths if path.is_file())


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_module_is_longer_than_500_lines():
    lines = {
        shown(path): text_of(path).count("\n")
        for path in tracked_files()
        # Revisions are written by `make migration`, one for whatever changed.
        if path.suffix == ".py" and not path.match("migrations/versions/0*.py")
    }

    assert lines
    assert {path: n for path, n in lines.items() if n > MAX_MODULE_LINES} == {}


def test_every_module_is_named_for_what_it_holds():
    sources = [path for path in tracked_files() if path.suffix == ".py"]

    shapeless = [
        shown(path)
        for path in sources
        if SHAPELESS_NAMES & {path.stem.strip("_"), path.parent.name.strip("_")}
    ]

    assert shapeless == []


def test_the_package_reads_nothing_beside_the_repository():
    sources = list((ROOT / "src").rglob("*.py"))

    reaching = [shown(path) for path in sources if re.search(r"\.\./|shared/", text_of(path))]

    assert sources
    assert reaching == []


def test_no_file_names_a_package_registry():
    naming = [shown(path) for path in tracked_files() if REGISTRY.search(text_of(path))]

    assert naming == []


def test_no_file_holds_a_path_of_this_machine():
    places = "|".join(
        re.escape(str(place)) for place in (ROOT, Path.home()) if len(place.parts) > 1
    )
    absolute = re.compile(rf"(?<![\w./])({places})/")

    holding = [shown(path) for path in tracked_files() if absolute.search(text_of(path))]

    assert holding == []


@pytest.mark.parametrize("name", ["build", "run", "test", "lint", "oracle", "instrumentation"])
def test_every_locked_package_is_pinned_with_hashes(name: str):
    lock = text_of(ROOT / "requirements" / f"{name}.txt")

    packages = re.split(r"\n(?=\S)", re.sub(r"^\s*#.*\n", "", lock, flags=re.MULTILINE).strip())

    assert len(packages) > 1
    assert [entry for entry in packages if not re.match(r"[\w.-]+==\S+", entry)] == []
    assert [entry for entry in packages if "--hash=sha256:" not in entry] == []


def test_the_makefile_is_short_and_explains_itself():
    phony = re.search(r"^\.PHONY: (.*)$", text_of(ROOT / "Makefile"), re.MULTILINE)
    targets = phony[1].split() if phony else []

    explained = re.findall(r"^([a-z-]+):.*## \S", text_of(ROOT / "Makefile"), re.MULTILINE)

    assert 0 < len(targets) <= MAX_TARGETS
    assert sorted(explained) == sorted(targets)


def test_what_ci_runs_is_what_a_contributor_runs():
    commands = text_of(ROOT / ".ci" / "run").splitlines()

    assert "set -euo pipefail" in commands
    assert commands[-1] == "make lint types test test-instrumentation"


def test_the_changelog_has_a_place_for_the_next_change():
    assert re.search(r"^## Unreleased$", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)


@pytest.mark.parametrize("command", ["make run", "make test"])
def test_the_readme_names_the_two_commands(command: str):
    assert command in text_of(ROOT / "README.md")


def example_evaluators() -> list[str]:
    folder = ROOT / "examples"
    files = [*folder.glob("*/*.py"), *folder.glob("*/*.yaml")]
    return sorted(
        path.relative_to(folder).as_posix() for path in files if path.parent.name != "support"
    )


def test_every_example_is_listed_in_its_readme():
    listed = set(re.findall(r"\]\(([\w/]+\.(?:py|yaml))\)", text_of(ROOT / "examples/README.md")))

    assert len(example_evaluators()) > 1
    assert set(example_evaluators()) - listed == set()


def test_everything_the_example_readme_names_exists():
    text = text_of(ROOT / "examples/README.md")
    links = [ROOT / "examples" / target for target in re.findall(r"\]\(([^)]+)\)", text)]
    arguments = [ROOT / argument for argument in re.findall(r"examples/[\w/.]+", text)]

    absent = [shown(path) for path in [*links, *arguments] if not path.exists()]

    assert links
    assert arguments
    assert absent == []


@pytest.mark.parametrize(
    "name", ["answers.jsonl", "answers_sample.csv", "traced.jsonl", "traces.otlp.jsonl"]
)
def test_the_bundled_data_is_what_its_generator_writes(name: str, tmp_path: Path):
    support = ROOT / "examples" / "support"

    subprocess.run([sys.executable, support / "generate.py", tmp_path], check=True)

    assert (tmp_path / name).read_bytes() == (support / name).read_bytes()
