"""Runs notebooks through papermill: in parallel, resumed, judged by what they leave.

Papermill runs a misspelt parameter with its default, and calls a run that left early a success. So parameters are
checked here first, and a run counts only when its last cell wrote a mark and every table and figure that its cells
name is there. A run writes into a folder of its own, renamed into place when it is complete:

    results/quick/10_conga/  notebook.ipynb  mark.json  findings.json  tables/*.csv  figures/*.svg *.png  timed/*.csv
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .parameters import declared

ROOT = Path(__file__).resolve().parents[1]
NOT_SEEN = {"suite.py", "runner.py", "site.py", "cli.py"}  # they run and show notebooks; no number depends on them


@dataclass(frozen=True)
class Run:
    """A notebook with its parameters, and the folder that is its result."""

    notebook: Path
    parameters: dict[str, Any]
    home: Path
    needs: tuple[Path, ...] = ()  # folders of the runs whose tables it reads

    @property
    def name(self) -> str:
        return self.home.name

    @property
    def label(self) -> str:
        return self.name if self.name == self.notebook.stem else f"{self.notebook.stem} {self.name}"


@dataclass
class Result:
    """How a run went: `error` says what failed and where; `fresh` is False for one that was done already."""

    run: Run
    error: str | None = None
    fresh: bool = True
    seconds: float = 0.0


@dataclass
class Watch:
    """What is going on in a run, cell by cell: the bar moves, and a dead kernel can be placed."""

    on_cell: Callable[[], object]
    cell: int = 0
    source: str = ""


# ---------------------------------------------------------------------------- what is done


@cache
def code_digest() -> str:
    """The package and its data: a run made by other code is run again."""
    found = hashlib.sha256()
    package = Path(__file__).parent
    data = [path for path in sorted((ROOT / "data").rglob("*")) if path.is_file()]
    for path in [*sorted(package.rglob("*.py")), *data]:
        if path.parent != package or path.name not in NOT_SEEN:
            found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def digest(run: Run) -> str:
    """Everything a run's result depends on: notebook, parameters, package, and the runs it reads."""
    cells = json.loads(run.notebook.read_text(encoding="utf-8"))["cells"]
    parts = [
        [(cell["cell_type"], "".join(cell["source"])) for cell in cells],
        run.parameters,
        code_digest(),
        [_mark(need).get("files") for need in run.needs],
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _mark(home: Path) -> dict[str, Any]:
    try:
        return json.loads((home / "mark.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def is_done(run: Run) -> bool:
    """Complete, unchanged, and every file as it was left."""
    mark = _mark(run.home)
    there = (run.home / "notebook.ipynb").is_file()  # it may have been left out of a commit
    return there and mark.get("digest") == digest(run) and _files(run.home) == mark.get("files")


def _files(home: Path) -> dict[str, str]:
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.name not in ("mark.json", "notebook.ipynb")
    }


def promised(notebook: Path) -> list[str]:
    """The files a notebook's cells name: `report.table("x", …)` promises `tables/x.csv`."""
    files = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or "report." not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if ast.unparse(node.func.value) == "report":
                name = str(node.args[0].value) if node.args and isinstance(node.args[0], ast.Constant) else ""
                files += {
                    "table": [f"tables/{name}.csv"],
                    "timed": [f"timed/{name}.csv"],
                    "findings": ["findings.json"],
                    "figure": [f"figures/{name}.svg", f"figures/{name}.png"],
                }.get(node.func.attr, [])
    return files


# -------------------------------------------------------------------------------- one run


def execute(run: Run, on_cell: Callable[[], object] = lambda: None, timeout: float | None = None) -> Result:
    """Run a notebook; whatever happens, an error in words or a complete folder in place."""
    started = time.monotonic()
    part = run.home.with_name(f".{run.home.name}.{os.getpid()}.{secrets.token_hex(3)}")
    watch = Watch(on_cell)
    try:
        _sweep_up(run.home)
        part.mkdir(parents=True)
        error = _papermill(run, part, watch, timeout) or _missing(run, part)
        if error is None:
            facts = {
                "digest": digest(run),
                "notebook": run.notebook.stem,
                "parameters": run.parameters,
                "files": _files(part),
                "seconds": round(time.monotonic() - started, 2),
            }
            (part / "mark.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            _into_place(part, run.home)
    except OSError as problem:
        error = f"{run.label}: {problem}"
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Result(run, error, True, time.monotonic() - started)


def _sweep_up(home: Path) -> None:
    """Folders that a killed run left behind; those of a running process stay."""
    for left in home.parent.glob(f".{home.name}.*"):
        owner = left.name.removeprefix(f".{home.name}.").split(".")[0]
        try:
            os.kill(int(owner), 0)
        except ValueError:
            continue
        except OSError:
            shutil.rmtree(left, ignore_errors=True)


def _papermill(run: Run, part: Path, watch: Watch, timeout: float | None) -> str | None:
    """Let papermill execute a copy with a last cell of ours; the error, if any, in one line."""
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    register_engine()
    token = secrets.token_hex(16)
    mark = part / ".token"
    notebook = nbformat.read(run.notebook, as_version=4)
    last = nbformat.v4.new_code_cell(f"__import__('pathlib').Path({str(mark)!r}).write_text({token!r})")
    notebook.cells.append(last)
    copy, out = part / ".in.ipynb", part / "notebook.ipynb"
    nbformat.write(notebook, copy)
    given = dict(run.parameters)
    if "out" in declared(run.notebook):
        given["out"] = str(part)
    try:
        papermill.execute_notebook(
            str(copy),
            str(out),
            parameters=given,
            engine_name="gamekit",
            progress_bar=False,
            log_output=False,
            watch=watch,
            execution_timeout=timeout,
            extra_arguments=["--log-level=CRITICAL"],
        )
    except PapermillExecutionError as error:
        return f"{run.label}: cell {watch.cell} failed with {error.ename}: {error.evalue}\n{_quoted(watch.source)}"
    except Exception as error:  # nbclient's own: a dead kernel, a timeout
        return (
            f"{run.label}: cell {watch.cell} ended with {type(error).__name__}: "
            f"{str(error).splitlines()[0]}\n{_quoted(watch.source)}"
        )
    if not mark.exists() or mark.read_text() != token:
        return (
            f"{run.label}: cell {watch.cell} left the notebook early; the cells after it never "
            f"ran\n{_quoted(watch.source)}"
        )
    done = nbformat.read(out, as_version=4)
    done.cells = done.cells[:-1]
    for number, cell in enumerate(done.cells):
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr" and "Exception in thread" in output.get("text", ""):
                return f"{run.label}: cell {number} started a thread that failed\n{_quoted(output['text'])}"
    _forget_paths(done, str(part), f"results/scratch/{run.notebook.stem}")
    nbformat.write(done, out)
    copy.unlink()
    mark.unlink()
    return None


def _forget_paths(notebook: Any, part: str, instead: str) -> None:
    """The executed notebook is published: what papermill noted of times and folders is taken out."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.source = cell.source.replace(part, instead)


def _missing(run: Run, part: Path) -> str | None:
    absent = [
        name for name in promised(run.notebook) if not (part / name).is_file() or not (part / name).stat().st_size
    ]
    return f"{run.label}: ran to its end, but did not leave {', '.join(absent)}" if absent else None


def _into_place(part: Path, home: Path) -> None:
    """Swap the finished folder in; a kill between the two renames leaves no folder, never half of one."""
    old = home.with_name(f".{home.name}.old.{secrets.token_hex(3)}")
    if home.exists():
        os.replace(home, old)
    os.replace(part, home)
    shutil.rmtree(old, ignore_errors=True)


def _quoted(source: str) -> str:
    lines = source.strip().splitlines()
    return "\n".join(f"    {line}" for line in [*lines[:6], *(["    …"] if len(lines) > 6 else [])])


@cache
def register_engine() -> None:
    """Papermill's engine, with an eye on the cells."""
    import logging

    from papermill.engines import NBClientEngine, papermill_engines

    class Watched(NBClientEngine):
        @classmethod
        def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, watch: Watch, **more: Any) -> None:
            begin, complete = nb_man.cell_start, nb_man.cell_complete

            def started(cell: Any, cell_index: int | None = None, **kwargs: Any) -> None:
                watch.cell, watch.source = cell_index or 0, cell.source
                begin(cell, cell_index, **kwargs)

            def completed(cell: Any, *args: Any, **kwargs: Any) -> None:
                complete(cell, *args, **kwargs)
                watch.on_cell()

            nb_man.cell_start, nb_man.cell_complete = started, completed
            super().execute_managed_notebook(nb_man, kernel_name, **more)

    logging.getLogger("papermill").setLevel(logging.ERROR)
    papermill_engines.register("gamekit", Watched)


# ------------------------------------------------------------------------------- many runs


def execute_all(runs: Sequence[Run], workers: int | None = None, timeout: float | None = None) -> list[Result]:
    """Run what is not done, in parallel under one bar; a failure stops only those that need it."""
    from tqdm.auto import tqdm

    workers = workers or min(os.cpu_count() or 1, 8)
    # A kernel is one worker: libraries that start threads of their own would only get in each other's way.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("JUPYTER_PLATFORM_DIRS", "1")
    os.environ.setdefault("GAMEKIT_QUIET", "1")
    results: dict[Path, Result] = {}
    total = sum(len(json.loads(run.notebook.read_text(encoding="utf-8"))["cells"]) for run in runs)
    with tqdm(total=total, unit="cell", desc="notebooks", smoothing=0.1, disable=not sys.stderr.isatty()) as bar:

        def one(run: Run) -> Result:
            failed = [results[need] for need in run.needs if need in results and results[need].error]
            if failed:
                result = Result(run, f"{run.label}: not run, since {', '.join(r.run.label for r in failed)} failed")
            elif is_done(run):
                result = Result(run, fresh=False)
            else:
                result = execute(run, lambda: bar.update(1), timeout)
            took = "unchanged" if not result.fresh else f"{result.seconds:.1f} s"
            bar.write(f"  {run.label}: {'FAILED' if result.error else took}", file=sys.stderr)
            return result

        homes = {run.home for run in runs}
        for wave in ([r for r in runs if not homes & set(r.needs)], [r for r in runs if homes & set(r.needs)]):
            with ThreadPoolExecutor(workers) as pool:
                for result in pool.map(one, wave):
                    results[result.run.home] = result
    return [results[run.home] for run in runs]
