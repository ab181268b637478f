"""What runs in a notebook: a board to play on, a search to look into, a game to go through, weights to turn."""

from .board import Board, play_board
from .tree import Tree, search_tree

__all__ = ["Board", "Tree", "play_board", "search_tree"]
