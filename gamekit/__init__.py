"""gamekit: a bench on which adversarial search is tried, measured and explained."""

from .compiled import helper
from .core import (DRAW, LOST, RUNNING, WON, Game, GamekitError, IllegalMove, MalformedMove, MoveError, Outcome, Position,
                   PositionError)
from .games import GAMES, game, register
from .heuristics import HEURISTICS, Heuristic, HeuristicError, heuristic, heuristic_of
from .players import PLAYERS, Choice, Player, player
from .specs import Spec, SpecError

__version__ = "0.1.0"
