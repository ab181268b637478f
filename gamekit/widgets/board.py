"""The board to play on: one widget for every game, a person or an agent on either side."""

from __future__ import annotations

import copy
import html
from collections.abc import Iterable
from typing import Any

from ..core import Game, Position
from ..drawing import effects, piece, step, svg, value_text
from ..errors import GamekitError
from ..games import game as game_of
from ..heuristics import heuristic_of
from ..players import Choice, Player
from ..players import player as player_of
from .base import Live
from .think import Thought

HINT = "search(seconds=1,table=on,order=best+history+centre)"
AGENTS = (
    "you",
    "random",
    "greedy",
    "alphabeta(depth=2)",
    "alphabeta(depth=4)",
    "alphabeta(depth=6)",
    "search(seconds=1,table=on,order=best+history+centre)",
    "montecarlo(playouts=1000)",
    "uct(seconds=1)",
)
PREVIEWED = 20_000  # cells to compare for previews; a larger game of one's own does without


class Board(Live):
    """A game on a board. Its seats are filled by you or by agents, which think on a thread of their own."""

    script = "board.js"

    def __init__(self, game: Game, seats: list[str | Player], position: Position, seed: int):
        super().__init__()
        self.game, self.position, self.seed, self.first = game, position, seed, position
        self.names = ["", ""]
        self.players: list[Player | None] = [None, None]
        for seat, who in enumerate(seats):
            self._sit(seat, who)
        self._judge = heuristic_of(None, game) if game.default_heuristic else None
        self.thought: Thought | None = None
        self.told: dict[str, Any] | None = None  # what the last agent thought
        self.hint: str | None = None
        self.running = False  # agents go on by themselves
        self.curve = [self._evaluate(position)]
        self.running = any(player is None for player in self.players)
        self._go_on()

    def __repr__(self) -> str:
        return f"{self.game}: {self.names[0]} against {self.names[1]}\n{self.position}"

    # ------------------------------------------------------------------------- the seats

    def _sit(self, seat: int, who: str | Player) -> None:
        """Give a seat to you or to an agent; a mistake in its name or its heuristic is told at once."""
        if isinstance(who, str) and who.strip().lower() in ("you", "human", ""):
            new: Player | None = None
            name = "you"
        else:
            new = copy.copy(player_of(who))  # shared with nobody
            new.begin(self.game, self.seed + seat)
            name = new.spec
        old = self.players[seat]
        if old is not None:
            old.close()
        self.players[seat], self.names[seat] = new, name

    @property
    def mover(self) -> Player | None:
        return self.players[self.position.turn - 1] if self.position.winner is None else None

    @property
    def yours(self) -> bool:
        """Whether a person is to move."""
        return self.position.winner is None and self.mover is None and self.thought is None

    # ----------------------------------------------------------------------- the actions

    def do_play(self, move: str) -> None:
        if self.thought is not None and self.hint != "":
            raise GamekitError(f"it is not your turn: {self.names[self.position.turn - 1]} is thinking")
        if self.position.winner is None and self.mover is not None:
            raise GamekitError(f"it is not your turn: {self.names[self.position.turn - 1]} moves next (Step or Play)")
        after = self.position.play(move)
        self._drop_thought()
        self._move_to(after)
        self._go_on()

    def do_why(self, row: int, col: int, start: list[int] | None = None) -> None:
        """Say why a click there is no move."""
        self.note = self._why(row, col, start)
        self.show()

    def _why(self, row: int, col: int, start: list[int] | None) -> str:
        if self.position.winner is not None:
            return "the game is over; start a new one, or undo"
        if not self.yours:
            return f"it is not your turn: {self.names[self.position.turn - 1]} is to move"
        cells = self.game.cells(self.position.record)
        owner, _ = cells[row][col]
        me = self.position.turn
        if getattr(self.game, "gravity", False):
            return f"column {col + 1} is full" if cells[0][col][0] else "no legal move goes there"
        if self.game.name == "conga":
            if start is None:
                return (
                    "your stones here are shut in: every direction is blocked"
                    if owner == me
                    else "choose a cell with stones of your own" + (", these are your opponent's" if owner else "")
                )
            return "stones cannot run onto your opponent's" if owner == 3 - me else "stones run to a neighbouring cell"
        return f"this cell is taken by {self.game.players[owner - 1]}" if owner else "no legal move goes there"

    def do_undo(self) -> None:
        """Back to your last turn; between two agents, or two people, one move."""
        self._drop_thought()
        before = self.position
        self.running = any(player is None for player in self.players)
        while self.position.parent is not None and self.position is not self.first:
            self.position = self.position.parent
            self.curve.pop()
            if not self.running or self.mover is None:
                break
        if before is self.position:
            raise GamekitError("there is no move to take back")
        self.told = self.hint = None
        self._go_on()

    def do_new(self) -> None:
        self._drop_thought()
        self.position, self.told, self.hint = self.first, None, None
        self.curve = self.curve[:1]
        self.running = any(player is None for player in self.players)
        for seat, player in enumerate(self.players):
            if player is not None:
                player.begin(self.game, self.seed + seat)
        self._go_on()

    def do_swap(self) -> None:
        self._drop_thought()
        self.players.reverse()
        self.names.reverse()
        self._go_on()

    def do_seat(self, seat: int, who: str) -> None:
        self._drop_thought()
        try:
            self._sit(seat, who)
        finally:
            self.running = self.running and any(player is None for player in self.players)
            self._go_on()

    def do_hint(self) -> None:
        if not self.yours:
            raise GamekitError("a hint is given when it is your turn")
        self.hint = ""
        self._think(player_of(HINT))

    def do_run(self) -> None:
        """Let the agents go on by themselves."""
        self.running = True
        self._go_on()

    def do_pause(self) -> None:
        self.running = False
        self._drop_thought()
        self.show()

    def do_step(self) -> None:
        """One move of the agent whose turn it is."""
        if self.position.winner is not None:
            raise GamekitError("the game is over; start a new one, or undo")
        if self.mover is None:
            raise GamekitError("it is your turn: click on the board")
        if self.thought is None:
            self.running = False
            self._think(self.mover)

    def do_stop(self) -> None:
        """End the thinking now: the agent plays the best it has found."""
        if self.thought is not None and not self.thought.stop() and not hasattr(self.thought.player, "_engine"):
            self._drop_thought()
            self.running, self.note = False, "this player cannot be asked to stop; its answer will be ignored"
            self.show()

    # ---------------------------------------------------------------------- the thinking

    def _go_on(self) -> None:
        """Let an agent whose turn it is think, and show the board."""
        if self.running and self.mover is not None and self.thought is None:
            self._think(self.mover)
        else:
            self.show()

    def _think(self, player: Player) -> None:
        self.thought = Thought(player, self.position, self._thought_out, self._tick)
        self.show()
        self.thought.start()

    def _tick(self, thought: Thought) -> None:
        self.send({"nodes": thought.nodes})

    def _thought_out(self, thought: Thought) -> None:
        while not self.lock.acquire(timeout=0.02):  # whoever holds it may be waiting for this thread to end
            if not thought.wanted:
                return
        try:
            self._conclude(thought)
        finally:
            self.lock.release()

    def _conclude(self, thought: Thought) -> None:
        if thought is self.thought:
            self.thought, hinting = None, self.hint == ""
            if thought.error is not None or thought.choice is None:
                self.hint, self.running, self.note = None, False, str(thought.error)
                self.show()
                return
            self.told = self._tell(thought, thought.choice, hinting)
            if hinting:
                self.hint = thought.choice.move
                self.show()
            else:
                self._move_to(self.position.after(thought.choice.code))
                self._go_on()

    def do_hello(self, view: str) -> None:
        """A page opens; a game left while an agent was thinking goes on."""
        super().do_hello(view)
        if self.position.winner is None and self.thought is None and any(player is None for player in self.players):
            self.running = True
            self._go_on()

    def _drop_thought(self) -> None:
        if self.thought is not None:
            thought, self.thought = self.thought, None
            thought.stop(wanted=False)
        self.hint = None if self.hint == "" else self.hint

    def _move_to(self, after: Position) -> None:
        self.position, self.hint = after, None
        self.curve.append(self._evaluate(after))

    def leave(self) -> None:
        self._drop_thought()
        self.running = False
        for player in self.players:
            if player is not None:
                player.close()

    # ------------------------------------------------------------------------ to be seen

    def _evaluate(self, position: Position) -> float | None:
        """What the game's own heuristic says, for the first player; a finished game is decided."""
        if position.winner is not None:
            return {0: 0.0, 1: 1e12, 2: -1e12}[position.winner]
        return self._judge.value(position, 1) if self._judge else None

    def _tell(self, thought: Thought, choice: Choice, hint: bool) -> dict[str, Any]:
        """The agent's evidence: value, line, nodes, and a bar for each move it weighed."""
        player, values = thought.player, choice.values
        ranked = sorted(values.items(), key=lambda item: -item[1])
        return {
            "who": "hint" if hint else player.spec,
            "mark": self.game.players[self.position.turn - 1],
            "move": choice.move,
            "value": value_text(choice.value),
            "line": self.game.join(choice.line[:12]),
            "depth": choice.depth,
            "nodes": choice.counters.get("generated", 0),
            "seconds": choice.seconds,
            "stopped_by": choice.stopped_by,
            "bounds": bool(getattr(player, "switch", {}).get("prune")),
            "bars": [{"move": m, "value": v, "text": value_text(v)} for m, v in ranked[:10]],
            "weighed": len(ranked),
        }

    def _moves(self) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """Every legal move with the cells it is clicked on and what it would change, and those pieces drawn."""
        position = self.position
        ghosts: dict[str, str] = {}
        moves: list[dict[str, Any]] = []
        cells = self.game.cells(position.record)
        light = hasattr(self.game, "gravity") or len(cells) * len(cells[0]) * len(position.codes()) < PREVIEWED
        for code in position.codes():
            changes = effects(position, code) if light else []
            run = step(self.game, code)
            at, to = run or ((changes[0][:2], None) if changes else (None, None))
            for _r, _c, owner, label in changes:
                ghosts.setdefault(f"{owner}{label}", piece(self.game, owner, label) if owner else "")
            moves.append(
                {
                    "m": self.game.write(code),
                    "at": at,
                    "to": to,
                    "does": [[r, c, f"{owner}{label}"] for r, c, owner, label in changes],
                }
            )
        return moves, ghosts

    def _status(self) -> str:
        position, names = self.position, self.game.players
        outcome = position.outcome()
        if outcome is not None:
            who = f"{names[outcome.winner - 1]} ({self.names[outcome.winner - 1]}) wins" if outcome.winner else "A draw"
            return who + (f", {outcome.score[0]:g} : {outcome.score[1]:g}" if outcome.score else "")
        name = names[position.turn - 1]
        if self.thought is not None:
            return "Looking for a hint …" if self.hint == "" else f"{name} is thinking …"
        return f"Your move: {name}" if self.mover is None else f"{name} is to move"

    def snapshot(self) -> dict[str, Any]:
        cells = self.game.cells(self.position.record)
        moves, ghosts = self._moves() if self.yours else ([], {})
        score = self.game.score(self.position.record)
        return {
            "title": str(self.game),
            "svg": svg(self.position),
            "rows": len(cells),
            "cols": len(cells[0]),
            "owners": [[owner for owner, _ in row] for row in cells],
            "labels": [[label for _, label in row] for row in cells],
            "columns": bool(getattr(self.game, "gravity", False)),
            "moves": moves,
            "ghosts": ghosts,
            "status": self._status(),
            "yours": self.yours,
            "over": self.position.winner is not None,
            "thinking": self.thought is not None,
            "hint": self.hint or None,
            "running": self.running,
            "turn": self.position.turn,
            "ply": self.position.ply,
            "seats": self.names,
            "marks": list(self.game.players),
            "agents": list(AGENTS),
            "told": self.told,
            "curve": self.curve,
            "line": self.position.line,
            "score": None if score is None else list(score),
            "kind": self.game.name,
        }

    def picture(self) -> str:
        return svg(self.position)

    def still(self) -> str:
        who = html.escape(f"{self.game}: {self.names[0]} against {self.names[1]}")
        return f'<div class="gk-still"><p>{who}. {html.escape(self._status())}</p>{self.picture()}</div>'


def play_board(
    game: str | Game = "connect_four",
    opponent: str | Player = "alphabeta(depth=4)",
    you: str | Player = "you",
    seat: int = 1,
    moves: str | Iterable[str] = (),
    seed: int = 0,
) -> Board:
    """A board to play on with the mouse or the arrow keys; `you` may be an agent too, to watch the two.

    `seat=2` lets the opponent begin, `moves` is a line to start from.
    """
    board = game_of(game)
    if seat not in (1, 2):
        raise GamekitError(f"seat={seat!r} is not allowed; seat is 1 (you begin) or 2")
    seats = [you, opponent] if seat == 1 else [opponent, you]
    return Board(board, seats, board.replay(moves), seed)
