"""Scorewright: write evaluators, run them sandboxed and fast."""

from scorewright._version import __version__

__all__ = ["__version__"]
