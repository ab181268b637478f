"""The command line: every task of the package by name. Exit 0 done, 1 failed, 2 wrong use."""

from __future__ import annotations

import argparse
import importlib
import io
import json
import math
import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import __version__
from .errors import GamekitError
from .games import GAMES, game
from .heuristics import HEURISTICS, heuristic_of
from .jit.cache import cache_folder
from .jit.compiled import Compiled
from .players import PLAYERS
from .specs import Param, write

Options = argparse.Namespace


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments (default: this process's) name; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a sign shows a question mark
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    parser = build()
    options = parser.parse_args(arguments)
    if options.run is None:
        parser.print_help()
        return 2
    try:
        return options.run(options) or 0
    except GamekitError as error:
        print(f"gamekit: {error}", file=sys.stderr)
        return 1 if type(error).__name__ == "FolderError" else 2
    except KeyboardInterrupt as error:
        print(f"gamekit: {str(error) or 'stopped'}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 1,2,3") from None


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} does not look like name=value")
    return name, value


VALUES = """The value is for the side to move: positive wins. With gravity it is the score (how many stones the winner
still holds when about to win), in Candy the final margin, else 1, 0 or -1. Exit 1 where something was not solved; Conga
gives up after 60 s by itself."""

# Every argument once, whatever the commands that take it; `?` and `+` say how often a positional one may stand.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "game": {"help": "a game, such as connect_four or mnk(m=5,n=5,k=4)"},
    "game?": {"help": "only those of this game"},
    "first": {"metavar": "PLAYER", "help": "the player who moves first, such as alphabeta(depth=4)"},
    "second": {"metavar": "PLAYER", "help": "the opponent"},
    "depth": {"type": int, "help": "plies"},
    "heuristics+": {"metavar": "HEURISTIC", "help": "heuristics, such as moves or windows(count=5)"},
    "file": {"help": "a YAML file with the arguments of gk.sweep"},
    "folder": {"help": "the folder of a sweep or another measurement"},
    "notebook": {"help": "a notebook's file, name or number"},
    "rest": {"nargs": argparse.REMAINDER, "metavar": "...", "help": "options of the benchmark"},
    "--json": {"action": "store_true", "help": "print JSON, for programs"},
    "--moves": {"default": "", "help": "a line of moves that leads to the position, such as 4435"},
    "--seed": {"type": int, "default": 0, "help": "random seed (default: 0)"},
    "--games": {"type": int, "default": 100, "help": "games of every meeting (default: 100)"},
    "--openings": {"type": int, "help": "random openings, each played by both sides"},
    "--max-plies": {"type": int, "help": "plies after which a game is stopped"},
    "--move-seconds": {"type": float, "help": "seconds a move may take before its player forfeits"},
    "--sprt": {"type": float, "nargs": 2, "metavar": ("ELO0", "ELO1"), "help": "stop as soon as this is decided"},
    "--workers": {"type": int, "help": "processes on this machine (default: all cores)"},
    "--scheduler": {"help": "the address of a Dask scheduler instead"},
    "--heuristic": {"help": "the heuristic (default: the game's)"},
    "--for": {"dest": "player", "type": int, "choices": (1, 2), "help": "the player (default: who is to move)"},
    "--explain": {"action": "store_true", "help": "also print the parts of the score"},
    "--depths": {"type": _numbers, "default": [2], "help": "depths at which they meet, such as 1,2,3 (default: 2)"},
    "--nodes": {"type": _numbers, "default": [1000], "help": "nodes per move at which they meet (default: 1000)"},
    "--opponents": {"nargs": "*", "default": ["random"], "metavar": "PLAYER", "help": "whom all of them meet as well"},
    "--exact": {"type": int, "default": 0, "metavar": "N", "help": "also judge each by N positions solved exactly"},
    "--file": {
        "help": "a file with a line of moves for each position; with gravity a second number is somebody's score "
        "and ignored, so two moves are written 44"
    },
    "--all": {"action": "store_true", "help": "also the value of every legal move"},
    "--seconds": {"type": float, "help": "give up after this long"},
    "--megabytes": {"type": float, "help": "memory of the table"},
    "--out": {"help": "the folder of the results"},
    "--repair": {"action": "store_true", "help": "measure damaged parts again"},
    "-p": {"type": _pair, "action": "append", "default": [], "metavar": "NAME=VALUE", "help": "a parameter"},
    "--grid": {"type": _pair, "action": "append", "default": [], "metavar": "NAME=V1,V2", "help": "one run per value"},
    "--profile": {"default": "quick", "help": "quick or full (default: quick)"},
    "--only": {"action": "append", "metavar": "NOTEBOOK", "help": "just this notebook; may be repeated"},
    "--quiet": {"action": "store_true", "help": "print nothing"},
}


def build() -> argparse.ArgumentParser:
    """The parser with every command."""
    hint = "Specs look like connect_four, mnk(m=5,n=5,k=4), alphabeta(depth=4); quote them."
    parser = argparse.ArgumentParser(prog="gamekit", description="A bench for adversarial search.", epilog=hint)
    parser.add_argument("--version", action="version", version=f"gamekit {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(run: Callable, about: str, name: str, *arguments: str, more: str = "") -> None:
        made = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}. {more}")
        made.set_defaults(run=run)
        for word in arguments:
            how = ARGUMENTS[word]
            if word[0] != "-":
                how = {"metavar": word.strip("?+").upper(), **({"nargs": word[-1]} if word[-1] in "?+" else {}), **how}
            made.add_argument(word.strip("?+"), **how)

    two = ("game", "first", "second")
    rules = ("--seed", "--max-plies", "--move-seconds", "--json")
    many = ("--games", "--openings", "--sprt", "--workers")
    compared = ("game", "heuristics+", "--depths", "--nodes", "--opponents", "--games", "--exact", "--seed", "--json")
    solved = ("--moves", "--file", "--all", "--seconds", "--megabytes", "--json")
    command(_games, "list the games and their parameters", "games", "--json")
    command(_heuristics, "list the heuristics and their parameters", "heuristics", "game?", "--json")
    command(_players, "list the players and their parameters", "players", "--json")
    command(_perft, "count the lines of play by length", "perft", "game", "depth", "--moves", "--json")
    command(_eval, "evaluate a position", "eval", "game", "--moves", "--heuristic", "--for", "--explain", "--json")
    play, compare = _call("matches.single_game", "play_game"), _call("analysis.compare", "compare")
    command(play, "let two players play one game", "play", *two, "--moves", *rules)
    command(_match, "let two players play many games", "match", *two, *many, *rules)
    command(compare, "find out which heuristic is better, and how sure that is", "compare", *compared)
    command(_solve, "compute the exact value of a position", "solve", "game", *solved, more=VALUES)
    command(_sweep, "run or resume a sweep described by a file", "sweep", "file", "--out", "--workers", "--scheduler")
    command(_verify, "check every byte of a measurement's folder", "verify", "folder", "--repair", "--json")
    command(_run, "run a notebook with checked parameters", "run", "notebook", "-p", "--grid", "--out")
    command(_call("notebook.suite", "report"), "run all notebooks and build the site", "report", "--profile", "--only")
    command(_warm, "compile everything now, so that nothing waits later", "warm", "--quiet")
    command(_bench, "run the benchmark against C and other libraries", "bench", "rest")
    command(_call("notebook.lab", "lab"), "open 00_start_here in JupyterLab", "lab")
    return parser


def _print(options: Options, data: Any, text: str) -> None:
    print(json.dumps(data, ensure_ascii=False) if options.json else text)


def _entry(name: str, about: str, report: str, params: Mapping[str, Param], **more: Any) -> dict[str, Any]:
    """What is known of a game, heuristic or player."""
    described = [
        {"name": k, "default": None if p.default is None else write(p.default), "allowed": p.allowed, "about": p.about}
        for k, p in params.items()
    ]
    return {"name": name, "about": about, "report": report, "params": described, **more}


def _list(options: Options, entries: list[dict[str, Any]]) -> None:
    lines = []
    for entry in entries:
        owner, report = (f"{entry['game']:13} " if "game" in entry else ""), f"  [{entry['report']}]"
        lines.append(f"{owner}{entry['name']:18} {entry['about']}{report if entry['report'] else ''}")
        for p in entry["params"]:
            lines.append(f"    {p['name']:14} {p['about']} ({p['allowed']}; default {p['default'] or 'none'})")
    _print(options, entries, "\n".join(lines))


def _games(options: Options) -> None:
    entries = []
    for name, kind in GAMES.items():
        heuristics = [heuristic for owner, heuristic in HEURISTICS if owner == name]
        about = (kind.__doc__ or "").split("\n")[0]
        entries.append(_entry(name, about, "", kind.params, heuristics=heuristics, default=str(game(name))))
    _list(options, entries)


def _heuristics(options: Options) -> None:
    wanted = game(options.game).name if options.game else None
    found = [(owner, name, h) for (owner, name), h in HEURISTICS.items() if wanted in (None, owner)]
    _list(options, [_entry(name, h.about, h.report, h.params, game=owner) for owner, name, h in found])


def _players(options: Options) -> None:
    _list(options, [_entry(name, kind.about, kind.report, kind.takes) for name, kind in PLAYERS.items()])


def _perft(options: Options) -> None:
    from .search.perft import perft

    counts = perft(game(options.game).replay(options.moves), options.depth)
    _print(options, counts, "\n".join(f"{depth} {count}" for depth, count in enumerate(counts, 1)))


def _eval(options: Options) -> None:
    position = game(options.game).replay(options.moves)
    heuristic = heuristic_of(options.heuristic, position.game)
    me = options.player or position.turn
    value = heuristic.value(position, me)
    data: dict[str, Any] = {"value": value}
    text = f"{value:g}"
    if options.explain:
        parts = heuristic.explain(position, me)
        data["parts"] = [{"what": p.what, "cells": [list(c) for c in p.cells], "value": p.value} for p in parts]
        text += "".join(f"\n{p.value:+10g}  {p.what}  {' '.join(f'{r},{c}' for r, c in p.cells)}" for p in parts)
    _print(options, data, text)


def _given(options: Options) -> dict[str, Any]:
    """The options that were given, as arguments of a function."""
    return {name: v for name, v in vars(options).items() if v is not None and name not in ("run", "json")}


def _call(module: str, name: str) -> Callable[[Options], int]:
    """A command that only calls a function of the package, and prints what it returns unless that is an exit code."""

    def run(options: Options) -> int:
        result = getattr(importlib.import_module(f".{module}", __package__), name)(**_given(options))
        if isinstance(result, int):
            return result
        _print(options, result.to_dict(), str(result))
        return 0

    return run


def _match(options: Options) -> None:
    from .analysis.summaries import elo, sprt, win_rates
    from .experiments.measure import match

    played = match(**_given(options), progress=False if options.json else None)
    row = win_rates(played).iloc[0]
    known = bool(row["win_rate_low"] == row["win_rate_low"])
    data: dict[str, Any] = {
        "game": str(played["game"].iloc[0]),
        "players": [str(played[who].iloc[0]) for who in ("player", "opponent")],
        "games": len(played),
        "wins": [int(row["wins"]), int(row["losses"])],
        "draws": int(row["draws"]),
        "distinct": int(row["distinct"]),
        "terminations": {str(how): int(n) for how, n in played["termination"].value_counts().items() if n},
        "interval": [float(row["win_rate_low"]), float(row["win_rate_high"])] if known else None,
        "turns": float(played["plies"].mean()),
        "nodes": [int(played["generated"].sum()), int(played["opponent_generated"].sum())],
    }
    rated = [float(elo(played)[name].iloc[0]) for name in ("elo", "elo_low", "elo_high")]
    if all(map(math.isfinite, rated)):
        data["elo"] = rated
    if options.sprt:
        (data["sprt"],) = sprt(played, *options.sprt).astype(object).to_dict("records")
    elif not known:
        data["warning"] = "both players are deterministic and replayed games, so no interval is given; use openings"
    if notes := [note for note in played["note"].unique() if note]:
        data["notes"] = notes[:3]
    _print(options, data, "\n".join(f"{name:12} {_text(value)}" for name, value in data.items()))


def _text(value: Any) -> str:
    """A value of JSON in words."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(one)}" for key, one in value.items())
    if isinstance(value, list):
        return " and ".join(map(_text, value))
    if value is None or value == "":
        return "none"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _solve(options: Options) -> int:
    from .solvers.solver import Solver

    board = game(options.game)
    if options.file is not None and (options.all or options.moves):
        raise GamekitError("--file goes neither with --moves nor with --all")
    solver = Solver(board, megabytes=options.megabytes, progress=not options.json and sys.stderr.isatty())
    if options.file is not None:
        return _solve_file(options, board, solver)
    position, started = board.replay(options.moves), time.monotonic()
    solved = solver.solve(position, seconds=options.seconds)
    data: dict[str, Any] = {"value": solved.value}
    text, whole = str(solved), solved.value is not None
    if options.all:
        left = None if options.seconds is None else max(options.seconds - (time.monotonic() - started), 0.001)
        data["moves"] = values = solver.moves(position, seconds=left)
        text += "".join(f"\n{move} {'not solved' if value is None else value}" for move, value in values.items())
        whole = whole and None not in values.values()
    _print(options, data, text)
    return 0 if whole else 1


def _solve_file(options: Options, board: Any, solver: Any) -> int:
    try:
        lines = Path(options.file).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise GamekitError(f"{options.file!r} cannot be read: {reason}") from None
    found = []
    for number, line in enumerate(lines, 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if getattr(board, "gravity", False) and len(words) == 2 and words[1].removeprefix("-").isdigit():
            words.pop()  # somebody's score, as in `4435 -2`; but `4 4 3 5` are moves
        moves = board.join(board.split(" ".join(words)))
        try:
            value = solver.solve(board.replay(moves), seconds=options.seconds).value
        except GamekitError as error:
            raise GamekitError(f"{options.file}, line {number}: {error}") from None
        found.append({"moves": moves, "value": value})
        if not options.json:
            print(moves, "not solved" if value is None else value, flush=True)
    if not found:
        raise GamekitError(f"no positions found in {options.file}; a position is a line of moves")
    if options.json:
        print(json.dumps(found))
    return 1 if any(row["value"] is None for row in found) else 0


def _sweep(options: Options) -> None:
    from .analysis.overview import run_file

    rates = run_file(options.file, out=options.out, workers=options.workers, scheduler=options.scheduler)
    print(rates.to_string(index=False))


def _verify(options: Options) -> int:
    from .analysis.overview import repair
    from .experiments.folder import verify

    found = repair(options.folder) if options.repair else verify(options.folder)
    _print(options, found.to_dict(), str(found))
    return 0 if found.ok else 1


def _run(options: Options) -> int:
    from .notebook.parameters import split
    from .notebook.suite import run_notebook

    grid = {name: split(values) for name, values in options.grid}
    return run_notebook(options.notebook, dict(options.p), grid=grid, out=options.out)


def _bench(options: Options) -> int:
    root = Path(__file__).resolve().parents[1]
    if not (root / "bench").is_dir():
        raise GamekitError("the benchmark runs in a copy of the project; there is no folder bench here")
    return subprocess.call([sys.executable, "-m", "bench", *options.rest], cwd=root)


def _warm(options: Options) -> None:
    started, everything = time.monotonic(), _compiled_functions()
    show = sys.stderr.isatty() and not options.quiet
    for done, function in enumerate(everything, 1):
        if show:
            print(f"\rcompiling {done} of {len(everything)}", end="", file=sys.stderr, flush=True)
        function.prepare()
    if not options.quiet:
        ready = f"{len(everything)} functions ready after {time.monotonic() - started:.1f} s"
        print(f"{chr(13) * show}{ready}, kept in {cache_folder()}", file=sys.stderr)


def _compiled_functions() -> list[Compiled]:
    """Everything the cache can hold: functions of modules, the rules of every kind of game, heuristics."""
    for folder in ("search", "solvers", "matches"):
        package = importlib.import_module(f".{folder}", __package__)
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    modules = [module for name, module in sys.modules.items() if name.startswith("gamekit")]
    found = [thing for module in modules for thing in vars(module).values() if isinstance(thing, Compiled)]
    for kind in GAMES.values():
        settings = [{}, *({name: one} for name, param in kind.params.items() for one in param.choices or ())]
        found += [code for given in settings for code in vars(kind(**given)._rules).values()]
        own = [heuristic for (owner, _), heuristic in HEURISTICS.items() if owner == kind.name]
        found += [code for heuristic in own for code in heuristic.prepared(kind())]
    return list({code.name: code for code in found if code.name}.values())


if __name__ == "__main__":
    sys.exit(main())
