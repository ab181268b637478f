"""Runs notebooks through papermill: in parallel, resumed, judged by the files they leave.

Papermill runs a misspelt parameter with its default, and calls a run that left early a success. So parameters are
checked before, and a run counts only when its last cell wrote a token and every table and figure that its cells name
is there. A run writes into a folder of its own, renamed into place when it is complete; its measurements are kept
beside the runs, so that a killed run goes on where it was:

    results/quick/10_conga/           notebook.ipynb mark.json findings.json claims.json tables/ figures/ timed/
    results/quick/measured/10_conga/  one folder per measurement
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

import gamekit

from ..jit.source import code_digest
from .data import DATA
from .report import MEASURED, RUN


@dataclass(frozen=True)
class Run:
    """A notebook with its parameters, and the folder of its results."""

    notebook: Path
    parameters: dict[str, Any]
    home: Path
    needs: tuple[Path, ...] = ()  # folders of the runs whose tables it reads

    @property
    def label(self) -> str:
        name = self.home.name
        return name if name == self.notebook.stem else f"{self.notebook.stem} {name}"


@dataclass
class Result:
    """How a run went: `error` says what failed and where; `fresh` is False for one that was done already."""

    run: Run
    error: str | None = None
    fresh: bool = True
    seconds: float = 0.0


@dataclass
class Watch:
    """Which cell runs, so that the bar moves and a dead kernel can be placed."""

    on_cell: Callable[[], object]
    cell: int = 0
    source: str = ""


def code_cells(notebook: Path) -> list[str]:
    """The code of a notebook, cell by cell."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


# ---------------------------------------------------------------------------- what is done


def modules_of(notebook: Path) -> set[str]:
    """The modules of gamekit that a notebook uses: by `gk.name`, and by import."""
    found = {"gamekit.notebook.report", "gamekit.drawing"}  # positions draw themselves
    for source in code_cells(notebook):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "gk":
                module = "analysis.plot" if node.attr == "plot" else gamekit.WHERE.get(node.attr)
                found |= {f"gamekit.{module}"} if module else set()
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gamekit"):
                found |= {str(node.module), *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def digest(run: Run) -> str:
    """All that a run's result depends on: notebook, parameters, the code it uses, data, and the runs it reads."""
    cells = json.loads(run.notebook.read_text(encoding="utf-8"))["cells"]
    data = [(path.name, path.read_text("utf-8")) for path in sorted(DATA.rglob("*")) if path.is_file()]
    texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    code = code_digest(*sorted(modules_of(run.notebook)))
    parts = [texts, run.parameters, data, code, [_mark(need).get("files") for need in run.needs]]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _mark(home: Path) -> dict[str, Any]:
    try:
        return json.loads((home / "mark.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def is_done(run: Run) -> bool:
    """Complete, unchanged, and every file as it was left."""
    mark = _mark(run.home)
    there = (run.home / "notebook.ipynb").is_file()  # it is not part of a commit
    return there and mark.get("digest") == digest(run) and _files(run.home) == mark.get("files")


def _files(home: Path) -> dict[str, str]:
    paths = [path for path in sorted(home.rglob("*")) if path.is_file()]
    return {str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in paths if path.name not in ("mark.json", "notebook.ipynb")}  # fmt: skip


def promised(notebook: Path) -> list[str]:
    """The files a notebook's cells name: `report.table("x", …)` promises `tables/x.csv`."""
    kinds = {"table": ("tables", [".csv"]), "timed": ("timed", [".csv"]), "figure": ("figures", [".svg", ".png"])}
    files: list[str] = []
    for source in code_cells(notebook):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "report.findings":
                files.append("findings.json")
            elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("report."):
                folder, ends = kinds.get(ast.unparse(node.func)[7:], ("", []))
                if node.args and isinstance(node.args[0], ast.Constant):
                    files += [f"{folder}/{node.args[0].value!s}{end}" for end in ends]
    return files


# -------------------------------------------------------------------------------- one run


def execute(run: Run, on_cell: Callable[[], object] = lambda: None, timeout: float | None = None) -> Result:
    """Run a notebook; whatever happens, an error in words or a complete folder in place."""
    started = time.monotonic()
    part = run.home.with_name(f".{run.home.name}.{os.getpid()}.{secrets.token_hex(3)}")
    try:
        _drop_leftovers(run.home)
        part.mkdir(parents=True)
        error = _papermill(run, part, Watch(on_cell), timeout) or _missing(run, part)
        if error is None:
            seconds = round(time.monotonic() - started, 2)
            mark = {"digest": digest(run), "notebook": run.notebook.stem, "parameters": run.parameters,
                    "files": _files(part), "seconds": seconds}  # fmt: skip
            (part / "mark.json").write_text(json.dumps(mark, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            _into_place(part, run.home)
            _drop_unused(run)
    except OSError as problem:
        error = f"{run.label}: {problem}"
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Result(run, error, True, time.monotonic() - started)


def _drop_leftovers(home: Path) -> None:
    """Remove folders that a killed run left behind; those of a running process stay."""
    for left in home.parent.glob(f".{home.name}.*"):
        owner = left.name.removeprefix(f".{home.name}.").split(".")[0]
        try:
            os.kill(int(owner), 0)
        except ValueError:
            continue
        except OSError:
            shutil.rmtree(left, ignore_errors=True)


def _drop_unused(run: Run) -> None:
    """Remove measurements of earlier plans, which the finished run no longer reads."""
    used = run.home / "measured.json"
    names = set(json.loads(used.read_text("utf-8"))) if used.is_file() else set()
    for folder in (run.home.parent / MEASURED / run.notebook.stem).glob("*"):
        if folder.name not in names and (folder / "plan.json").is_file() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


def _papermill(run: Run, part: Path, watch: Watch, timeout: float | None) -> str | None:
    """Let papermill execute a copy with a last cell of ours; the error, if any, in words."""
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    register_engine()
    token, mark = secrets.token_hex(16), part / ".token"
    notebook = nbformat.read(run.notebook, as_version=4)
    last = f"__import__('pathlib').Path({str(mark)!r}).write_text({token!r})"
    notebook.cells.append(nbformat.v4.new_code_cell(last))
    copy, out = part / ".in.ipynb", part / "notebook.ipynb"
    nbformat.write(notebook, copy)
    try:
        papermill.execute_notebook(
            str(copy), str(out), parameters=run.parameters, engine_name="gamekit", progress_bar=False,
            log_output=False, watch=watch, execution_timeout=timeout, extra_arguments=["--log-level=CRITICAL"],
            env={**os.environ, RUN: str(part)},
        )  # fmt: skip
    except PapermillExecutionError as error:
        return f"{run.label}: cell {watch.cell} failed with {error.ename}: {error.evalue}\n{_quoted(watch.source)}"
    except Exception as error:  # nbclient's own: a dead kernel, a timeout
        said = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        return f"{run.label}: cell {watch.cell} ended with {said}\n{_quoted(watch.source)}"
    if not mark.exists() or mark.read_text() != token:
        place = f"{run.label}: cell {watch.cell} left the notebook early"
        return f"{place}; the cells after it never ran\n{_quoted(watch.source)}"
    done = nbformat.read(out, as_version=4)
    done.cells = done.cells[:-1]
    done.metadata.pop("papermill", None)  # times and folders are not published
    for number, cell in enumerate(done.cells):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr" and "Exception in thread" in output.get("text", ""):
                return f"{run.label}: cell {number} started a thread that failed\n{_quoted(output['text'])}"
    nbformat.write(done, out)
    copy.unlink()
    mark.unlink()
    return None


def _missing(run: Run, part: Path) -> str | None:
    files = [part / name for name in promised(run.notebook)]
    absent = [str(path.relative_to(part)) for path in files if not path.is_file() or not path.stat().st_size]
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
    return "\n".join(f"    {line}" for line in [*lines[:6], *(["…"] if len(lines) > 6 else [])])


@cache
def register_engine() -> None:
    """Papermill's engine, which also tells a run's kernel where to write, and us which cell it is at."""
    import logging

    from papermill.clientwrap import PapermillNotebookClient
    from papermill.engines import Engine, papermill_engines

    class Watched(Engine):
        @classmethod
        def execute_managed_notebook(  # type: ignore[override]
            cls, nb_man: Any, kernel_name: str, watch: Watch, env: dict[str, str], execution_timeout: float | None,
            extra_arguments: list[str], **_: Any,
        ) -> None:  # fmt: skip
            begin, complete = nb_man.cell_start, nb_man.cell_complete

            def started(cell: Any, cell_index: int | None = None, **kwargs: Any) -> None:
                watch.cell, watch.source = cell_index or 0, cell.source
                begin(cell, cell_index, **kwargs)

            def completed(cell: Any, *args: Any, **kwargs: Any) -> None:
                complete(cell, *args, **kwargs)
                watch.on_cell()

            nb_man.cell_start, nb_man.cell_complete = started, completed
            client = PapermillNotebookClient(
                nb_man, kernel_name=kernel_name, timeout=execution_timeout, extra_arguments=extra_arguments
            )
            client.execute(env=env)

    logging.getLogger("papermill").setLevel(logging.ERROR)
    papermill_engines.register("gamekit", Watched)


# ------------------------------------------------------------------------------- many runs


def execute_all(runs: Sequence[Run], workers: int | None = None, timeout: float | None = None) -> list[Result]:
    """Run what is not done, in parallel under one bar; a failure stops only the runs that need its tables.

    The cores are shared out: as many notebooks at once as there are cores, and what is left to each one's sweeps.
    """
    from tqdm.auto import tqdm

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = workers or max(1, min(cores, 8, len(runs)))
    # Libraries that start threads of their own would only get in each other's way.
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "JUPYTER_PLATFORM_DIRS",
        "GAMEKIT_QUIET",
    ):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("GAMEKIT_WORKERS", str(max(1, cores // workers)))
    results: dict[Path, Result] = {}
    total = sum(len(json.loads(run.notebook.read_text(encoding="utf-8"))["cells"]) for run in runs)
    with tqdm(total=total, unit="cell", desc="notebooks", smoothing=0.1, disable=not sys.stderr.isatty()) as bar:

        def one(run: Run) -> Result:
            failed = [results[need].run.label for need in run.needs if need in results and results[need].error]
            if failed:
                result = Result(run, f"{run.label}: not run, since {', '.join(failed)} failed")
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
