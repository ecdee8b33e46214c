"""What the host asks of a reader, and what it is answered.

A reader may be in its author's hands: answers are decoded into types, from JSON, which holds nothing but values.
"""

from __future__ import annotations

import signal
from typing import Final

import msgspec

from scorewright.domain.definition import Definition
from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.evaluator import Reading, UnreadableSourceError, read_source
from scorewright.domain.signature import Diagnostic
from scorewright.runners.harness.protocol import MAX_REPLY_BYTES

#: Kinds of frames: host to reader, and back.
SOURCE, ANSWER = b"S", b"a"
#: Of the whole address space beyond the interpreter's own. A mebibyte of ordinary code takes a quarter of it.
MEMORY_MB: Final = 512
#: Of processor time, and of waiting for it where the machine is busy.
CPU_S: Final = 10
PATIENCE_S: Final = 20.0


class Question(msgspec.Struct, frozen=True):
    """A source that is to be read."""

    #: As UTF-8, halves of characters too.
    source: bytes
    #: What of it a source is read by.
    definition: Definition


class Read(msgspec.Struct, frozen=True, tag="read"):
    """It is an evaluator's."""

    reading: Reading


class Unreadable(msgspec.Struct, frozen=True, tag="unreadable"):
    """It is none."""

    diagnostics: tuple[Diagnostic, ...]


_answers: Final = msgspec.json.Decoder(Read | Unreadable)


def encode_question(source: str, definition: Definition) -> bytes:
    """Encode what a reader is asked.

    Raises:
        UnreadableSourceError: The author's: a text of the definition holds half of a character.
    """
    asked = Definition(
        language=definition.language,
        convention=definition.convention,
        level=definition.level,
        params=definition.params,
    )
    try:
        return msgspec.msgpack.encode(Question(source.encode("utf-8", "surrogatepass"), asked))
    except UnicodeEncodeError:
        text = "params: a text holds half of a character (a lone surrogate)"
        raise UnreadableSourceError((_error("bad_param", text),)) from None


def answer(question: bytes) -> bytes:
    """Do a reader's work: read a source, and encode what is found."""
    asked = msgspec.msgpack.decode(question, type=Question)
    try:
        source = asked.source.decode("utf-8", "surrogatepass")
        found = Read(read_source(source, asked.definition))
    except UnreadableSourceError as error:
        found = Unreadable(error.diagnostics)
    except (MemoryError, RecursionError):
        found = Unreadable((too_large(),))
    encoded = msgspec.json.encode(found)
    if len(encoded) > MAX_REPLY_BYTES:
        text = "what is found in the source takes more than 2 MiB to describe; move data out of it"
        encoded = msgspec.json.encode(Unreadable((_error("too_complex", text),)))
    return encoded


def decode_answer(encoded: bytes, definition: Definition) -> Reading:
    """Return what a reader found.

    Args:
        encoded: As it came.
        definition: What was asked about.

    Raises:
        UnreadableSourceError: The author's: the source is no evaluator.
        msgspec.ValidationError: No reader of ours answers so.
    """
    found = _answers.decode(encoded)
    if isinstance(found, Unreadable):
        raise UnreadableSourceError(found.diagnostics)
    if found.reading.signature.language != (definition.language or "python"):
        raise msgspec.ValidationError("read in another language than it was asked in")
    return found.reading


def blame(signal_number: int) -> Diagnostic:
    """Return what is wrong with a source whose reader has died of a signal.

    Raises:
        SandboxUnavailableError: Somebody has killed it, which is not its author's fault.
    """
    if signal_number in (0, signal.SIGKILL):
        raise SandboxUnavailableError("sandbox: a reader was lost; try again")
    return too_slow() if signal_number == signal.SIGXCPU else too_large()


def too_slow() -> Diagnostic:
    """Return what is wrong with a source that takes too long."""
    text = f"the source takes more than {CPU_S} s to analyse; shorten it, or move data out of it"
    return _error("too_complex", text)


def too_large() -> Diagnostic:
    """Return what is wrong with a source that takes too much memory or stack."""
    text = (
        f"the source takes more than {MEMORY_MB} MiB to analyse, or is nested too deeply; "
        "shorten it, or move data out of it"
    )
    return _error("too_complex", text)


def _error(code: str, message: str) -> Diagnostic:
    return Diagnostic(severity="error", code=code, message=message)
