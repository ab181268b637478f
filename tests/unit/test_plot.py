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
from gamekit.errors import GamekitError


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


# ----------------------------------------------------------------------------- what is drawn


def test_dots_show_value_interval_and_printed_number(rates):
    ax = plot.dots(rates, ["heuristic", "depth"], "win_rate", line={"even": 0.5})
    assert [tick.get_text() for tick in ax.get_yticklabels()][:2] == ["moves, depth 1", "moves, depth 2"]
    assert marks(ax, "o") == 6
    assert marks(ax, "o", markerfacecolor="white") == 1  # has no interval
    assert marks(ax, "D") == 4
    assert sum(len(ends) > 0 for one in ax.collections for ends in one.get_segments()) == 5
    assert "even" in texts(ax)
    assert ax.get_xlim() == pytest.approx((-0.02, 1.02))
    assert ax.get_xlabel() == "win rate"
    legend = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert legend == ["hollow: no interval", "printed in the report"]


def test_dots_sort_join_and_mark_groups(rates):
    ax = plot.dots(rates, "heuristic", "turns", by="depth", sort=True, connect=True, log=True)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["squares", "moves", "weighted"]
    assert (marks(ax, "o"), marks(ax, "s")) == (3, 3)
    assert ax.get_xscale() == "log"
    assert sorted(y for one in ax.get_lines() for y in one.get_ydata()) == pytest.approx(
        [row + side * 0.075 for row in range(3) for side in (-1, 1)]
    )


def test_one_dot_of_a_row_is_in_its_middle(rates):
    ax = plot.dots(rates[::2], "heuristic", "win_rate", by="heuristic")
    assert sorted(y for one in ax.get_lines() for y in one.get_ydata() if one.get_marker() != "D") == [0, 1, 2]


def test_only_a_lower_bound_gets_an_arrowhead():
    frame = pd.DataFrame({"player": ["a", "b"], "nodes": [10, None], "nodes_low": [8, 99.0], "nodes_high": [12, None]})
    assert marks(plot.dots(frame, "player", "nodes"), ">") == 1


def test_limits_and_lines_of_a_rate_are_not_those_of_a_count(rates):
    figure = plot.dots(rates[::2], "heuristic", ["win_rate", "turns"], limits=(0, 0.5), xlabel=["games won", ""])
    rate, turns = figure.axes
    assert rate.get_xlim() == pytest.approx((-0.01, 0.51))
    assert turns.get_xlim()[1] > 40
    assert (rate.get_xlabel(), turns.get_xlabel()) == ("games won", "turns")


def test_lines_have_bands_names_and_diamonds(rates):
    ax = plot.lines(rates, "depth", "win_rate", by="heuristic", colors={"squares": "#000000"})
    drawn = {one.get_label(): one for one in ax.get_lines() if one.get_label()[0] != "_"}
    assert list(drawn) == ["moves", "squares", "weighted"] == sorted(texts(ax))
    assert drawn["squares"].get_color() == "#000000"
    assert len(ax.collections) == 3
    assert marks(ax, "D") == 6  # two of them without a number
    assert list(ax.get_xticks()) == [1, 2]
    assert not plot.lines(rates, "depth", "win_rate", by="heuristic", band=False).collections
    ax = plot.lines(rates, "depth", "turns", by="heuristic", labels="legend", line={"limit": 50}, log=True)
    assert texts(ax) == []
    assert ax.get_yscale() == "log"
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["moves", "squares", "weighted"]


def test_names_of_lines_do_not_overlap():
    frame = pd.DataFrame([(name, x, 1 + 0.001 * x) for name in "abcdefgh" for x in (1, 2)], columns=["of", "x", "y"])
    ax = plot.lines(frame, "x", "y", by="of")
    heights = sorted(text.xyann[1] for text in ax.texts)
    assert np.diff(heights).min() * ax.get_window_extent().height / ax.figure.dpi > 0.15


def test_heat_writes_marks_and_mutes(rates):
    rates["sure"] = rates.win_rate > 0.1
    framed = {"mark": ("squares", 2), "mute": "sure"}
    ax = plot.heat(rates, "heuristic", "depth", "win_rate", **framed, label="games won", format="{:.1f}")
    assert texts(ax) == ["0.2", "0.4", "0.1", "0.3", "0.2", "1.0"]
    assert len(ax.patches) == 1
    assert ax.patches[0].get_xy() == (0.5, 0.5)
    assert len(ax.figure.axes) == 2  # the colour bar
    assert texts(plot.heat(rates, "heuristic", "depth", "win_rate")) == ["20", "40", "10", "30", "25", "100"]
    zero = pd.DataFrame({"a": [1, 2], "b": [1, 1], "elo": [-0.2, 3.0]})
    assert texts(plot.heat(zero, "a", "b", "elo", centre=0, format="{:+.0f}")) == ["0", "+3"]


def test_bars_write_counts_where_there_is_room():
    frame = pd.DataFrame({"who": ["a", "b"], "wins": [99, 30], "losses": [1, 70], "points": [0.9, 0.3]})
    ax = plot.bars(frame, "who", ["wins", "losses"], mark="points")
    assert [text.get_text() for text in ax.texts if text.get_text()] == ["99", "30", "70"]
    assert marks(ax, "v") == 2


def test_board_outlines_the_line_that_won():
    ax = plot.board(gk.game("connect_four").replay("4142434"), titles="won")
    assert sum(mpl.colors.same_color(patch.get_edgecolor(), "#222222") for patch in ax.patches) == 4
    assert ax.get_title(loc="left") == "won"


def test_own_axes_are_drawn_on(rates):
    _, ax = pyplot.subplots()
    assert plot.dots(rates[::2], "heuristic", "turns", ax=ax, title="mine") is ax
    assert ax.get_title(loc="left") == "mine"


@pytest.mark.parametrize(("call", "message"), [
    (lambda f: plot.dots(f, "heuristics", "turns"), "'heuristics' is missing; did you mean 'heuristic'"),
    (lambda f: plot.dots(f, "heuristic", "heuristic"), "'heuristic' does not hold numbers"),
    (lambda f: plot.dots(f[:0], "heuristic", "turns"), "no rows"),
    (lambda f: plot.dots([1], "heuristic", "turns"), "needs a pandas DataFrame; given list"),
    (lambda f: plot.dots(f, "heuristic", "turns", colour={}), "dots has no option 'colour'; did you mean 'colors'"),
    (lambda f: plot.heat(f, "heuristic", "depth", "turns", log=True), "heat has no option 'log'"),
    (lambda f: plot.lines(f, "depth", "turns"), "one point per depth in each line, but 4 rows repeat another"),
    (lambda f: plot.heat(f, "heuristic", "heuristic", "turns"), "one cell per heuristic and heuristic, but 3 rows"),
    (lambda f: plot.lines(f, "depth", "turns", panel="heuristic", ax=pyplot.gca()), "room for one panel, but .* has 3"),
    (lambda f: plot.board([1]), "board draws positions"),
    (lambda f: plot.board([]), "one title per position"),
])  # fmt: skip
def test_refusals_are_one_sentence(rates, call, message):
    with pytest.raises(GamekitError, match=message) as caught:
        call(rates)
    assert "\n" not in str(caught.value)


# ----------------------------------------------------------------------------- matplotlib and notebooks


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
