"""gamekit: a bench on which adversarial search is tried, measured and explained.

    import gamekit as gk
    game = gk.game("connect_four")
    choice = gk.player("alphabeta(depth=8)").choose(game.start())
    result = gk.match(game, "alphabeta(depth=4)", "montecarlo(playouts=500)", games=200, seed=1)
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from .accuracy import accuracy
from .compare import compare
from .core import (
    DRAW,
    LOST,
    RUNNING,
    WON,
    Game,
    GamekitError,
    IllegalMove,
    MalformedMove,
    MoveError,
    Outcome,
    Position,
    PositionError,
)
from .engine.perft import perft
from .engine.reference import search_plain
from .engine.solve import Solver
from .freshness import helper
from .games import GAMES, game, register
from .heuristics import HEURISTICS, Heuristic, HeuristicError, heuristic, heuristic_of
from .match import match, play_game
from .players import PLAYERS, Choice, Player, player
from .seen import seen
from .show import svg
from .specs import Spec, SpecError
from .sweep import sweep
from .transcripts import read_transcript, transcript

__version__ = "0.2.0"
__all__ = [
    "DRAW", "GAMES", "HEURISTICS", "LOST", "PLAYERS", "RUNNING", "WON", "Choice", "Game", "GamekitError", "Heuristic",
    "HeuristicError", "IllegalMove", "MalformedMove", "MoveError", "Outcome", "Player", "Position", "PositionError",
    "Solver", "Spec", "SpecError", "accuracy", "check_heuristic", "compare", "game", "helper", "heuristic",
    "heuristic_of", "match", "perft", "play_board", "play_game", "player", "rank", "read_transcript", "register",
    "review", "search_plain", "search_tree", "seen", "svg", "sweep", "transcript", "weights",
]

# widgets are loaded when first asked for
_IN_NOTEBOOKS = {"check_heuristic", "play_board", "rank", "review", "search_tree", "weights"}


def __getattr__(name: str) -> _Any:
    if name in _IN_NOTEBOOKS:
        return getattr(_import_module(".widgets", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
