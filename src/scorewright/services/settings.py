"""What the operator of a server decides. Read where a process starts, and handed on from there."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from scorewright.domain.errors import UsageError
from scorewright.services.run_queue import RUNS_PER_PROJECT
from scorewright.services.runner_choice import RUNNERS
from scorewright.storage.database import sqlite_url

_MIB: Final = 1024 * 1024
_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
DEFAULT_PORT: Final = 8321


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What one server is told."""

    data_folder: Path = Path(".scorewright")
    #: `sqlite:///PATH` or `postgresql://…`.
    database_url: str = ""
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    #: Names by which the server may be asked, without ports. Others are refused: a foreign page may point its own
    #: name at this machine.
    allowed_hosts: frozenset[str] = _LOOPBACK_NAMES
    #: Origins whose pages may change something, beside the server's own.
    allowed_origins: frozenset[str] = frozenset()
    max_body_bytes: int = 32 * _MIB
    #: Of a file that is uploaded.
    max_upload_bytes: int = 1024 * _MIB
    #: Of one request with traces or logs.
    max_ingest_bytes: int = 64 * _MIB
    runner: str = "auto"
    #: Runs of one project that are worked on at a time.
    runs_per_project: int = RUNS_PER_PROJECT
    #: Everybody who reaches the server may do everything.
    no_auth: bool = False

    def __post_init__(self) -> None:
        if self.no_auth and not is_loopback(self.host):
            raise UsageError(
                f"--no-auth: {self.host} can be reached from other machines; use it with --host 127.0.0.1 only"
            )
        if self.runner == "local":
            raise UsageError(
                "SCOREWRIGHT_RUNNER=local: it runs what others wrote without a sandbox, which a server never does; "
                "use auto, jail, restricted, deno or remote"
            )
        if self.runs_per_project < 1:
            raise UsageError(
                "SCOREWRIGHT_RUNS_PER_PROJECT=0: no run would ever begin; use 1 or more"
            )
        if self.runner not in RUNNERS:
            raise UsageError(
                f"SCOREWRIGHT_RUNNER={self.runner!r:.40}: there is no such runner; use auto"
            )


def read_settings(  # noqa: PLR0913 - each by name
    environ: Mapping[str, str],
    *,
    host: str | None = None,
    port: int | None = None,
    database_url: str | None = None,
    runs_per_project: int | None = None,
    no_auth: bool = False,
) -> Settings:
    """Read settings from the environment; arguments come before it.

    Args:
        environ: The process's.
        host: The address to listen at.
        port: The port to listen at; 0 for any that is free.
        database_url: The database.
        runs_per_project: Runs of one project that are worked on at a time.
        no_auth: Whether everybody may do everything.

    Raises:
        UsageError: The caller's: a variable's value cannot be used.
    """
    folder = Path(environ.get("SCOREWRIGHT_HOME") or ".scorewright")
    defaults = Settings()
    host = host or environ.get("SCOREWRIGHT_HOST") or defaults.host
    if port is None:
        port = _number(environ, "SCOREWRIGHT_PORT", DEFAULT_PORT)
    hosts = _names(environ, "SCOREWRIGHT_ALLOWED_HOSTS")
    return Settings(
        data_folder=folder,
        database_url=database_url
        or environ.get("SCOREWRIGHT_DATABASE_URL")
        or sqlite_url(folder / "scorewright.db"),
        host=host,
        port=port,
        allowed_hosts=_LOOPBACK_NAMES | hosts | _own_name(host),
        allowed_origins=_names(environ, "SCOREWRIGHT_ALLOWED_ORIGINS"),
        max_body_bytes=_number(environ, "SCOREWRIGHT_MAX_BODY_BYTES", defaults.max_body_bytes),
        max_upload_bytes=_number(
            environ, "SCOREWRIGHT_MAX_UPLOAD_BYTES", defaults.max_upload_bytes
        ),
        max_ingest_bytes=_number(
            environ, "SCOREWRIGHT_MAX_INGEST_BYTES", defaults.max_ingest_bytes
        ),
        runner=environ.get("SCOREWRIGHT_RUNNER") or defaults.runner,
        runs_per_project=_number(environ, "SCOREWRIGHT_RUNS_PER_PROJECT", defaults.runs_per_project)
        if runs_per_project is None
        else runs_per_project,
        no_auth=no_auth,
    )


def is_loopback(host: str) -> bool:
    """Tell whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def url_host(host: str) -> str:
    """Write an address as URLs have it."""
    return f"[{host}]" if ":" in host else host


def _own_name(host: str) -> frozenset[str]:
    try:
        if ipaddress.ip_address(host).is_unspecified:
            return frozenset()
    except ValueError:
        pass
    return frozenset({url_host(host).lower()})


def _names(environ: Mapping[str, str], variable: str) -> frozenset[str]:
    parts = environ.get(variable, "").split(",")
    return frozenset(part.strip().lower().rstrip("/") for part in parts if part.strip())


def _number(environ: Mapping[str, str], variable: str, default: int) -> int:
    text = environ.get(variable)
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= 15):
        raise UsageError(f"{variable}={text!r:.40}: not a whole number; set it to one")
    return int(text)
