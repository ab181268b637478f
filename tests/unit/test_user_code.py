"""What a user's function depends on: equal descriptions mean equal behaviour; the unclear is refused by name."""

import functools
import math
import os
import subprocess
import sys
import types

import numpy as np
import pytest

from gamekit.jit.user_code import Unclear, fingerprint, identity


def made(source, **names):
    """The function `f` of a notebook cell that knows these names."""
    cell = {"np": np, "math": math, **names}
    exec(source, cell)
    return cell["f"]


READS = "def f(x):\n    return x + W\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (made("def f(x):\n    return x + 1\n"), made("def f(x):\n    return x + 2\n")),
        (made("def f(x, w=1):\n    return x + w\n"), made("def f(x, w=2):\n    return x + w\n")),
        (made("def f(x, *, w=1):\n    return x + w\n"), made("def f(x, *, w=2):\n    return x + w\n")),
        (made("def f(x):\n    return math.cos(x)\n"), made("def f(x):\n    return math.sin(x)\n")),
        (made(READS, W=1), made(READS, W=1.0)),
        (made(READS, W=np.ones(2)), made(READS, W=np.zeros(2))),
        (made(READS, W={"a": [1]}), made(READS, W={"a": [2]})),
        (made(READS, W=functools.partial(max, 1)), made(READS, W=functools.partial(max, 2))),
        (
            made("def f(x):\n    return x + m.W\n", m=types.ModuleType("m")),
            made("def f(x):\n    return x + n.W\n", n=types.ModuleType("n")),
        ),
        (
            made("class f:\n    def go(self):\n        return 1\n"),
            made("class f:\n    def go(self):\n        return 2\n"),
        ),
    ],
)
def test_what_differs_is_told_apart(one, other):
    assert identity(one) != identity(other)
    assert fingerprint(one) != fingerprint(other)


def test_a_value_in_a_user_s_module_counts():
    settings = types.ModuleType("settings")
    settings.W = 1
    function = made("def f(x):\n    return x + settings.W\n", settings=settings)
    before = identity(function), fingerprint(function)
    settings.W = 2
    assert identity(function) != before[0]
    assert fingerprint(function) != before[1]


def test_what_cannot_be_written_down_is_refused_by_name_but_still_watched():
    class Weights:
        total = 1

    function = made(READS, W=Weights())
    with pytest.raises(Unclear, match=r"f: W is Weights, which cannot be compared between runs"):
        identity(function)
    before = fingerprint(function)
    assert fingerprint(function) == before
    function.__globals__["W"] = object()
    assert fingerprint(function) != before


def test_an_identity_is_the_same_in_every_process():
    program = "from gamekit.jit.user_code import identity\ncell = {}\n"
    source = "W = {'a', 'b', 'c'}\ndef f(x):\n    return x in {'p', 'q', 'r'} or x in W\n"
    program += f"exec({source!r}, cell)\nprint(identity(cell['f']))\n"
    found = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found.add(subprocess.check_output([sys.executable, "-c", program], env=environment, text=True))
    assert len(found) == 1
