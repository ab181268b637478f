"""Games in words: positions and transcripts in the reports' own printed forms, and read back from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..core import Game, Position
from ..errors import GamekitError, MoveError


def text(position: Position) -> str:
    """A position as its report printed it.

    >>> import gamekit as gk
    >>> print(text(gk.game("mnk").replay("1,1 0,2")))
    (
    (0,0,2),
    (0,1,0),
    (0,0,0)
    )
    """
    game = position.game
    rows = game.cells(position.record)
    if game.name == "conga":
        return "\n".join(
            "\t".join(f"{game.marks[owner] if owner else 0}: {label or 0}" for owner, label in row) for row in rows
        )
    if game.name == "candy":
        head = "|   | " + " | ".join(f"{chr(65 + c):<3}" for c in range(len(rows[0]))) + " |"
        rule = "|---|" + "-----|" * len(rows[0])
        body = [
            f"| {r} | " + " | ".join(f"{game.token(*cell):<3}" for cell in row) + " |" for r, row in enumerate(rows, 1)
        ]
        return "\n".join([head, rule, *body])
    if game.name == "mnk":
        return "(\n" + ",\n".join("(" + ",".join(str(owner) for owner, _ in row) + ")" for row in rows) + "\n)"
    if game.name == "connect_four":
        return "\n".join("".join(game.token(*cell) for cell in row) for row in rows)
    return str(position)


def transcript(
    game: Game, moves: str | Iterable[str], players: Sequence[str] | None = None, seed: int | None = None
) -> str:
    """A game as its report told it: Conga board by board, Candy drop by drop, the others by their last board.

    Args:
        game: the game.
        moves: its moves, as one text or several.
        players: two names (default: the game's own).
        seed: named in the heading, where there is one.
    Returns:
        The transcript; `read_transcript` reads it back.
    """
    steps = game.replay(moves).history
    position, names, lines = steps[-1], list(players or game.players), list[str]()
    if game.name == "conga":
        lines.append(text(steps[0]))
        for turn, (before, after) in enumerate(pairwise(steps)):
            lines.append(f"{names[before.turn - 1]} players turn {turn // 2 + 1} ({after.line[-1]})\n\n{text(after)}")
    elif game.name == "candy":
        drops = [f"{names[before.turn - 1]}: drop {after.line[-1]}" for before, after in pairwise(steps)]
        lines += [", ".join(drops), text(position)]
    else:
        lines.append(
            "\n".join(f"Player {i}: {name}" for i, name in enumerate(names, 1))
            + (f"\nSeed {seed}" if seed is not None else "")
        )
        lines += [game.join(position.line), text(position)]
    lines.append(_ending(position, names))
    return "\n\n".join(lines)


def _ending(position: Position, names: Sequence[str]) -> str:
    outcome = position.outcome()
    if outcome is None:
        return f"{names[position.turn - 1]} to move"
    who = f"{names[outcome.winner - 1]} won" if outcome.winner else "Draw"
    return who + (f", {outcome.score[0]:g} : {outcome.score[1]:g}" if outcome.score else "")


def read_transcript(game: Game, written: str) -> list[str]:
    """The moves of a game, from a line of moves or from one of the printed forms.

    Conga boards printed one after another are read as moves too: each is the one that leads to the next board.

    >>> import gamekit as gk
    >>> read_transcript(gk.game("candy"), "Blue: drop A3, Green: drop C1")
    ['A3', 'C1']
    """
    if game.name == "conga" and re.search(r"[AB]: ?\d", written):
        return _from_boards(game, written)
    if "drop" in written:
        found = re.findall(r"drop\s+([A-Za-z]\d{1,2})", written)
    elif game.name == "conga":
        found = re.findall(r"\b[0-3][0-3][NSWE]{1,2}\b", written)
    elif re.search(r"Player 1:", written):
        blocks = [block.strip() for block in re.split(r"\n\s*\n", written) if block.strip()]
        found = game.split(blocks[1]) if len(blocks) > 1 else []
    else:
        found = game.split(written)
    try:
        return game.replay(found).line
    except MoveError as error:
        raise GamekitError(f"not a game of {game.name}: {error}") from None


def _from_boards(game: Game, written: str) -> list[str]:
    """Each printed Conga board but the first repeats a board that one legal move gives; a blank cell is empty."""
    position, rows = game.start(), []
    for line in written.splitlines():
        cells = [re.sub(r"\s", "", cell) for cell in line.split("\t")]
        if len(cells) == 4 and all(re.fullmatch(r"([AB0]:\d{1,2})?", cell) for cell in cells):
            rows.append([(0, "") if cell in ("", "0:0") else (game.marks.index(cell[0]), cell[2:]) for cell in cells])
    for board in (rows[i : i + 4] for i in range(0, len(rows) - 3, 4)):
        if board == game.cells(position.record):
            continue
        after = next((p for p in map(position.after, position.codes()) if game.cells(p.record) == board), None)
        if after is None:
            raise GamekitError(f"board {position.ply + 1} of the transcript follows from no legal move")
        position = after
    return position.line
