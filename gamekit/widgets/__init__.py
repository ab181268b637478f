"""What runs in a notebook: a board to play on, a search to look into, a game to review, a heuristic to try out."""

from .board import play_board
from .checkup import check_heuristic
from .ranking import rank
from .review import review
from .tree import search_tree
from .weights import weights

__all__ = ["check_heuristic", "play_board", "rank", "review", "search_tree", "weights"]
