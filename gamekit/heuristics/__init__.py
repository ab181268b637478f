"""The heuristics: one file per game, found by game and name in the registry."""

from ..errors import HeuristicError
from . import candy, conga, connect_four, connect_k, mnk  # noqa: F401  (each registers its heuristics)
from .base import HEURISTICS, Heuristic, Part, heuristic, heuristic_of, names_of

__all__ = ["HEURISTICS", "Heuristic", "HeuristicError", "Part", "heuristic", "heuristic_of", "names_of"]
