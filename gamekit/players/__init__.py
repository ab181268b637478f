"""The players: specs → players, the reports' own agents among them."""

from . import agents, montecarlo, searchers, simple
from .base import PLAYERS, Choice, Player, player

__all__ = ["PLAYERS", "Choice", "Player", "agents", "montecarlo", "player", "searchers", "simple"]
