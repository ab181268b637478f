"""What every widget shares: its files, messages with an answer each, a still picture, and leaving nothing behind."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets
from IPython import get_ipython

from ..errors import GamekitError

HERE = Path(__file__).parent
_LIVE: dict[str, list[Live]] = {}  # the widgets each notebook cell has made


class Live(anywidget.AnyWidget):
    """A widget that draws `state`; what the page asks for is a method named `do_…`.

    Every message is answered, so the page can tell a kernel that works from one that is gone. Handlers and
    worker threads change the state under one lock: newer kernels hear the page on a thread of its own.
    """

    state = traitlets.Dict().tag(sync=True)
    script: ClassVar[str]
    made_in: int = 0  # the run of a cell

    def __init_subclass__(cls, **kwargs: Any):
        if "script" in cls.__dict__:
            cls._esm = (HERE / "common.js").read_text("utf-8") + (HERE / cls.script).read_text("utf-8")
            cls._css = (HERE / "style.css").read_text("utf-8")
        super().__init_subclass__(**kwargs)

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()
        self.views: set[str] = set()
        self.note = ""  # a sentence about what was just refused or went wrong
        self.on_msg(self._hear)
        _settle(self)

    # ------------------------------------------------------------- to be given by a widget

    def snapshot(self) -> dict[str, Any]:
        """All the page needs to draw."""
        raise NotImplementedError

    def picture(self) -> str:
        """A still SVG, for where no widget can run."""
        raise NotImplementedError

    def leave(self) -> None:
        """Nobody looks any more: stop whatever runs."""

    # ------------------------------------------------------------------------------ talk

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

    # ----------------------------------------------------------------------------- still

    def still(self) -> str:
        """HTML that needs no script."""
        return f'<div class="gk-still">{self.picture()}</div>'

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "text/plain": repr(self), "image/svg+xml": self.picture(), "text/html": self.still()}, metadata


def _settle(widget: Live) -> None:
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
