"""Shared by all tests: the independent judge of every game, random positions, the command line in-process."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
if str(TESTS) not in sys.path:  # so that every test can import plain_rules
    sys.path.insert(0, str(TESTS))

settings.register_profile("gamekit", derandomize=True, deadline=None, database=None, max_examples=60)
settings.load_profile("gamekit")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regenerate", action="store_true", help="write the golden files anew instead of comparing")


@pytest.fixture
def regenerate(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written."""
    return request.config.getoption("--regenerate")


@pytest.fixture(autouse=True)
def _own_names_do_not_leak() -> Iterator[None]:
    """Games, heuristics and players that a test registers are gone after it."""
    if "gamekit" not in sys.modules:
        yield
        return
    import gamekit as gk

    kept = [(registry, dict(registry)) for registry in (gk.GAMES, gk.HEURISTICS, gk.PLAYERS)]
    yield
    for registry, before in kept:
        registry.clear()
        registry.update(before)


# ------------------------------------------------------------------- positions and their judge


def judge_of(game: Any) -> Any:
    """The slow and obvious rules of a game, written apart from the package."""
    import plain_rules

    if game.name == "conga":
        return plain_rules.Conga()
    if game.name == "candy":
        return plain_rules.Candy(game.values.tolist())
    return plain_rules.Lines(game.rows, game.cols, game.k, game.gravity)


def random_position(game: Any, rng: random.Random, plies: int = 40, running: bool = True) -> Any:
    """A position after at most `plies` random moves; `running` leaves out those where the game is over."""
    while True:
        position = game.start()
        for _ in range(rng.randrange(plies + 1)):
            if position.winner is not None:
                break
            position = position.after(rng.choice(position.codes()))
        if position.winner is None or not running:
            return position


@pytest.fixture(scope="session")
def judge() -> Callable[[Any], Any]:
    return judge_of


@pytest.fixture(scope="session")
def scramble() -> Callable[..., Any]:
    """`scramble(game, rng, plies)`: a random position, still running unless asked otherwise."""
    return random_position


# ----------------------------------------------------------------------------- the command line


@dataclass(frozen=True)
class Ran:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run `gamekit …` in this process."""
    from gamekit.cli import main

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        try:
            code = main(list(arguments))
        except SystemExit as ended:  # argparse leaves this way
            code = ended.code if isinstance(ended.code, int) else 1
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run
