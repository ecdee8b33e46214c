"""What a provider of remote sandboxes has to offer, and how it says that something did not work.

Four calls, which fit a REST API as they fit one with an address per sandbox: make one, put files into it, run code in
it, remove it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec


class ProviderError(Exception):
    """A call to the provider did not work.

    Args:
        text: What happened and, where it is known, what to do; fit to show.
        is_passing: Whether another sandbox may work later.
        retry_after_s: How long the provider asks to wait; None where it does not.
    """

    def __init__(self, text: str, *, is_passing: bool, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.is_passing = is_passing
        self.retry_after_s = retry_after_s


class Sandbox(msgspec.Struct, frozen=True):
    """One sandbox; what its calls need to find it."""

    sandbox_id: str
    #: Where files and code go.
    address: str
    is_ready: bool
    #: Why it must not, or will never, be used; empty where it may be.
    flaw: str = ""
    #: Whether another one may be without this flaw.
    flaw_is_passing: bool = True


class CodeRun(msgspec.Struct, frozen=True):
    """What code left behind: written by code of the author's, for all that is known."""

    exit_code: int
    output: str


class Provider(Protocol):
    """Sandboxes of one account. Used by several threads at a time."""

    @property
    def name(self) -> str:
        """The provider, as it is shown."""
        ...

    def create(self, labels: Mapping[str, str], *, idle_s: float) -> Sandbox:
        """Ask for a sandbox without a network, which removes itself after `idle_s` seconds without a call.

        Returns:
            The sandbox, which may have to get ready yet, or have a flaw: whoever asked for it has to remove it.

        Raises:
            ProviderError: There is none.
        """
        ...

    def look(self, sandbox: Sandbox) -> Sandbox:
        """Return the sandbox as it is now.

        Raises:
            ProviderError: It is gone, or nobody knows.
        """
        ...

    def upload(self, sandbox: Sandbox, files: Mapping[str, bytes]) -> None:
        """Put files, by name, where code is run.

        Raises:
            ProviderError: They are not there.
        """
        ...

    def run_code(self, sandbox: Sandbox, code: str, *, timeout_s: float) -> CodeRun:
        """Run a Python program of at most 96 KiB and return what it printed.

        Raises:
            ProviderError: Nothing came back, or too much.
        """
        ...

    def destroy(self, sandbox: Sandbox) -> None:
        """Remove a sandbox with all that is in it; one that is gone already is no error.

        Raises:
            ProviderError: It may still be there.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
