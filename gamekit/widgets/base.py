"""What every widget shares: its files, messages with an answer each, a still picture, and leaving nothing behind."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets
from IPython import get_ipython

from ..core import Position
from ..drawing import value_text
from ..errors import GamekitError
from ..heuristics import Heuristic
from ..search.table import WIN

HERE = Path(__file__).parent
_LIVE: dict[str, list[Live]] = {}  # the widgets each notebook cell has made


class Live(anywidget.AnyWidget):
    """A widget that draws `state`; what the page asks for is a method named `do_…`.

    Every message is answered, so the page can tell a kernel that works from one that is gone. Handlers and
    worker threads change the state under one lock: newer kernels hear the page on a thread of its own.
    A subclass gives `snapshot` (all the page needs to draw), `picture` (a still SVG, for where no widget can run)
    and its script; `note` is a sentence about what was just refused or went wrong.
    """

    state = traitlets.Dict().tag(sync=True)
    script: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any):
        if "script" in cls.__dict__:
            cls._esm = (HERE / "common.js").read_text("utf-8") + (HERE / cls.script).read_text("utf-8")
            cls._css = (HERE / "style.css").read_text("utf-8")
        super().__init_subclass__(**kwargs)

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()
        self.views: set[str] = set()
        self.note = ""
        self.made_in = 0  # the run of a cell
        self.on_msg(self._hear)
        _replace_earlier(self)

    def snapshot(self) -> dict[str, Any]:
        raise NotImplementedError

    def picture(self) -> str:
        raise NotImplementedError

    def leave(self) -> None:
        """Nobody looks any more: stop whatever runs."""

    def show(self) -> None:
        """Send the page what there is to draw now."""
        with self.lock:
            self.state = {**self.snapshot(), "note": self.note}

    def _hear(self, _widget: Any, message: dict[str, Any], _buffers: Any) -> None:
        asked = dict(message)
        number, what = asked.pop("n", None), str(asked.pop("do", ""))
        handler = getattr(self, f"do_{what}", None)
        if handler is not None:
            with self.lock:
                self.note = ""
                try:
                    handler(**asked)
                except Exception as error:
                    self.note = str(error) if isinstance(error, GamekitError) else f"{type(error).__name__}: {error}"
                    self.show()
        self.send({"answer": number})

    def do_ping(self) -> None:
        """The page asks whether anyone is there; the answer is enough."""

    def do_hello(self, view: str) -> None:
        self.views.add(view)

    def do_bye(self, view: str) -> None:
        self.views.discard(view)
        if not self.views:
            self.leave()

    def close(self) -> None:
        """Stop, and forget the page: no thread and no handler stays."""
        self.leave()
        self.on_msg(self._hear, remove=True)
        super().close()

    def still(self) -> str:
        """HTML that needs no script."""
        return self.picture()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        still = {"image/svg+xml": self.picture(), "text/html": f'<div class="gk-still">{self.still()}</div>'}
        return {**data, "text/plain": repr(self), **still}, metadata


def _replace_earlier(widget: Live) -> None:
    """A cell that is run again replaces the widgets its last run made: those are closed."""
    shell = get_ipython()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return
    cell = str((kernel.get_parent() or {}).get("metadata", {}).get("cellId") or "")
    widget.made_in = shell.execution_count
    here = _LIVE.setdefault(cell, []) if cell else []
    for old in [old for old in here if old.made_in != widget.made_in]:
        here.remove(old)
        old.close()
    here.append(widget)


def value_for_first(position: Position, heuristic: Heuristic | None) -> float | None:
    """What a heuristic says for the first player; a finished game is decided."""
    if position.winner is not None:
        return (0.0, WIN, -WIN)[position.winner]
    return heuristic.value(position, 1) if heuristic else None


def bars(values: Iterable[tuple[str, float]], most: int, best: Collection[str]) -> list[dict[str, Any]]:
    """Moves with their values for the page to draw, highest first; the `best` ones stand out."""
    ranked = sorted(values, key=lambda item: -item[1])[:most]
    return [{"move": move, "value": value, "text": value_text(value), "best": move in best} for move, value in ranked]


def ending(position: Position, names: Sequence[str]) -> str:
    """How a game ended, with the score where there is one."""
    outcome = position.outcome()
    if outcome is None:
        return "unfinished"
    who = f"{names[outcome.winner - 1]} wins" if outcome.winner else "a draw"
    return who + (f", {outcome.score[0]:g} : {outcome.score[1]:g}" if outcome.score else "")
