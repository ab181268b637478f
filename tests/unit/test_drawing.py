"""Pictures, explained evaluations, and transcripts in the reports' own forms."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import gamekit as gk
from gamekit.drawing import effects, svg, value_text
from gamekit.heuristics import HEURISTICS
from gamekit.matches.transcripts import read_transcript, text, transcript

LINES = {
    "connect_four": "4435232165",
    "conga": "00S 33NW 30NE 11NW",
    "candy(board=ReesesPieces)": "D4 C2 C3 D3 E3 B2 B3",
    "mnk(m=7,n=7,k=4)": "3,3 2,2 3,4 3,2 2,4 4,4 1,4 0,4",
    "connect_k": "3,4 2,4 3,5 2,5 3,6 2,6 3,7 2,7 3,3",
    "connect_k(columns=12,rows=5,k=4,gravity=on)": "10,10,11,1",
}
POSITIONS = {spec: gk.game(spec).replay(line) for spec, line in LINES.items()}

# The Conga report's sample game; the blank in the last board is printed so there.
REPORT_BOARDS = """0: 0\t0: 0\t0: 0\t0: 0
A: 1\t0: 0\t0: 0\t0: 0
A: 2\t0: 0\t0: 0\t0: 0
A: 7\t0: 0\t0: 0\tB: 10

Rational players turn 1

0: 0\t0: 0\t0: 0\t0: 0
A: 1\t0: 0\t0: 0\t0: 0
A: 2\t0: 0\t0: 0\t0: 0
A: 7\t0: 0\t0: 0\tB: 10

Random players turn 1

B: 7\t\t0: 0\t0: 0
A: 1\tB: 2\t0: 0\t0: 0
A: 2\t0: 0\tB: 1\t0: 0
A: 7\t0: 0\t0: 0\t0: 0
"""


@pytest.mark.parametrize("spec", LINES)
def test_a_position_draws_itself(spec):
    position = POSITIONS[spec]
    picture = position._repr_svg_()
    root = ET.fromstring(picture)
    pieces = [node for node in root.iter() if "gk-piece" in node.get("class", "")]
    owned = sum(owner > 0 for row in position.game.cells(position.record) for owner, _ in row)
    assert len(pieces) == owned
    assert "gk-last" in picture
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", ""), "nothing is fetched"


def test_a_winning_line_is_marked():
    won = gk.game("connect_four").replay("1212121")
    assert svg(won).count("gk-win") == 8  # two rings on each of four cells
    assert "gk-win" not in svg(won.parent)


@pytest.mark.parametrize("spec", LINES)
def test_effects_are_what_changes_on_the_board(spec):
    position = POSITIONS[spec]
    before = position.game.cells(position.record)
    for code in position.codes():
        after = position.game.cells(position.after(code).record)
        cells = [(r, c) for r, row in enumerate(before) for c in range(len(row))]
        assert set(effects(position, code)) == {(r, c, *after[r][c]) for r, c in cells if before[r][c] != after[r][c]}


@pytest.mark.parametrize(("game", "name"), [key for key, h in HEURISTICS.items() if not h.own])
def test_the_explained_parts_add_up_to_the_value(game, name):
    position = next(p for p in POSITIONS.values() if p.game.name == game)
    for me in (1, 2):
        evaluation = gk.explain(position, name, me)
        assert evaluation.total == pytest.approx(evaluation.value)
        ET.fromstring(evaluation._repr_svg_())
        assert str(len(evaluation.parts)) in repr(evaluation) or evaluation.parts


def test_names_are_escaped():
    @gk.heuristic("mnk")
    def plain(board, me, params):
        return 0.0

    plain.about = "<script>alert(1)</script>"
    assert "<script>" not in gk.explain(gk.game("mnk").start(), plain)._repr_html_()
    HEURISTICS.pop(("mnk", "plain"))


@pytest.mark.parametrize("spec", LINES)
def test_transcripts_are_read_back(spec):
    position = POSITIONS[spec]
    written = transcript(position.game, position.line, ["First", "Second"], seed=7)
    if spec == "conga":
        assert "First players turn 1" in written
        written = written.replace("First", "Rational")
    assert read_transcript(position.game, written) == position.line
    assert read_transcript(position.game, position.game.join(position.line)) == position.line


def test_the_reports_printed_boards_are_read_as_moves():
    assert read_transcript(gk.game("conga"), REPORT_BOARDS) == ["00S", "33NW"]
    impossible = REPORT_BOARDS.replace("B: 7", "B: 6")
    with pytest.raises(gk.GamekitError, match="no legal move"):
        read_transcript(gk.game("conga"), impossible)


def test_forms_of_the_reports():
    assert text(POSITIONS["conga"]).splitlines()[0] == "B: 9\t0: 0\t0: 0\tA: 4"
    assert text(POSITIONS["connect_four"]).splitlines()[-1] == "OXXXOX."
    assert "(0,0,0,2,0,0,0)" not in text(POSITIONS["mnk(m=7,n=7,k=4)"])
    assert text(POSITIONS["mnk(m=7,n=7,k=4)"]).splitlines()[1] == "(0,0,0,0,2,0,0),"
    assert transcript(gk.game("candy"), ["A3", "C1"]).startswith("Blue: drop A3, Green: drop C1")
    with pytest.raises(gk.GamekitError, match="not a game of connect_four"):
        read_transcript(gk.game("connect_four"), "44444444")


def test_values_in_words():
    assert value_text(None) == "–"
    assert value_text(1e12 - 3) == "win at ply 3"
    assert value_text(-0.1234567) == "−0.1235"
