"""gamekit: a bench on which adversarial search is tried, measured and explained.

import gamekit as gk
game = gk.game("connect_four")
choice = gk.player("alphabeta(depth=8)").choose(game.start())
games = gk.sweep(game, gk.grid("alphabeta", depth=[1, 2, 3]), "montecarlo(playouts=500)", games_each=200, seed=1)
gk.win_rates(games, by="depth")
"""

from importlib import import_module as _import_module
from typing import Any as _Any

__version__ = "0.3.0"

# Every public name and the module it lives in. Modules are loaded when a name is first used, so that importing
# gamekit costs next to nothing; which code a notebook depends on is read off this table too.
WHERE: dict[str, str] = {
    name: module
    for module, names in {
        "errors": "GamekitError MoveError MalformedMove IllegalMove PositionError",
        "specs": "Spec SpecError",
        "core": "Game Position Outcome RUNNING WON DRAW LOST",
        "jit.user_code": "helper",
        "games": "GAMES game register",
        "heuristics": "HEURISTICS Heuristic HeuristicError heuristic heuristic_of",
        "search.perft": "perft",
        "search.reference": "search_plain",
        "solvers.solver": "Solver",
        "players": "PLAYERS Player Choice player",
        "matches.single_game": "play_game",
        "matches.transcripts": "transcript read_transcript",
        "experiments.grids": "grid",
        "experiments.positions": "positions",
        "experiments.measure": "sweep match searches accuracy values load replay",
        "analysis.summaries": "win_rates rate mean ratings paired elo sprt both_sides",
        "analysis.compare": "compare",
        "drawing": "svg",
        "widgets.explanation": "explain",
        "widgets": "check_heuristic play_board rank review search_tree weights",
    }.items()
    for name in names.split()
}
__all__ = [*sorted(WHERE), "plot"]


def __getattr__(name: str) -> _Any:
    if name == "plot":
        return _import_module(".analysis.plot", __name__)
    if name not in WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(_import_module(f".{WHERE[name]}", __name__), name)
    if not name.isupper():  # registries and constants are looked up anew, so that tests may replace them
        globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
