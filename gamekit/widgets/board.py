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
from .base import Live, bars, ending, value_for_first
from .think import Thought

HINT = "search(seconds=1,table=on,order=best+history+centre)"
SEARCHES = [f"alphabeta(depth={depth})" for depth in (2, 4, 6)]
AGENTS = ["you", "random", "greedy", *SEARCHES, HINT, "montecarlo(playouts=1000)", "uct(seconds=1)"]
PREVIEWED = 20_000  # cells to compare for previews; a larger custom game does without
OVER = "the game is over; start a new one, or undo"


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
        self.hinting = False  # the thought is about a hint
        self.hint: str | None = None
        self.running = self._with_person  # agents go on by themselves
        self._go_on()

    def __repr__(self) -> str:
        return f"{self.game}: {self.names[0]} against {self.names[1]}\n{self.position}"

    # ------------------------------------------------------------------------- the seats

    def _sit(self, seat: int, who: str | Player) -> None:
        """Give a seat to you or to an agent; a mistake in its name or its heuristic is told at once."""
        new: Player | None = None
        if not isinstance(who, str) or who.strip().lower() not in ("you", "human", ""):
            new = copy.copy(player_of(who))  # shared with nobody
            new.begin(self.game, self.seed + seat)
        if old := self.players[seat]:
            old.close()
        self.players[seat], self.names[seat] = new, new.spec if new else "you"

    @property
    def _with_person(self) -> bool:
        return None in self.players

    @property
    def _over(self) -> bool:
        return self.position.winner is not None

    @property
    def mover(self) -> Player | None:
        """The agent whose turn it is."""
        return None if self._over else self.players[self.position.turn - 1]

    @property
    def yours(self) -> bool:
        """Whether a person is to move."""
        return not self._over and self.mover is None and self.thought is None

    # ----------------------------------------------------------------------- the actions

    def do_play(self, move: str) -> None:
        if self.mover is not None:
            doing = "is thinking" if self.thought else "moves next (Step or Play)"
            raise GamekitError(f"it is not your turn: {self.names[self.position.turn - 1]} {doing}")
        after = self.position.play(move)
        self._drop_thought()
        self._move_to(after)

    def do_why(self, row: int, col: int, start: list[int] | None = None) -> None:
        """Say why a click there is no move."""
        self.note = self._why(row, col, start)
        self.show()

    def _why(self, row: int, col: int, start: list[int] | None) -> str:
        if self._over:
            return OVER
        if not self.yours:
            return f"it is not your turn: {self.names[self.position.turn - 1]} is to move"
        cells = self.game.cells(self.position.record)
        owner, me = cells[row][col][0], self.position.turn
        if getattr(self.game, "gravity", False):
            return f"column {col + 1} is full" if cells[0][col][0] else "no legal move goes there"
        if self.game.name != "conga":
            return f"this cell is taken by {self.game.players[owner - 1]}" if owner else "no legal move goes there"
        if start is not None:
            return "stones cannot run onto your opponent's" if owner == 3 - me else "stones run to a neighbouring cell"
        if owner == me:
            return "your stones here are shut in: every direction is blocked"
        return "choose a cell with stones of your own" + (", these are your opponent's" if owner else "")

    def do_undo(self) -> None:
        """Back to your last turn; between two agents, or two people, one move."""
        self._drop_thought()
        before, self.running = self.position, self._with_person
        while self.position.parent is not None and self.position is not self.first:
            self.position = self.position.parent
            if not self.running or self.mover is None:
                break
        if before is self.position:
            raise GamekitError("there is no move to take back")
        self.told = self.hint = None
        self._go_on()

    def do_new(self) -> None:
        self._drop_thought()
        self.position, self.told, self.hint = self.first, None, None
        self.running = self._with_person
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
            self.running = self.running and self._with_person
            self._go_on()

    def do_hint(self) -> None:
        if not self.yours:
            raise GamekitError("a hint is given when it is your turn")
        self._think(player_of(HINT), hinting=True)

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
        if self.mover is None:
            raise GamekitError(OVER if self._over else "it is your turn: click on the board")
        if self.thought is None:
            self.running = False
            self._think(self.mover)

    def do_stop(self) -> None:
        """End the thinking now: the agent plays the best it has found."""
        if self.thought is not None and not self.thought.stop() and not self.thought.stoppable:
            self._drop_thought()
            self.running, self.note = False, "this player cannot be asked to stop; its answer will be ignored"
            self.show()

    def do_hello(self, view: str) -> None:
        """A page opens; a game left while an agent was thinking goes on."""
        super().do_hello(view)
        if not self._over and self.thought is None and self._with_person:
            self.running = True
            self._go_on()

    # ---------------------------------------------------------------------- the thinking

    def _go_on(self) -> None:
        """Let an agent whose turn it is think, and show the board."""
        if self.running and self.mover is not None and self.thought is None:
            self._think(self.mover)
        else:
            self.show()

    def _think(self, player: Player, hinting: bool = False) -> None:
        self.hinting = hinting
        self.thought = Thought(player, self.position, self._thought_out, lambda nodes: self.send({"nodes": nodes}))
        self.show()
        self.thought.start()

    def _thought_out(self, thought: Thought) -> None:
        while not self.lock.acquire(timeout=0.02):  # whoever holds it may be waiting for this thread to end
            if not thought.wanted:
                return
        try:
            if thought is self.thought:
                self._conclude(thought)
        finally:
            self.lock.release()

    def _conclude(self, thought: Thought) -> None:
        self.thought = None
        if thought.choice is None:
            self.running, self.note = False, str(thought.error)
            self.show()
            return
        self.told = self._tell(thought.player, thought.choice)
        if self.hinting:
            self.hint = thought.choice.move
            self.show()
        else:
            self._move_to(self.position.after(thought.choice.code))

    def _drop_thought(self) -> None:
        if self.thought is not None:
            thought, self.thought = self.thought, None
            thought.stop(wanted=False)

    def _move_to(self, after: Position) -> None:
        self.position, self.hint = after, None
        self._go_on()

    def leave(self) -> None:
        self._drop_thought()
        self.running = False
        for player in self.players:
            if player is not None:
                player.close()

    # ------------------------------------------------------------------- what is shown

    def _tell(self, player: Player, choice: Choice) -> dict[str, Any]:
        """The agent's evidence: value, line, nodes, and a bar for each move it weighed."""
        return {
            "who": "hint" if self.hinting else player.spec,
            "mark": self.game.players[self.position.turn - 1],
            "move": choice.move,
            "value": value_text(choice.value),
            "line": self.game.join(choice.line[:12]),
            "depth": choice.depth,
            "nodes": choice.counters.get("generated", 0),
            "seconds": choice.seconds,
            "stopped_by": choice.stopped_by,
            "bounds": bool(player.parameters().get("prune")),
            "bars": bars(choice.values.items(), 10, [choice.move]),
            "weighed": len(choice.values),
        }

    def _moves(self) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """Every legal move with the cells it is clicked on and what it would change, and those pieces drawn."""
        ghosts: dict[str, str] = {}
        moves: list[dict[str, Any]] = []
        cells, codes = self.game.cells(self.position.record), self.position.codes()
        light = hasattr(self.game, "gravity") or len(cells) * len(cells[0]) * len(codes) < PREVIEWED
        for code in codes:
            changes = effects(self.position, code) if light else []
            at, to = step(self.game, code) or (changes[0][:2] if changes else None, None)
            for _r, _c, owner, label in changes:
                ghosts.setdefault(f"{owner}{label}", piece(self.game, owner, label) if owner else "")
            does = [[r, c, f"{owner}{label}"] for r, c, owner, label in changes]
            moves.append({"m": self.game.write(code), "at": at, "to": to, "does": does})
        return moves, ghosts

    def _status(self) -> str:
        names = self.game.players
        if self._over:
            end = ending(self.position, [f"{name} ({who})" for name, who in zip(names, self.names, strict=True)])
            return end[0].upper() + end[1:]
        name = names[self.position.turn - 1]
        if self.thought is not None:
            return "Looking for a hint …" if self.hinting else f"{name} is thinking …"
        return f"Your move: {name}" if self.mover is None else f"{name} is to move"

    def snapshot(self) -> dict[str, Any]:
        cells = self.game.cells(self.position.record)
        moves, ghosts = self._moves() if self.yours else ([], {})
        return {
            "title": str(self.game),
            "kind": self.game.name,
            "svg": svg(self.position),
            "cells": cells,
            "columns": bool(getattr(self.game, "gravity", False)),
            "moves": moves,
            "ghosts": ghosts,
            "status": self._status(),
            "yours": self.yours,
            "over": self._over,
            "thinking": self.thought is not None,
            "hint": self.hint,
            "running": self.running,
            "turn": self.position.turn,
            "ply": self.position.ply,
            "seats": self.names,
            "marks": self.game.players,
            "agents": AGENTS,
            "told": self.told,
            "curve": [value_for_first(position, self._judge) for position in self.position.history],
            "line": self.position.line,
            "score": self.game.score(self.position.record),
        }

    def picture(self) -> str:
        return svg(self.position)

    def still(self) -> str:
        who = html.escape(f"{self.game}: {self.names[0]} against {self.names[1]}")
        return f"<p>{who}. {html.escape(self._status())}</p>{self.picture()}"


def play_board(
    game: str | Game = "connect_four",
    opponent: str | Player = "alphabeta(depth=4)",
    you: str | Player = "you",
    seat: int = 1,
    moves: str | Iterable[str] = (),
    seed: int = 0,
) -> Board:
    """A board to play on with the mouse or the arrow keys.

    Args:
        game: a game or its spec.
        opponent: a player or its spec.
        you: "you", or an agent too, to watch the two.
        seat: 1, or 2 to let the opponent begin.
        moves: a line of moves to start from.
        seed: random seed of the agents.

    Returns:
        The widget; its `position` is the game so far.
    """
    board = game_of(game)
    if seat not in (1, 2):
        raise GamekitError(f"seat={seat!r} is not allowed; seat is 1 (you begin) or 2")
    seats = [you, opponent] if seat == 1 else [opponent, you]
    return Board(board, seats, board.replay(moves), seed)
