"""Where models are reached, and with which key: connections, each with a name, that the environment describes.

A model is named `connection/model`, as in `openai/gpt-4o-mini`. What is known of a connection are the variables
`SCOREWRIGHT_CONNECTION_<NAME>_KIND`, `_URL`, `_KEY`, `_CONCURRENCY`, `_REQUESTS_PER_MINUTE`, `_TOKENS_PER_MINUTE` and
`_TIMEOUT_S`; for the vendors below, the variables that their own tools read will do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

import msgspec

from scorewright.domain.errors import UsageError
from scorewright.domain.suggestion import did_you_mean, name_list, quote

Kind: TypeAlias = Literal["openai", "anthropic", "google", "azure", "bedrock"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_PREFIX: Final = "SCOREWRIGHT_CONNECTION_"
_FIELDS: Final = (
    "KIND URL KEY CONCURRENCY REQUESTS_PER_MINUTE TOKENS_PER_MINUTE TIMEOUT_S API_VERSION".split()
)
_VARIABLE: Final = re.compile(rf"{_PREFIX}([A-Z][A-Z0-9_]{{0,40}}?)_({'|'.join(_FIELDS)})")
#: By kind, the variables of its vendor's own tools with key and address.
_VENDORS_OWN: Final[dict[Kind, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "openai": (("OPENAI_API_KEY",), ("OPENAI_BASE_URL",)),
    "anthropic": (("ANTHROPIC_API_KEY",), ("ANTHROPIC_BASE_URL",)),
    "google": (("GOOGLE_API_KEY", "GEMINI_API_KEY"), ()),
    "azure": (("AZURE_OPENAI_API_KEY",), ("AZURE_OPENAI_ENDPOINT",)),
    "bedrock": (("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE"), ()),
}
#: By kind, who sells its models, for their price; others are told by the model's name alone.
VENDORS: Final = {"anthropic": "anthropic", "google": "google", "azure": "azure", "bedrock": "aws"}
#: As a judge's definition may name a vendor.
_ALIASES: Final = {"gemini": "google"}
_DEFAULT_CONCURRENCY: Final = 16
_DEFAULT_TIMEOUT_S: Final = 120.0


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """One way to models."""

    name: str
    kind: Kind
    #: Empty where the vendor's own is meant.
    url: str = ""
    #: Empty where none is needed, as with a server of one's own.
    key: str = ""
    #: Azure's version of its interface.
    api_version: str = ""
    #: Requests under way at a time, of each model.
    concurrency: int = _DEFAULT_CONCURRENCY
    #: Of each model; None for no bound.
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    #: Seconds that one request may take.
    timeout_s: float = _DEFAULT_TIMEOUT_S

    def __repr__(self) -> str:
        """Show everything but the key."""
        return f"Connection(name={self.name!r}, kind={self.kind!r}, url={self.url!r})"

    @property
    def place(self) -> str:
        """Where its models are, for reports: never with what an address may hide, such as a password."""
        return f"{self.kind} at {urlsplit(self.url).hostname}" if self.url else self.kind


def read_connections(environ: Mapping[str, str]) -> dict[str, Connection]:
    """Read all connections.

    Raises:
        UsageError: The operator's: a variable's value does not fit.
    """
    told: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    for variable, value in environ.items():
        if value and (found := _VARIABLE.fullmatch(variable)):
            told.setdefault(found[1].lower().replace("_", "-"), {})[found[2]] = value
    made = {name: _connection(name, fields, environ) for name, fields in told.items()}
    return {name: one for name, one in made.items() if one is not None}


def find_connection(model: str, connections: Mapping[str, Connection]) -> tuple[Connection, str]:
    """Return the connection that a model's name begins with, and the model's own name.

    Raises:
        UsageError: The caller's: there is none of that name.
    """
    # A colon may stand in place of the first slash; whatever comes behind is the vendor's own.
    name, separator, own = re.sub(r"^([\w-]+):", r"\1/", model.strip(), count=1).partition("/")
    name = _ALIASES.get(name.lower(), name.lower())
    if separator and own and name in connections:
        return connections[name], own
    if not separator or not own:
        raise UsageError(
            f"model {quote(model)} names no connection; write connection/model, as in openai/gpt-4o-mini; "
            f"there are: {name_list(connections)}"
        ).at("/params/model")
    near = did_you_mean(name, connections)
    raise UsageError(
        f"model {quote(model)}: there is no connection {quote(name)}{near}; there are: {name_list(connections)}; "
        f"{_how_to_connect(name)}"
    ).at("/params/model")


def key_variable(name: str) -> str:
    """Return the variable that a connection's key is set by."""
    return f"{_PREFIX}{name.upper().replace('-', '_')}_KEY"


def _how_to_connect(name: str) -> str:
    if name in _VENDORS_OWN:
        return f"set {_VENDORS_OWN[name][0][0]}"
    stem = key_variable(re.sub(r"\W", "_", name)).removesuffix("_KEY")
    return f"set {stem}_URL to an address that speaks OpenAI's protocol, and {stem}_KEY to its key"


def _connection(name: str, told: dict[str, str], environ: Mapping[str, str]) -> Connection | None:
    kind = _kind_of(name, told)
    keys, urls = _VENDORS_OWN[kind] if name == kind else ((), ())
    key = told.get("KEY") or _first(environ, keys)
    url = told.get("URL") or _first(environ, urls)
    if not key and not url:
        return None
    if url and urlsplit(url).scheme not in ("http", "https"):
        raise UsageError(
            f"{_PREFIX}{name.upper()}_URL={url!r:.80}: no address; begin with https://"
        )
    if kind == "azure" and not url:
        raise UsageError(
            f"connection {name}: Azure has no address of its own; set AZURE_OPENAI_ENDPOINT"
        )
    return Connection(
        name=name,
        kind=kind,
        url=url,
        key=key,
        api_version=told.get("API_VERSION", ""),
        concurrency=_count(name, told, "CONCURRENCY") or _DEFAULT_CONCURRENCY,
        requests_per_minute=_count(name, told, "REQUESTS_PER_MINUTE"),
        tokens_per_minute=_count(name, told, "TOKENS_PER_MINUTE"),
        timeout_s=float(_count(name, told, "TIMEOUT_S") or _DEFAULT_TIMEOUT_S),
    )


def _kind_of(name: str, told: dict[str, str]) -> Kind:
    wanted = told.get("KIND", name if name in KINDS else "openai")
    for kind in KINDS:
        if wanted == kind:
            return kind
    near = did_you_mean(wanted, KINDS)
    raise UsageError(
        f"{_PREFIX}{name.upper()}_KIND={wanted!r:.40}: there is no such kind{near}; use {name_list(KINDS)}"
    )


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")


def _count(name: str, told: dict[str, str], field: str) -> int | None:
    value = told.get(field)
    if value is None:
        return None
    if not re.fullmatch(r"[1-9]\d{0,8}", value):
        raise UsageError(
            f"{_PREFIX}{name.upper()}_{field}={value!r:.40}: use a whole number of at least 1"
        )
    return int(value)
