"""A move chosen on a thread of its own, so that the notebook goes on, and called off at any moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ..core import Position
from ..players import Choice, Player
from ..search import montecarlo, workspace

TICK = 0.2  # seconds between two signs of life
Done = Callable[["Thought"], None]


class Thought:
    """One player thinking about one position. `done(thought)` is called at the end, on this thread.

    The engines ask every few milliseconds whether to go on; then `tick(nodes)` is called, and the engine ends, with the
    best move so far, if `stop` was. A player written in Python cannot be asked.
    """

    def __init__(self, player: Player, position: Position, done: Done, tick: Callable[[int], None]):
        self.player, self.position, self._done, self._tick = player, position, done, tick
        self.choice: Choice | None = None
        self.error: BaseException | None = None
        self._ticked = time.monotonic()
        self.wanted = True  # nobody waits for a thought that is no longer wanted
        self._halt = threading.Event()
        self.thread = threading.Thread(target=self._run, name="gamekit-think", daemon=True)
        self.start = self.thread.start

    def stop(self, wanted: bool = True) -> bool:
        """Ask it to end; whether it has. One that is no longer wanted is waited for, up to a second."""
        self.wanted = self.wanted and wanted
        self._halt.set()
        if self.thread is not threading.current_thread() and not wanted:
            self.thread.join(1.0)
        return not self.thread.is_alive()

    @property
    def _engine(self) -> Any:
        return getattr(self.player, "_engine", None)

    @property
    def stoppable(self) -> bool:
        """Whether the player can be asked to stop."""
        return self._engine is not None

    def _nodes(self) -> int:
        """Positions generated so far."""
        if hasattr(self._engine, "counts"):
            return int(self._engine.counts[workspace.GENERATED])
        return int(self._engine.register[montecarlo.GENERATED])

    def _ask(self) -> bool:
        now = time.monotonic()
        if now - self._ticked > TICK and self.wanted:
            self._ticked = now
            self._tick(self._nodes())
        return self._halt.is_set()

    def _run(self) -> None:
        try:
            if self.player.game != self.position.game:
                self.player.begin(self.position.game)
            if self.stoppable:
                run = type(self._engine).run.__get__(self._engine)
                # a call that brings its own way to stop is the player's pondering
                self._engine.run = lambda *given: run(*given) if callable(given[-1]) else run(*given, stop=self._ask)
            self.choice = self.player.choose(self.position)
        except BaseException as error:
            self.error = error
        finally:
            if self.wanted:
                self._done(self)
