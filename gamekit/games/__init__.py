"""The games: one file per rule, found by name in the registry."""

from .registry import GAMES, game, register

__all__ = ["GAMES", "game", "register"]
