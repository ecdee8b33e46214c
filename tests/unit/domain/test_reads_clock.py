"""Sources that may ask for the time, in three languages: rather too many than too few."""

from __future__ import annotations

import pytest

from scorewright.domain.script_parser import parse_script
from scorewright.domain.signature import ParsedSource, parse_python


def reads_clock(parsed: ParsedSource) -> bool:
    assert parsed.signature is not None, parsed.diagnostics
    return parsed.signature.reads_clock


@pytest.mark.parametrize(
    "body",
    [
        "import time",
        "from time import time as t",
        "from datetime import datetime as d; return d.now()",
        "import datetime; return datetime.date.today()",
        "import datetime as d; return d.datetime.utcnow()",
        "import email.utils; return email.utils.localtime()",
        "import logging",
        "import sqlite3",
        "import asyncio; return asyncio.get_event_loop().time()",
        "return __import__('time')",
        "import sys; return sys.modules['time']",
        "return eval('1')",
        "import datetime; return getattr(datetime.datetime, 'now')()",
        "import datetime; return getattr(datetime.datetime, 'n' + 'ow')()",
        "import datetime; return list(map(getattr, [datetime.datetime], ['now']))",
        "import gzip; return gzip.compress(b'')",
        "import zipfile",
        "import operator; return operator.methodcaller('now')",
        "import json; return json.codecs.sys",
        "import a_module_of_the_future",
        "return evaluate.__globals__",
        "import random; return random._time()  # time: by its name\n    time = 1",
    ],
)
def test_python_that_may_ask(body: str):
    assert reads_clock(parse_python(f"def evaluate(x):\n    {body}\n"))


@pytest.mark.parametrize(
    "body",
    [
        "return {'score': 1, 'explanation': 'the time is now'}",
        "import re, json, math, statistics, difflib",
        "from datetime import datetime; return datetime.fromisoformat(x)",
        "import datetime; return datetime.datetime(2026, 1, 1) - datetime.timedelta(1)",
        "return x.validate().updated_time",
        "return getattr(x, 'output', None)",
        "import collections, dataclasses, functools, itertools, typing, uuid, random",
        "# now, today\n    return 'time.time()'",
    ],
)
def test_python_that_cannot(body: str):
    assert not reads_clock(parse_python(f"def evaluate(x):\n    {body}\n"))


@pytest.mark.parametrize(
    "body",
    [
        "return Date.now()",
        "return new Date()",
        "return new Date",
        "return Date(x)",
        "return new Date(/* now */)",
        "return (function () { return this })()['Da' + 'te'].now()",
        "return this['Da' + 'te'].now()",
        "return new Date().toLocaleString()",
        "return new Date( )",
        "return Date()",
        "const D = Date; return new D()",
        "return Temporal.Now.instant()",
        "return new Intl.DateTimeFormat().format()",
        "return eval('1')",
        "return (() => {}).constructor('return 1')()",
        "return globalThis['Da' + 'te'].now()",
        "return \\u0044ate.now()",
    ],
)
@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_scripts_that_may_ask(body: str, language: str):
    parsed = parse_script(f"function evaluate(x) {{ {body} }}", language=language)  # type: ignore[arg-type]

    assert reads_clock(parsed)


@pytest.mark.parametrize(
    "body",
    [
        "return new Date(x).getTime()",
        "return new Date(2026, 0, 1)",
        "return Date.parse(x) + Date.UTC(2026, 0)",
        "const updated = x.lastUpdate; return updated",
        "class A { #n = 1; get() { return this.#n + this.n } } return new A().get()",
    ],
)
def test_scripts_that_cannot(body: str):
    assert not reads_clock(
        parse_script(f"function evaluate(x) {{ {body} }}", language="javascript")
    )
