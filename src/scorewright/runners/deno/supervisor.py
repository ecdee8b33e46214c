"""The host's side of Deno: JavaScript in processes of its own, behind the kernel's layers."""

from __future__ import annotations

from scorewright.runners.deno.dialect import DenoDialect
from scorewright.runners.deno.layers import MANDATORY
from scorewright.runners.harness import protocol
from scorewright.runners.jail.launch import LaunchedZygote, launch_deno
from scorewright.runners.jail.supervisor import KernelRunner
from scorewright.runners.progress import Progress, ProgressFile


class DenoRunner(KernelRunner):
    """JavaScript in Deno without permissions, behind seccomp, namespaces or Landlock, and limits."""

    tier = "deno"
    mandatory = MANDATORY

    def launch(self, omitted: frozenset[str], prefix: tuple[str, ...]) -> LaunchedZygote:
        """Start the launcher."""
        return launch_deno(omitted=omitted, prefix=prefix)

    def make_progress(self) -> Progress:
        """Return a file that the harness writes a byte to for each item."""
        return ProgressFile()

    def dialect(self, load: protocol.Load) -> DenoDialect:
        """Return how Deno's harness is spoken to."""
        return DenoDialect(load)
