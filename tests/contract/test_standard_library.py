"""The whole standard library works in the jail, after the lock, where there is no file to import from."""

from __future__ import annotations

import encodings.aliases
import json
import subprocess
import sys
from typing import Any

import pytest

from scorewright.domain.refused_modules import REFUSED_MODULES
from scorewright.domain.result import Failed
from scorewright.runners.jail.supervisor import JailRunner
from workbench import explanation, run

#: This one prints a poem: what it writes belongs to the answers of another process here.
CHATTY = {"this"}
MODULES = sorted(sys.stdlib_module_names - REFUSED_MODULES - CHATTY)
#: Exists on Windows alone.
FOREIGN_CODECS = {"mbcs", "oem"}

IMPORT_EACH = f"""
import importlib, json
found = {{}}
for name in {MODULES}:
    try:
        importlib.import_module(name)
        found[name] = "imported"
    except Exception as error:
        found[name] = repr(error)
"""

#: What authors use, as expressions or statements, with what they must give.
USES: dict[str, tuple[str, Any]] = {
    "strptime": (
        'import datetime\nreturn datetime.datetime.strptime("4 Mar 2026 +0200", "%d %b %Y %z").isoformat()',
        "2026-03-04T00:00:00+02:00",
    ),
    "decimal": ('import decimal\nreturn str(decimal.Decimal("0.1") * 3)', "0.3"),
    "fractions": ("import fractions\nreturn str(fractions.Fraction(1, 3) * 6)", "2"),
    "statistics": ("import statistics\nreturn statistics.fmean([1, 2, 6])", 3.0),
    "regular expressions": ('import re\nreturn re.findall("[a-c]+", "abd cab")', ["ab", "cab"]),
    "difflib": (
        'import difflib\nreturn difflib.SequenceMatcher(None, "abc", "abd").quick_ratio() > 0.6',
        True,
    ),
    "textwrap": ('import textwrap\nreturn textwrap.shorten("a b c d e f", 8)', "a [...]"),
    "json": ('import json\nreturn json.loads(json.dumps({"a": [1, None]}))', {"a": [1, None]}),
    "csv": (
        'import csv, io\nreturn list(csv.DictReader(io.StringIO("a,b\\n1,2")))',
        [{"a": "1", "b": "2"}],
    ),
    "xml": (
        "import xml.etree.ElementTree as E\nreturn E.fromstring(\"<a><b c='1'/></a>\")[0].attrib",
        {"c": "1"},
    ),
    "xml document": (
        'import xml.dom.minidom as M\nreturn M.parseString("<a/>").documentElement.tagName',
        "a",
    ),
    "html": ('import html\nreturn html.unescape("&eacute;&lt;")', "é<"),
    "html parser": (
        """
        import html.parser
        class P(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs): self.tag = tag
        parser = P()
        parser.feed("<p>")
        return parser.tag
        """,
        "p",
    ),
    "string annotations": (
        """
        from dataclasses import dataclass, asdict, field
        @dataclass
        class A:
            x: "int"
            y: "list[str]" = field(default_factory=list)
        return asdict(A(1))
        """,
        {"x": 1, "y": []},
    ),
    "type hints": (
        'import typing\ndef f(a: "int") -> "dict[str, int]": ...\nreturn sorted(typing.get_type_hints(f))',
        ["a", "return"],
    ),
    "named tuple": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\nreturn P(1)._asdict()",
        {"x": 1},
    ),
    "pickle": (
        """
        import pickle, collections
        return pickle.loads(pickle.dumps(collections.OrderedDict(a=1)))["a"]
        """,
        1,
    ),
    "pickle of the author's class": (
        "import pickle\nreturn pickle.loads(pickle.dumps(Kept(3))).value",
        3,
    ),
    "deep copy": ('import copy\nreturn copy.deepcopy({"a": [1]})', {"a": [1]}),
    "logging": ('import logging\nlogging.getLogger("a").warning("b")\nreturn 1', 1),
    "mock": (
        """
        from unittest import mock
        import json
        with mock.patch("json.dumps", mock.Mock(return_value=3)):
            return json.dumps(1)
        """,
        3,
    ),
    "unittest": (
        """
        import io, unittest
        class T(unittest.TestCase):
            def test_a(self): self.assertEqual(1, 1)
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(T)
        return unittest.TextTestRunner(stream=io.StringIO()).run(suite).wasSuccessful()
        """,
        True,
    ),
    "database in memory": (
        """
        import sqlite3
        connection = sqlite3.connect(":memory:")
        connection.execute("create table t (a)")
        connection.executemany("insert into t values (?)", [(str(n) * 20,) for n in range(50_000)])
        return len(connection.execute("select a from t order by a desc").fetchall())
        """,
        50_000,
    ),
    "archives": (
        """
        import io, zipfile
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive: archive.writestr("a", "b")
        return zipfile.ZipFile(buffer).read("a").decode()
        """,
        "b",
    ),
    "compression": (
        "import bz2, gzip, lzma, zlib\nreturn [m.decompress(m.compress(b'x')) == b'x' for m in (bz2, gzip, lzma, zlib)]",
        [True] * 4,
    ),
    "e-mail": (
        'import email, email.policy\nreturn email.message_from_string("Subject: a", policy=email.policy.default)["subject"]',
        "a",
    ),
    "addresses": (
        'import ipaddress\nreturn ipaddress.ip_network("10.0.0.0/8").num_addresses',
        1 << 24,
    ),
    "links": ('import urllib.parse\nreturn urllib.parse.parse_qs("a=1&a=2")', {"a": ["1", "2"]}),
    "settings": (
        'import configparser\nc = configparser.ConfigParser()\nc.read_string("[a]\\nb=1")\nreturn c["a"]["b"]',
        "1",
    ),
    "toml": ('import tomllib\nreturn tomllib.loads("a = [1]")', {"a": [1]}),
    "syntax trees": ('import ast\nreturn ast.unparse(ast.parse("x+1"))', "x + 1"),
    "own source": ("import inspect\nreturn inspect.getsource(Kept).splitlines()[0]", "class Kept:"),
    "own traceback": (
        'import traceback\ntry:\n    1 / 0  # here\nexcept Exception:\n    return "1 / 0  # here" in traceback.format_exc()',
        True,
    ),
    "memoised function": ("import functools\nreturn functools.cache(lambda n: n + 1)(1)", 2),
    "calendar": ("import calendar\nreturn calendar.month_name[3]", "March"),
    "locks and queues": ("import queue\nq = queue.Queue()\nq.put(1)\nreturn q.get(timeout=1)", 1),
    "event loop": (
        """
        import asyncio
        async def f():
            async with asyncio.timeout(5): await asyncio.sleep(3)
            return await asyncio.gather(*(asyncio.sleep(n, n) for n in range(3)))
        return asyncio.run(f())
        """,
        [0, 1, 2],
    ),
    "event loop's time limit": (
        """
        import asyncio
        async def f():
            try:
                await asyncio.wait_for(asyncio.sleep(10), 1)
            except TimeoutError:
                return asyncio.get_running_loop().time()
        return asyncio.run(f())
        """,
        1.0,
    ),
    "event loop by hand": (
        "import asyncio\nreturn asyncio.SelectorEventLoop().run_until_complete(asyncio.sleep(1, 2))",
        2,
    ),
    "work for a thread": ('import asyncio\nreturn asyncio.run(asyncio.to_thread(len, "abc"))', 3),
    "hashes": ('import hashlib\nreturn hashlib.sha256(b"a").hexdigest()[:8]', "ca978112"),
    "key derivation": (
        'import hashlib\nreturn len(hashlib.scrypt(b"a", salt=b"b", n=2, r=1, p=1))',
        64,
    ),
    "message authentication": (
        'import hmac\nreturn hmac.new(b"k", b"m", "md5").hexdigest()[:8]',
        "ed7e724d",
    ),
    "settings of secure connections": (
        "import ssl\nreturn ssl.create_default_context().check_hostname",
        True,
    ),
    "domain names": ('return "bücher.de".encode("idna").decode()', "xn--bcher-kva.de"),
    "normal forms": ('import unicodedata\nreturn unicodedata.normalize("NFC", "e\\u0301")', "é"),
    "help": (
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out: help(len)\nreturn 'len' in out.getvalue()",
        True,
    ),
    "pure paths": ('import pathlib\nreturn str(pathlib.PurePosixPath("a") / "b")', "a/b"),
    "own file name": ("return __file__", "evaluator.py"),
    "own module": ("import sys\nreturn sys.modules[__name__].Kept is Kept", True),
}
WRAPPER = """
import json

class Kept:
    def __init__(self, value): self.value = value

def use():
{body}

def evaluate(x):
    return {{"score": 0, "explanation": json.dumps(use())}}
"""


def value_of(jail: JailRunner, statements: str, *, timeout_s: float = 5.0) -> Any:
    """Run the body of a function in the jail and return its value."""
    lines = statements.strip("\n").splitlines()
    margin = len(lines[0]) - len(lines[0].lstrip())
    body = "\n".join(f"    {line[margin:]}" for line in lines)
    (outcome,) = run(jail, WRAPPER.format(body=body), timeout_s=timeout_s)
    return json.loads(explanation(outcome))


def test_every_module_that_this_machine_has_can_be_imported(jail: JailRunner):
    program = f"{IMPORT_EACH}\nprint('\\n' + json.dumps(found))"
    listing = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, check=True, text=True
    )
    on_the_host = json.loads(listing.stdout.splitlines()[-1])

    in_the_jail = value_of(jail, f"{IMPORT_EACH}\nreturn found", timeout_s=30.0)

    expected = {name for name, state in on_the_host.items() if state == "imported"}
    refused = {name: in_the_jail[name] for name in expected if in_the_jail[name] != "imported"}
    assert len(expected) > 250
    assert refused == {}


@pytest.mark.parametrize("name", ["tkinter", "curses", "ensurepip", "readline"])
def test_a_refused_module_is_not_there(jail: JailRunner, name: str):
    (outcome,) = run(jail, f"import {name}\n\ndef evaluate(x): pass\n")

    assert isinstance(outcome, Failed)
    assert outcome.type == "ModuleNotFoundError"
    assert "only the standard library can be imported" in outcome.message


@pytest.mark.parametrize("name", ["msgspec", "time_machine", "tzdata", "pytest"])
def test_packages_of_the_host_are_not_there(jail: JailRunner, name: str):
    found = value_of(
        jail, f"import importlib.util\nreturn importlib.util.find_spec({name!r}) is None"
    )

    assert found or name == "time_machine"


@pytest.mark.parametrize("name", USES)
def test_authors_can_use(jail: JailRunner, name: str):
    statements, expected = USES[name]

    assert value_of(jail, statements) == expected


def test_every_codec_works(jail: JailRunner):
    names = sorted({*encodings.aliases.aliases.values()} - FOREIGN_CODECS)
    statements = f"""
    import codecs
    texts = [n for n in {names} if codecs.lookup(n)._is_text_encoding]
    return [n for n in texts if "abc".encode(n).decode(n) != "abc"], len(texts)
    """

    broken, count = value_of(jail, statements)

    assert broken == []
    assert count >= 90


def test_every_time_zone_can_be_read_and_is_the_packages_own(jail: JailRunner):
    statements = """
    import datetime, zoneinfo
    summer = datetime.datetime(2026, 7, 1)
    names = sorted(zoneinfo.available_timezones())
    return {name: summer.replace(tzinfo=zoneinfo.ZoneInfo(name)).isoformat() for name in names
            if name in ("Europe/Berlin", "America/New_York", "Asia/Kolkata")}, len(names)
    """

    times, count = value_of(jail, statements)

    assert count > 500
    assert times == {
        "America/New_York": "2026-07-01T00:00:00-04:00",
        "Asia/Kolkata": "2026-07-01T00:00:00+05:30",
        "Europe/Berlin": "2026-07-01T00:00:00+02:00",
    }


def test_every_hash_that_the_language_promises_works(jail: JailRunner):
    statements = """
    import hashlib
    return sorted(n for n in hashlib.algorithms_guaranteed if hashlib.new(n, b"x").name != n)
    """

    assert value_of(jail, statements) == []


def test_exit_ends_the_item_and_nothing_else(jail: JailRunner):
    first, second = run(jail, 'def evaluate(x):\n    exit("enough")\n', [1, 2])

    assert isinstance(first, Failed)
    assert "sys.exit('enough')" in first.message
    assert first == second


def test_a_coroutine_is_awaited_without_asyncio_being_imported(jail: JailRunner):
    (outcome,) = run(
        jail, 'async def evaluate(x):\n    return {"score": x, "explanation": "awaited"}\n'
    )

    assert explanation(outcome) == "awaited"


@pytest.mark.parametrize(
    ("statements", "error"),
    [
        ("import ctypes\nctypes.CFUNCTYPE(None)(print)", "MemoryError"),
        ("import tempfile\ntempfile.gettempdir()", "FileNotFoundError"),
        ("input()", "EOFError"),
    ],
)
def test_what_cannot_work_fails_where_it_is_used(jail: JailRunner, statements: str, error: str):
    body = "\n".join(f"    {line}" for line in statements.splitlines())

    (outcome,) = run(jail, f"def evaluate(x):\n{body}\n", timeout_s=5.0)

    assert isinstance(outcome, Failed)
    assert outcome.type == error
