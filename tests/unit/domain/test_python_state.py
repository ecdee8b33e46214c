"""What may be shared between items, and what must not be."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scorewright.domain.python_state import keeps_no_state
from scorewright.domain.signature import parse_python

BODY = "def evaluate(output):\n    return {'score': 1, 'explanation': output}\n"

STATELESS = {
    "only the function": BODY,
    "imports": "import json\nfrom collections import Counter\nimport urllib.parse\n" + BODY,
    "constants": "'''doc'''\nA = 1\nB = ('x', -A)\nC: str = 'y' + 'z'\n" + BODY,
    "patterns": "import re\nP = re.compile('x', re.I | re.M)\n" + BODY,
    "frozen sets": "W = frozenset({'a', 'b'})\n" + BODY,
    "helpers with fixed defaults": "def helper(x, n=3, *, t=(1, 2)): return x * n\n" + BODY,
    "a lambda": "evaluate = lambda output, n=1: {'score': n, 'explanation': output}\n",
    "local state": "def evaluate(output):\n    seen = []\n    seen.append(output)\n    return len(seen)\n",
    "a closure": "def evaluate(output):\n    n = 0\n    def up():\n        nonlocal n\n        n += 1\n    up()\n    return n\n",
    "a type's name": "def evaluate(output):\n    return type(output).__name__\n",
}
STATEFUL = {
    "a list": "SEEN = []\n" + BODY,
    "a dict in a tuple": "SEEN = ({},)\n" + BODY,
    "a counter": "N = 0\ndef evaluate(output):\n    global N\n    N += 1\n    return N\n",
    "a mutable default": "def evaluate(output, seen=[]):\n    seen.append(output)\n    return len(seen)\n",
    "a helper's mutable default": "def helper(x, seen=[]): return seen\n" + BODY,
    "a keyword's mutable default": "def evaluate(output, *, seen={}): return len(seen)\n",
    "a cache": "import functools\n@functools.cache\ndef helper(x): return x\n" + BODY,
    "an object": "import itertools\nN = itertools.count()\n" + BODY,
    "an attribute of the function": "def evaluate(output):\n    evaluate.n = 1\n    return 1\n",
    "setattr": "def evaluate(output):\n    setattr(evaluate, 'n', 1)\n    return 1\n",
    "getattr": "def evaluate(output):\n    getattr(evaluate, '__dict__')['n'] = 1\n    return 1\n",
    "globals": "def evaluate(output):\n    globals()['n'] = 1\n    return 1\n",
    "the function's namespace": "def evaluate(output):\n    evaluate.__globals__['n'] = 1\n    return 1\n",
    "the module by name": "import sys\ndef evaluate(output):\n    sys.modules['evaluator'].n = 1\n",
    "a class": "class Seen:\n    items = []\n" + BODY,
    "exec": "def evaluate(output):\n    exec('global n; n = 1')\n    return 1\n",
    "statements": "for n in range(3):\n    pass\n" + BODY,
    "a condition": "if True:\n    SEEN = []\n" + BODY,
    "a noisy annotation": "def helper(x: print('hi')): return x\n" + BODY,
    "a name that another one stands behind": "A = print\n" + BODY,
}


@pytest.mark.parametrize("source", STATELESS.values(), ids=STATELESS.keys())
def test_sources_that_can_keep_nothing_share_their_namespace(source: str):
    assert keeps_no_state(ast.parse(source))


@pytest.mark.parametrize("source", STATEFUL.values(), ids=STATEFUL.keys())
def test_sources_that_could_keep_something_get_a_fresh_namespace(source: str):
    assert not keeps_no_state(ast.parse(source))


def test_the_signature_says_so():
    stateless, stateful = parse_python(BODY).signature, parse_python("SEEN = []\n" + BODY).signature

    assert stateless is not None
    assert stateful is not None
    assert not stateless.may_keep_state
    assert stateful.may_keep_state


def test_the_evaluators_of_the_benchmark_share_theirs():
    folder = Path(__file__).parents[3] / "benchmarks" / "evaluators"
    sources = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))]

    assert sources
    assert all(keeps_no_state(ast.parse(source)) for source in sources)
