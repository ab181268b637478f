"""The players: specs → players, the reports' own agents among them."""

from . import agents, montecarlo, searchers, simple  # noqa: F401  (each registers its players)
from .base import PLAYERS, Choice, Player, player

__all__ = ["PLAYERS", "Choice", "Player", "player"]
