"""Which runner executes which evaluator of a run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from scorewright.domain.errors import UsageError
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.json_value import JsonValue
from scorewright.domain.source_language import LANGUAGE_TITLES, Language
from scorewright.domain.suggestion import did_you_mean
from scorewright.judges.budget import Budget
from scorewright.runners.base import Runner
from scorewright.runners.capabilities import BY_TIER, CAPABILITIES
from scorewright.runners.harness.protocol import Load
from scorewright.runners.jail.launch import LaunchedZygote

RUNNERS: Final = ("auto", *BY_TIER)

#: What `auto` takes, by language.
_AUTOMATIC: Final = {language: one.tier for one in CAPABILITIES for language in one.automatic_for}


class Runners:
    """The runners of one run; each starts when it is first asked for.

    Args:
        name: One of `RUNNERS`; `auto` is the strongest one for each language, never `restricted`, `remote`
            or `local`.
        required_layers: Layers without which nothing may run, beside the mandatory ones.
        zygote: Of the runner of Python that this name stands for, booting already.
        launcher: Deno's, booting already.
        environ: Where the account of remote sandboxes is read from.
        notice: Told of what a person should look after, such as a remote sandbox that could not be removed.
        max_cost_usd: What judges may spend in all; None for no bound.

    Raises:
        UsageError: No runner or layer has this name, or layers are required where there is none.
    """

    def __init__(  # noqa: PLR0913 - each by name
        self,
        name: str,
        *,
        required_layers: frozenset[str] = frozenset(),
        zygote: LaunchedZygote | None = None,
        launcher: LaunchedZygote | None = None,
        environ: Mapping[str, str] = MappingProxyType({}),
        notice: Callable[[str], None] = warnings.warn,
        max_cost_usd: float | None = None,
    ) -> None:
        if name not in RUNNERS:
            raise UsageError(f"there is no runner {name!r}; use one of {', '.join(RUNNERS)}")
        if name in ("local", "remote") and required_layers:
            layers = ", ".join(sorted(required_layers))
            raise UsageError(
                f"runner {name} has no layers of this machine, but these are required: {layers}"
            )
        self._name = name
        self._required = _known(required_layers)
        self._environ = environ
        self._notice = notice
        self._budget = Budget(max_cost_usd)
        #: By tier; remote ones by language as well, as each has an engine of its own to report.
        self._made: dict[str, Runner] = {}
        for tier, launched in ((self._python_tier, zygote), ("deno", launcher)):
            if launched is not None:
                self._made[tier] = self._make(tier, launched)

    @property
    def jailed(self) -> bool:
        """Whether hostile code is contained."""
        return self._name == "auto" or BY_TIER[self._name].contains

    def of(self, language: Language) -> Runner:
        """Return the runner for a language.

        Raises:
            UsageError: The caller's: the runner that was asked for does not take this language.
            SandboxUnavailableError: The caller's account of remote sandboxes is not known.
        """
        tier = _AUTOMATIC[language] if self._name == "auto" else self._name
        _require_language(tier, language)
        key = f"{tier} {language}" if tier == "remote" else tier
        if key not in self._made:
            self._made[key] = self._make(tier, None)
        return self._made[key]

    def for_evaluator(
        self, evaluator: Evaluator, params: Mapping[str, JsonValue] = MappingProxyType({})
    ) -> Runner:
        """Return the runner for an evaluator.

        Args:
            evaluator: Code, or a judge.
            params: What is set for the run: for a judge, they may say which model judges.

        Raises:
            UsageError: As for `of`, or a judge's model cannot be reached; the text names the evaluator.
        """
        try:
            if evaluator.type == "llm_judge":
                return self._judges_of(evaluator, params)
            return self.of(evaluator.language)
        except UsageError as error:
            raise UsageError(f"{evaluator.name}: {error}") from None

    def python_with_hash_seed(self, seed: int) -> Runner:
        """Return another runner of Python, whose hashes are made with this seed; the caller closes it.

        Raises:
            UsageError: The caller's: the runner that was asked for is no sandbox of this machine's.
        """
        from scorewright.runners.jail.supervisor import JailRunner

        is_of_this_machine = self._python_tier in ("jail", "restricted")
        runner = self._make(self._python_tier, None) if is_of_this_machine else None
        if not isinstance(runner, JailRunner):
            raise UsageError(
                f"runner {self._name}: this takes a sandbox of this machine's; use jail, restricted or auto"
            )
        runner.hash_seed = seed
        return runner

    @property
    def _python_tier(self) -> str:
        return _AUTOMATIC["python"] if self._name in ("auto", "deno") else self._name

    def close(self) -> None:
        """End every process of every runner."""
        for runner in self._made.values():
            runner.close()

    def _make(self, tier: str, launched: LaunchedZygote | None) -> Runner:
        required = required_of(tier, self._required)
        if tier == "jail":
            from scorewright.runners.jail.supervisor import JailRunner

            return JailRunner(required=required, launched=launched)
        if tier == "restricted":
            from scorewright.runners.jail.supervisor import RestrictedRunner

            return RestrictedRunner(required=required, launched=launched)
        if tier == "deno":
            from scorewright.runners.deno.supervisor import DenoRunner

            return DenoRunner(required=required, launched=launched)
        if tier == "remote":
            return self._make_remote()
        from scorewright.runners.local import LocalRunner

        return LocalRunner()

    def _judges_of(self, evaluator: Evaluator, params: Mapping[str, JsonValue]) -> Runner:
        from scorewright.judges.choice import check_price, connection_of
        from scorewright.judges.runner import JudgeRunner

        connection, model = connection_of(evaluator, params, self._environ)
        if self._budget.max_usd is not None:
            check_price(connection, model)
        key = f"judge {connection.name}"
        if key not in self._made:
            self._made[key] = JudgeRunner(connection, self._budget)
        return self._made[key]

    def _make_remote(self) -> Runner:
        from scorewright.runners.remote.daytona import Daytona, read_settings
        from scorewright.runners.remote.supervisor import RemoteRunner

        provider = Daytona(read_settings(self._environ))
        return RemoteRunner(provider, translate=self._as_javascript, notice=self._notice)

    def _as_javascript(self, load: Load) -> tuple[str, list[int] | None]:
        """Translate TypeScript in this machine's own sandbox."""
        if load.language != "typescript":
            return load.source, None
        from scorewright.runners.deno.supervisor import DenoRunner

        deno = self._made.setdefault("deno", DenoRunner())
        assert isinstance(deno, DenoRunner)  # noqa: S101 - what has that name
        return deno.as_javascript(load)


def _require_language(tier: str, language: Language) -> None:
    taken = BY_TIER[tier].languages
    if language not in taken:
        titles = " and ".join(LANGUAGE_TITLES[one] for one in taken)
        raise UsageError(
            f"runner {tier}: it runs {titles} alone, and this is {LANGUAGE_TITLES[language]}; "
            f"use runner {_AUTOMATIC[language]}, or auto"
        )


#: What a layer that one sandbox alone has is called in the other one, where that has the same by other means.
_SAME: Final = {
    "jail": {"own_root": "empty_root", "files": "seccomp"},
    "deno": {"empty_root": "own_root"},
}


def required_of(tier: str, names: frozenset[str]) -> frozenset[str]:
    """Return what layers that are asked for are called in one tier.

    Raises:
        UsageError: The caller's: there is no such layer.
    """
    same = _SAME["deno" if tier == "deno" else "jail"]
    return frozenset(same.get(name, name) for name in _known(names))


def _known(names: frozenset[str]) -> frozenset[str]:
    if not names:
        return names
    from scorewright.runners.deno import layers as deno
    from scorewright.runners.jail import layers as jail

    stripped = frozenset(name.strip() for name in names)
    there_are = {**jail.PURPOSES, **deno.PURPOSES}
    for name in sorted(stripped - there_are.keys()):
        near = did_you_mean(name, there_are)
        raise UsageError(f"there is no layer {name!r}{near}; there are {', '.join(there_are)}")
    return stripped
