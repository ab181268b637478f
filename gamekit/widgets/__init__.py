"""What runs in a notebook: a board to play on, a search to look into, a game to go through, a heuristic on trial."""

from .board import Board, play_board
from .checkup import Checkup, check_heuristic
from .ranking import Ranking, rank
from .review import Review, review
from .tree import Tree, search_tree
from .weights import Weights, weights

__all__ = [
    "Board",
    "Checkup",
    "Ranking",
    "Review",
    "Tree",
    "Weights",
    "check_heuristic",
    "play_board",
    "rank",
    "review",
    "search_tree",
    "weights",
]
