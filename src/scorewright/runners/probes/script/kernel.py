"""What Deno's kernel layers refuse by themselves: attempts made with every permission of Deno (`deno/attempts.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from scorewright.runners.deno import attempts
from scorewright.runners.probes.probe import PATIENT_S, Expect, Probe


def _attempts(
    names: Iterable[str], expect: Expect = Expect.REFUSED, needs: str | None = None
) -> Iterator[Probe]:
    for name in names:
        yield Probe(
            name,
            "kernel",
            "",
            expect,
            timeout_s=PATIENT_S,
            language="javascript",
            is_attempt=True,
            needs=needs,
        )


PROBES: Final = (
    *_attempts(attempts.GIVEN),
    *_attempts(attempts.FILES),
    *_attempts(attempts.SEEN, needs="own_root"),
    *_attempts(attempts.PROCESSES),
    *_attempts(attempts.NETWORK),
    *_attempts(attempts.SECRETS),
    *_attempts(attempts.NAMED, needs="uts_namespace"),
    *_attempts(attempts.ENDED, Expect.CONTAINED),
    *_attempts(attempts.SYSTEM_CALLS),
    *_attempts(attempts.KILLED, Expect.KILLED),
)
