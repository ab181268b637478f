"""Plots: what they return, what they draw, what they refuse, and that they leave matplotlib as it was."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import gamekit as gk
from gamekit.analysis import plot


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


@pytest.fixture
def rates():
    """Win rates of three heuristics at two depths: one without an interval, two with a printed number."""
    frame = pd.DataFrame(
        {
            "heuristic": ["moves", "moves", "squares", "squares", "weighted", "weighted"],
            "depth": pd.array([1, 2] * 3, dtype="Int64"),
            "win_rate": [0.2, 0.4, 0.1, 0.3, 0.25, 1.0],
            "turns": [30.0, 20, 44, 31, 25, 9],
        }
    )
    frame["win_rate_low"] = [0.15, 0.35, 0.05, 0.25, 0.2, np.nan]
    frame["win_rate_high"] = [0.25, 0.45, 0.15, 0.35, 0.3, np.nan]
    frame["win_rate_printed"] = [0.81, 0.81, np.nan, np.nan, 0.1, 1.0]
    return frame


def marks(ax, marker, **wanted):
    """The number of points drawn with a marker, such as the printed diamonds."""
    found = [one for one in ax.get_lines() if one.get_marker() == marker]
    for name, value in wanted.items():
        found = [one for one in found if mpl.colors.same_color(getattr(one, f"get_{name}")(), value)]
    return sum(len(one.get_xdata()) for one in found)


def texts(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def every_kind(rates):
    start = gk.game("connect_four").start()
    counts = pd.DataFrame({"opponent": ["poor", "good"], "wins": [52, 2], "draws": [0, 45], "losses": [8, 13]})
    yield plot.dots(rates, ["heuristic", "depth"], "win_rate", title="A finding"), Axes
    yield plot.dots(rates, "heuristic", ["win_rate", "turns"], by="depth"), Figure
    yield plot.lines(rates, "depth", "win_rate", by="heuristic"), Axes
    yield plot.lines(rates, "depth", "win_rate", panel="heuristic"), Figure
    yield plot.heat(rates, "heuristic", "depth", "win_rate", label="games won"), Axes
    yield plot.heat(rates, "heuristic", "depth", "win_rate", panel="heuristic"), Figure
    yield plot.bars(counts, "opponent", ["wins", "draws", "losses"]), Axes
    yield plot.board(start), Axes
    yield plot.board([start, start.play("4")], titles=["start", "one move"]), Figure


def test_returns_axes_or_a_figure_with_several_panels(rates):
    for drawn, kind in every_kind(rates):
        assert isinstance(drawn, kind)
        assert pyplot.fignum_exists((drawn if kind is Figure else drawn.figure).number)  # pyplot can show it


def test_files_have_the_same_bytes_in_every_run(rates, tmp_path):
    for run in ("a", "b"):
        for number, (drawn, _) in enumerate(every_kind(rates)):
            paths = plot.save(drawn, tmp_path / run / f"figure {number}.1")
            assert [path.name for path in paths] == [f"figure {number}.1.png", f"figure {number}.1.svg"]
    assert not pyplot.get_fignums()
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert len(files) == 18
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    assert b"<text" not in (tmp_path / "a" / "figure 0.1.svg").read_bytes()  # letters are paths: no font is needed


def test_drawing_leaves_the_settings_alone(rates, tmp_path):
    pyplot.rcParams["lines.linewidth"] = 3.25  # a reader's own
    before, backend = dict(mpl.rcParams), mpl.get_backend()
    for drawn, _ in every_kind(rates):
        plot.save(drawn, tmp_path / "figure")
    with plot.style():
        assert mpl.rcParams["axes.titleweight"] == "bold"
        assert mpl.rcParams["lines.linewidth"] != 3.25
    assert dict(mpl.rcParams) == before
    assert mpl.get_backend() == backend
    mpl.rcParams["lines.linewidth"] = mpl.rcParamsDefault["lines.linewidth"]


@pytest.mark.parametrize("code", [
    "import sys, gamekit, gamekit.analysis.plot; assert 'matplotlib.pyplot' not in sys.modules",
    "import matplotlib; before = dict(matplotlib.rcParams); import gamekit, gamekit.analysis.plot; "
    "assert dict(matplotlib.rcParams) == before",
])  # fmt: skip
def test_importing_loads_no_pyplot_and_changes_no_setting(code):
    subprocess.run([sys.executable, "-c", code], check=True)


IN_A_NOTEBOOK = """
import os
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
shell, results = InteractiveShell.instance(), []
format_result = shell.displayhook.compute_format_data
shell.displayhook.compute_format_data = lambda value: results.append(format_result(value)) or results[-1]
shell.run_cell("import pandas as pd; from gamekit.analysis import plot")
shell.run_cell("f = pd.DataFrame({'a': ['x', 'y'], 'win_rate': [0.2, 0.4], 'turns': [3, 4]})")
for cell in ("plot.dots(f, 'a', 'win_rate')", "plot.dots(f, 'a', ['win_rate', 'turns'])",
             "g = plot.dots(f, 'a', ['win_rate', 'turns'])", "g", "f.plot.bar(x='a', y='turns')",
             "g = plot.save(plot.dots(f, 'a', 'win_rate'), 'figure')"):
    results.clear()
    with capture_output() as out:
        shell.run_cell(cell)
    shown = [one.data for one in out.outputs] + [data for data, _ in results]
    print(sum("image/png" in data for data in shown), end=" ")
"""


def test_a_notebook_shows_each_plot_once(tmp_path):
    pytest.importorskip("matplotlib_inline")
    run = subprocess.run([sys.executable, "-c", IN_A_NOTEBOOK], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.split()[-6:] == ["1", "1", "1", "1", "1", "0"], run.stdout + run.stderr
