"""The command line: every duty of the package by name. Exit 0 done, 1 failed, 2 wrong use."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; wrong use is one sentence on standard error."""
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


def build() -> argparse.ArgumentParser:
    hint = "Specs look like connect_four, mnk(m=5,n=5,k=4), alphabeta(depth=4); quote them."
    parser = argparse.ArgumentParser(prog="gamekit", description="A bench for adversarial search.", epilog=hint)
    parser.add_argument("--version", action="version", version=f"gamekit {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(
        name: str, run: Callable, about: str, *positional: str, json_too: bool = True
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=about)
        for word in positional:
            made.add_argument(word, metavar=word.upper())
        if json_too:
            made.add_argument("--json", action="store_true", help="print JSON for a program to read")
        made.set_defaults(run=run)
        return made

    command("games", _games, "the games and their parameters")
    command("heuristics", _heuristics, "the heuristics of every game").add_argument("game", nargs="?", metavar="GAME")
    command("players", _players, "the players and their parameters")

    perft = command("perft", _perft, "count the lines of a game by length", "game")
    perft.add_argument("depth", metavar="DEPTH", type=int)
    perft.add_argument("--moves", default="", help="moves to start from")

    evaluate = command("eval", _eval, "evaluate a position", "game")
    evaluate.add_argument("--moves", default="", help="the moves that lead to it")
    evaluate.add_argument("--heuristic", help="the heuristic (default: the game's)")
    evaluate.add_argument("--for", dest="player", type=int, choices=(1, 2), help="the player (default: who is to move)")
    evaluate.add_argument("--explain", action="store_true", help="also print the parts of the score")

    play = command("play", _play, "let two players play one game", "game", "first", "second")
    play.add_argument("--seed", type=int, default=0)
    play.add_argument("--moves", default="", help="moves to start from")
    play.add_argument("--max-plies", type=int, help="plies after which a game is stopped")
    play.add_argument("--move-seconds", type=float, help="seconds a move may take before its player forfeits")

    match = command("match", _match, "let two players play many games", "game", "first", "second")
    match.add_argument("--games", type=int, default=100)
    match.add_argument("--openings", type=int, help="random openings, each played by both sides")
    match.add_argument("--seed", type=int, default=0)
    match.add_argument("--max-plies", type=int, help="plies after which a game is stopped")
    match.add_argument("--move-seconds", type=float, help="seconds a move may take before its player forfeits")
    match.add_argument("--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"), help="stop as soon as this is decided")
    match.add_argument("--workers", type=int, help="processes on this machine")

    compare = command("compare", _compare, "which heuristic is better, by how much, and are we sure", "game")
    compare.add_argument("heuristics", nargs="+", metavar="HEURISTIC")
    compare.add_argument("--depths", type=_numbers, default=[2], help="such as 1,2,3")
    compare.add_argument("--opponents", nargs="*", default=["random"], metavar="PLAYER")
    compare.add_argument("--games", type=int, default=100)
    compare.add_argument("--seed", type=int, default=0)
    compare.add_argument("--exact", type=int, metavar="N", help="also judge each by N positions solved exactly")

    solve = command("solve", _solve, "the exact value of a position", "game")
    solve.description = (
        "The exact value for the side to move: positive wins. With gravity it is the score (how many "
        "stones the winner still holds when about to win), in Candy the final margin, else 1, 0 or "
        "-1. Exit 1 where something was not solved; Conga gives up after 60 s by itself."
    )
    where = solve.add_mutually_exclusive_group()
    where.add_argument("--moves", default="", help="the moves that lead to it")
    where.add_argument(
        "--file",
        help="a file of positions, a line of moves each; with gravity a second number is "
        "taken for somebody's score and not looked at, so two moves are written 44",
    )
    solve.add_argument("--all", action="store_true", help="also the value of every legal move")
    solve.add_argument("--seconds", type=float, help="give up after this long")
    solve.add_argument("--megabytes", type=float, default=None, help="memory of the table")

    sweep = command("sweep", _sweep, "run or resume a sweep described by a YAML file", "file", json_too=False)
    sweep.add_argument("--out", help="the folder of the results (default: results/ and the file's name)")
    sweep.add_argument("--workers", type=int, help="processes on this machine")
    sweep.add_argument("--scheduler", help="the address of a Dask scheduler instead")

    verify = command("verify", _verify, "check a sweep's records", "folder")
    verify.add_argument("--repair", action="store_true", help="play damaged jobs again")

    run = command("run", _run, "run a notebook with checked parameters", "notebook", json_too=False)
    run.add_argument("-p", dest="parameters", action="append", default=[], metavar="NAME=VALUE")
    run.add_argument("--grid", dest="grid", action="append", default=[], metavar="NAME=V1,V2")
    run.add_argument("--out", help="the folder of the results")

    report = command("report", _report, "run all notebooks and build the site", json_too=False)
    report.add_argument("--profile", default="quick", help="quick or full")
    report.add_argument("--only", action="append", help="just this notebook")

    warm = command("warm", _warm, "compile everything now, so that nothing waits later", json_too=False)
    warm.add_argument("--quiet", action="store_true")
    bench = command("bench", _bench, "gamekit beside C and beside its peers", json_too=False)
    bench.add_argument("rest", nargs=argparse.REMAINDER)
    command("lab", _lab, "JupyterLab on 00_start_here", json_too=False)
    return parser


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 1,2,3") from None


def _print(options: argparse.Namespace, data: Any, text: str) -> None:
    print(json.dumps(data, ensure_ascii=False) if options.json else text)


# ---------------------------------------------------------------------- what there is


def _described(params: dict[str, Param]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "default": None if p.default is None else write(p.default),
            "allowed": p.allowed,
            "about": p.about,
        }
        for name, p in params.items()
    ]


def _listing(entries: list[dict[str, Any]]) -> str:
    lines = []
    for entry in entries:
        report = f"  [{entry['report']}]" if entry.get("report") else ""
        lines.append(f"{entry['name']:18} {entry['about']}{report}")
        lines += [
            f"    {p['name']:14} {p['about']} ({p['allowed']}; default {p['default'] or 'none'})"
            for p in entry["params"]
        ]
    return "\n".join(lines)


def _games(options: argparse.Namespace) -> None:
    found = [
        {
            "name": name,
            "about": (kind.__doc__ or "").split("\n")[0],
            "params": _described(kind.params),
            "heuristics": [h for owner, h in HEURISTICS if owner == name],
            "default": str(game(name)),
        }
        for name, kind in GAMES.items()
    ]
    _print(options, found, _listing(found))


def _heuristics(options: argparse.Namespace) -> None:
    wanted = game(options.game).name if options.game else None
    found = [
        {"game": owner, "name": name, "about": h.about, "report": h.report, "params": _described(h.params)}
        for (owner, name), h in HEURISTICS.items()
        if wanted in (None, owner)
    ]
    lines = []
    for owner in dict.fromkeys(entry["game"] for entry in found):
        lines += [f"{owner}:", textwrap.indent(_listing([f for f in found if f["game"] == owner]), "  ")]
    _print(options, found, "\n".join(lines))


def _players(options: argparse.Namespace) -> None:
    found = [
        {"name": name, "about": kind.about, "report": kind.report, "params": _described(kind.takes)}
        for name, kind in PLAYERS.items()
    ]
    _print(options, found, _listing(found))


# ------------------------------------------------------------------- positions and games


def _perft(options: argparse.Namespace) -> None:
    from .search.perft import perft

    counts = perft(game(options.game).replay(options.moves), options.depth)
    _print(options, counts, "\n".join(f"{depth} {count}" for depth, count in enumerate(counts, 1)))


def _eval(options: argparse.Namespace) -> None:
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


def _play(options: argparse.Namespace) -> None:
    from .matches.single_game import play_game

    played = play_game(
        options.game,
        options.first,
        options.second,
        seed=options.seed,
        moves=options.moves,
        max_plies=options.max_plies,
        move_seconds=options.move_seconds,
    )
    _print(options, played.to_dict(), str(played))


def _match(options: argparse.Namespace) -> None:
    from .analysis.summaries import elo, sprt, win_rates
    from .experiments.measure import match

    played = match(
        options.game,
        options.first,
        options.second,
        options.games,
        openings=options.openings,
        seed=options.seed,
        max_plies=options.max_plies,
        sprt=tuple(options.sprt) if options.sprt else None,
        workers=options.workers,
        progress=False if options.json else None,
        **({} if options.move_seconds is None else {"move_seconds": options.move_seconds}),
    )
    row = win_rates(played).iloc[0].to_dict()
    low, high = row["win_rate_low"], row["win_rate_high"]
    known = low == low
    ended = {str(k): int(v) for k, v in played["termination"].value_counts().items() if v}
    data: dict[str, Any] = {
        "game": str(played["game"].iloc[0]),
        "players": [str(played[who].iloc[0]) for who in ("player", "opponent")],
        "games": len(played),
        "wins": [int(row["wins"]), int(row["losses"])],
        "draws": int(row["draws"]),
        "distinct": int(row["distinct"]),
        "terminations": ended,
        "interval": [float(low), float(high)] if known else None,
        "turns": float(played["plies"].mean()),
        "nodes": [int(played["generated"].sum()), int(played["opponent_generated"].sum())],
    }
    rated = elo(played).iloc[0]
    share = f"{row['win_rate']:.1%}" + (f" (95 %: {low:.1%} to {high:.1%})" if known else "")
    lines = [
        f"{data['game']}: {data['players'][0]} against {data['players'][1]}",
        f"games      {len(played)}, distinct {data['distinct']}",
        f"wins       {data['wins'][0]} = {share}; losses {data['wins'][1]}, draws {data['draws']}",
        f"ended by   {', '.join(f'{label} {count}' for label, count in ended.items())}",
        f"mean plies {data['turns']:.1f}; nodes {data['nodes'][0]} and {data['nodes'][1]}",
    ]
    if known:
        lines.append(f"Elo        {rated['elo']:+.0f} [{rated['elo_low']:+.0f}, {rated['elo_high']:+.0f}]")
    if options.sprt:
        test = sprt(played, *options.sprt).iloc[0].to_dict()
        data["sprt"] = {key: value.item() if hasattr(value, "item") else value for key, value in test.items()}
        lines.append(f"SPRT       llr {test['llr']:.2f}; {test['decision'] or 'not decided'}")
    elif not known:
        data["warning"] = (
            "both players are deterministic and only replayed games, so no interval is given; use openings"
        )
        lines.append(f"warning    {data['warning']}")
    for note in played["note"][played["note"] != ""].unique()[:3]:
        lines.append(f"note       {note}")
    _print(options, data, "\n".join(lines))


def _compare(options: argparse.Namespace) -> None:
    from .analysis.compare import compare

    result = compare(
        options.game,
        options.heuristics,
        depths=options.depths,
        opponents=options.opponents,
        games=options.games,
        seed=options.seed,
        exact=options.exact or 0,
    )
    _print(options, result.to_dict(), str(result))


def _solve(options: argparse.Namespace) -> int:
    from .solvers.solver import Solver

    board = game(options.game)
    solver = Solver(board, megabytes=options.megabytes, progress=not options.json and sys.stderr.isatty())
    if options.file is not None:
        if options.all:
            raise GamekitError("--all goes with --moves, not with --file")
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


def _moves_of(board: Any, line: str) -> str:
    """The moves of a line that may end in somebody's score: `4435 -2`, but `4 4 3 5` are moves."""
    words = line.split()
    if getattr(board, "gravity", False) and len(words) == 2 and words[1].removeprefix("-").isdigit():
        return words[0]
    return line


def _solve_file(options: argparse.Namespace, board: Any, solver: Any) -> int:
    try:
        lines = Path(options.file).read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise GamekitError(f"{options.file!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise GamekitError(f"{options.file!r} cannot be read: it is no text") from None
    found, missing = [], 0
    for number, line in enumerate(lines, 1):
        moves = line.split("#")[0].strip()
        if not moves:
            continue
        moves = board.join(board.split(_moves_of(board, moves)))
        try:
            solved = solver.solve(board.replay(moves), seconds=options.seconds)
        except GamekitError as error:
            raise GamekitError(f"{options.file}, line {number}: {error}") from None
        missing += solved.value is None
        found.append({"moves": moves, "value": solved.value})
        if not options.json:
            print(moves, "not solved" if solved.value is None else solved.value, flush=True)
    if not found:
        raise GamekitError(f"{options.file} holds no positions; a position is a line of moves")
    if options.json:
        print(json.dumps(found))
    return 1 if missing else 0


# ------------------------------------------------------------------- sweeps and notebooks


def _sweep(options: argparse.Namespace) -> int:
    from .analysis.overview import run_file

    rates = run_file(options.file, out=options.out, workers=options.workers, scheduler=options.scheduler)
    print(rates.to_string(index=False))
    return 0


def _verify(options: argparse.Namespace) -> int:
    from .analysis.overview import repair
    from .experiments.folder import verify

    found = repair(options.folder) if options.repair else verify(options.folder)
    _print(options, found.to_dict(), str(found))
    return 0 if found.ok else 1


def _pairs(given: Sequence[str], option: str) -> dict[str, str]:
    pairs = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise GamekitError(f"{option} {text!r} is not allowed; it looks like name=value")
        pairs[name] = value
    return pairs


def _run(options: argparse.Namespace) -> int:
    from .notebook.parameters import split
    from .notebook.suite import run_notebook

    return run_notebook(
        options.notebook,
        _pairs(options.parameters, "-p"),
        grid={k: split(v) for k, v in _pairs(options.grid, "--grid").items()},
        out=options.out,
    )


def _report(options: argparse.Namespace) -> int:
    from .notebook.suite import report

    return report(profile=options.profile, only=options.only)


def _bench(options: argparse.Namespace) -> int:
    from .notebook.data import ROOT

    if not (ROOT / "bench").is_dir():
        raise GamekitError("the benchmark is run from a checkout of the project; there is no folder bench here")
    return subprocess.call([sys.executable, "-m", "bench", *options.rest], cwd=ROOT)


def _lab(_options: argparse.Namespace) -> int:
    from .notebook.lab import lab

    return lab()


def _warm(options: argparse.Namespace) -> None:
    """Load or compile every function the package has, with a line of progress."""
    started = time.monotonic()
    everything = _compiled_functions()
    show = sys.stderr.isatty() and not options.quiet
    for done, function in enumerate(everything, 1):
        if show:
            print(f"\rcompiling {done} of {len(everything)}", end="", file=sys.stderr, flush=True)
        function.prepare()
    if not options.quiet:
        print(
            f"{chr(13) * show}{len(everything)} functions ready after {time.monotonic() - started:.1f} s, "
            f"kept in {cache_folder()}",
            file=sys.stderr,
        )


def _compiled_functions() -> list[Compiled]:
    import importlib
    import pkgutil

    from . import matches, search, solvers

    for folder in (search, solvers, matches):
        for module in pkgutil.iter_modules(folder.__path__, folder.__name__ + "."):
            importlib.import_module(module.name)
    found: dict[str, Compiled] = {}
    for name, loaded in list(sys.modules.items()):
        if name.startswith("gamekit"):
            things = [thing for thing in vars(loaded).values() if isinstance(thing, Compiled)]
            found |= {thing.name: thing for thing in things if thing.name}
    for kind in GAMES.values():
        board = kind()
        variants = [board, *(kind(**{name: one}) for name, p in kind.params.items() for one in p.choices or ())]
        for rules in {id(one._rules): one._rules for one in variants}.values():
            found |= {rule.name or "": rule for rule in (rules.moves, rules.play)}
        for owner, name in HEURISTICS:
            if owner == board.name:
                found |= {code.name or "": code for code in HEURISTICS[owner, name].prepared(board)}
    return list(found.values())


if __name__ == "__main__":
    sys.exit(main())
