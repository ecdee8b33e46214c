"""The host's side of Deno: JavaScript in processes of its own, behind the kernel's layers."""

from __future__ import annotations

from typing import Final

import msgspec

from scorewright.domain.errors import EvaluatorError
from scorewright.runners.base import Limits
from scorewright.runners.deno.dialect import ScriptDialect
from scorewright.runners.deno.layers import MANDATORY
from scorewright.runners.harness import protocol
from scorewright.runners.jail.launch import LaunchedZygote, launch_deno
from scorewright.runners.jail.supervisor import KernelRunner
from scorewright.runners.process import WorkerLostError
from scorewright.runners.progress import Progress, ProgressFile

#: The launcher's name for it, and what goes in and out.
_TYPESCRIPT, _SOURCE, _TRANSLATION = "typescript", b"T", b"t"
#: The longest source takes a second.
_TRANSLATE_TIMEOUT_S: Final = 20.0
_TRANSLATE_LIMITS: Final = Limits(memory_mb=512)
_MAX_TRANSLATIONS: Final = 32


class _Translation(msgspec.Struct, frozen=True):
    code: str
    #: The author's line, from 1, of each line of the code; None where they are the same ones.
    lines: list[int] | None
    error: str | None


class DenoRunner(KernelRunner):
    """JavaScript and TypeScript in Deno without permissions, behind seccomp, namespaces or Landlock, and limits."""

    tier = "deno"
    mandatory = MANDATORY

    def __init__(
        self,
        *,
        required: frozenset[str] = frozenset(),
        launched: LaunchedZygote | None = None,
        omitted: frozenset[str] = frozenset(),
        prefix: tuple[str, ...] = (),
    ) -> None:
        super().__init__(required=required, launched=launched, omitted=omitted, prefix=prefix)
        #: By source: each is translated once.
        self._translations: dict[str, _Translation] = {}

    def launch(self, omitted: frozenset[str], prefix: tuple[str, ...]) -> LaunchedZygote:
        """Start the launcher."""
        return launch_deno(omitted=omitted, prefix=prefix)

    def make_progress(self) -> Progress:
        """Return a file that the harness writes a byte to for each item."""
        return ProgressFile()

    def dialect(self, load: protocol.Load) -> ScriptDialect:
        """Return how Deno's harness is spoken to; TypeScript is translated first, in the jail."""
        return ScriptDialect(load, *self.as_javascript(load))

    def as_javascript(self, load: protocol.Load) -> tuple[str, list[int] | None]:
        """Return a script's source as JavaScript, and the author's line, from 1, of each line of that.

        Where every line stays where it is, None stands for these lines.

        Raises:
            EvaluatorError: The author's: TypeScript that cannot be translated.
            SandboxUnavailableError: The machine's: there is no sandbox to translate in.
        """
        if load.language != "typescript":
            return load.source, None
        if load.source not in self._translations:
            if len(self._translations) >= _MAX_TRANSLATIONS:  # a server's runner lives for long
                del self._translations[next(iter(self._translations))]
            self._translations[load.source] = self._translate(load.source)
        translation = self._translations[load.source]
        if translation.error is not None:
            raise EvaluatorError(f"{load.filename}: TypeScript: {translation.error}")
        return translation.code, translation.lines

    def _translate(self, source: str) -> _Translation:
        worker = self.spawn_program(_TYPESCRIPT, _TRANSLATE_LIMITS)
        try:
            worker.send(_SOURCE, [source.encode("utf-8", "replace")])
            worker.write_all(_TRANSLATE_TIMEOUT_S)
            frame = worker.wait_frame(_TRANSLATE_TIMEOUT_S)
            if frame is None or frame[0] != _TRANSLATION:
                return _Translation("", None, "it takes too long to translate; simplify it")
            return msgspec.json.decode(frame[1], type=_Translation)
        except WorkerLostError:
            return _Translation(
                "", None, "its translation needs too much memory; shorten it, or nest less deeply"
            )
        finally:
            worker.end()
