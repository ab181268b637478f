"""What runs in a notebook: a board to play on, a search to look into, a game to go through, weights to turn."""

from .board import Board, play_board

__all__ = ["Board", "play_board"]
