"""The grammar of specs, and every wrong parameter: one sentence with what was wrong, given and allowed."""

from __future__ import annotations

import contextlib
import math
import random
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gamekit as gk
from gamekit.specs import RESERVED, Param, Spec, check, expand, find, parse, write

# -------------------------------------------------------------------------------------- grammar


@pytest.mark.parametrize(
    ("text", "name", "settings"),
    [
        ("conga", "conga", {}),
        ("conga()", "conga", {}),
        ("  conga  ", "conga", {}),
        ("mnk(m=3,n=4,k=3)", "mnk", {"m": 3, "n": 4, "k": 3}),
        ("mnk( m = 3 , n=4 )", "mnk", {"m": 3, "n": 4}),
        ("a(x=1.5)", "a", {"x": 1.5}),
        ("a(x=-2)", "a", {"x": -2}),
        ("a(x=1e3)", "a", {"x": 1000.0}),
        ("a(x=on,y=off)", "a", {"x": True, "y": False}),
        ("a(x=True)", "a", {"x": True}),
        ("a(x='two words')", "a", {"x": "two words"}),
        ('a(x="it\'s")', "a", {"x": "it's"}),
        ("a(x='')", "a", {"x": ""}),
        ("a(x=b(y=1))", "a", {"x": Spec("b", {"y": 1})}),
        ("a(x=/path/to.txt)", "a", {"x": "/path/to.txt"}),
        ("a(x=best+history)", "a", {"x": "best+history"}),
    ],
)
def test_specs_are_read(text, name, settings):
    assert parse(text) == Spec(name, settings)
    assert parse(str(parse(text))) == parse(text)


BROKEN = [
    "",
    " ",
    "(",
    ")",
    "()",
    "a(",
    "a)",
    "a(x",
    "a(x=",
    "a(x=1",
    "a(x=1,",
    "a(x=1,)",
    "a(,)",
    "a(=1)",
    "a(x=1 y=2)",
    "a(x=1)b",
    "a(x=1)(y=2)",
    "a b",
    "a(x='1)",
    "a(x==1)",
    "a(x=1,x=2)",
    "a(1)",
    "3",
    "3.5",
    "on",
    "-",
    "a" * 4001,
    "a(x=" * 20 + "1" + ")" * 20,
    "1a",
    "a-b",
    "ä",
    "__import__('os')",
    "a;b",
    "a(x=(1))",
    "(a)",
    "a(x={1,})",
    "a(x={})",
    "a(x=())",
    "a(b=1)(c=2)",
    "a\x00",
]


@pytest.mark.parametrize("text", BROKEN, ids=[repr(t)[:24] for t in BROKEN])
def test_what_is_no_spec_is_refused_in_one_sentence(text):
    with pytest.raises(gk.SpecError) as caught:
        parse(text)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("thing", [None, 3, 4.5, ["conga"], b"conga", object(), {"conga": 1}])
@pytest.mark.parametrize("make", [gk.game, parse])
def test_what_is_no_text_is_no_spec(make, thing):
    with pytest.raises(gk.SpecError, match="a spec is a text"):
        make(thing)


@given(st.text(max_size=40))
def test_the_reader_never_crashes(text):
    with contextlib.suppress(gk.SpecError):
        assert parse(str(parse(text))) == parse(text)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True),
        max_size=4,
        values=st.one_of(
            st.booleans(),
            st.integers(-(10**12), 10**12),
            st.floats(allow_nan=False, allow_infinity=False),
            st.text(string.printable.replace('"', ""), max_size=12),
            st.sampled_from(["on", "off", "1.5", "12", "true", "nan", "1e5", "-"]),
        ),
    )
)
def test_what_is_written_reads_back(settings):
    again = parse(str(Spec("name", settings))).settings
    assert again == settings
    assert [isinstance(v, str) for v in again.values()] == [isinstance(v, str) for v in settings.values()]


@pytest.mark.long
def test_the_reader_never_crashes_on_a_hundred_thousand_texts():
    rng = random.Random(8)
    for _ in range(100_000):
        text = "".join(rng.choice("ab(=),'\" 1.-+eon\x00é") for _ in range(rng.randrange(20)))
        with contextlib.suppress(gk.SpecError):
            parse(text)


def test_a_wrong_word_brings_the_nearest_right_one():
    for wrong, right in (
        ("conect_four", "connect_four"),
        ("Conga", "conga"),
        ("congo", "conga"),
        ("candi", "candy"),
        ("mnx", "mnk"),
    ):
        with pytest.raises(gk.SpecError, match=f"there is no game '{wrong}'; there are .*did you mean '{right}'"):
            gk.game(wrong)
    with pytest.raises(gk.SpecError, match="did you mean 'alphabeta'"):
        gk.player("alfabeta")
    with pytest.raises(gk.SpecError, match=r"has no parameter 'dept'; its parameters are depth.*did you mean 'depth'"):
        gk.player("alphabeta(dept=3)")
    assert find("thing", "a", ["a", "b"]) == "a"


def test_a_parameter_says_what_it_allows():
    assert Param(3, low=1, high=9).allowed == "a whole number from 1 to 9"
    assert Param(0.5).allowed.startswith("a number")
    assert Param(None, low=1, kind=int).allowed == "a whole number of at least 1"
    assert Param(True).allowed == "on or off"
    assert Param("a", choices=("a", "b")).allowed == "a, b"
    assert check("x", {"n": Param(3, low=1)}, {"n": 4.0}) == {"n": 4}
    assert check("x", {"n": Param(3.0)}, {"n": 4}) == {"n": 4.0}
    assert write(2.0) == "2"
    assert write(math.pi) == repr(math.pi)


# ----------------------------------------------------------------- bad parameters, from Python and the shell

BAD_GAMES = [  # spec, and words that the sentence must hold: what, given, allowed
    ("conga(x=1)", "conga has no parameter 'x'; its parameters are directions"),
    ("mnk(m=0)", "mnk: m=0 is not allowed; m is a whole number from 1 to 19"),
    ("mnk(m=20)", "m=20 is not allowed"),
    ("mnk(m=-3)", "m=-3 is not allowed"),
    ("mnk(m=2.5)", "m=2.5 is not allowed"),
    ("mnk(m=three)", "m=three is not allowed"),
    ("mnk(m=on)", "m=on is not allowed"),
    ("mnk(m=nan)", "m=nan is not allowed"),
    ("mnk(m=inf)", "m=inf is not allowed"),
    ("mnk(m=1e400)", "m=inf is not allowed"),
    ("mnk(m='')", "m='' is not allowed"),
    ("mnk(m=3,n=3,k=4)", "k=4 is not allowed; k is at most the longer side, 3"),
    ("mnk(k=0)", "k=0 is not allowed"),
    ("mnk(K=3)", "has no parameter 'K'"),
    ("mnk(rows=3)", "has no parameter 'rows'"),
    ("mnk(m=a(b=1))", "m="),
    ("connect_k(columns=33)", "columns=33 is not allowed; columns is a whole number from 1 to 32"),
    ("connect_k(rows=0)", "rows=0 is not allowed"),
    ("connect_k(k=10)", "k=10 is not allowed; k is at most the longer side, 9"),
    ("connect_k(gravity=1)", "gravity=1 is not allowed; gravity is on or off"),
    ("connect_k(gravity=maybe)", "gravity=maybe"),
    ("connect_k(columns=" + "9" * 400 + ")", "columns="),
    ("connect_four(k=5)", "connect_four has no parameter 'k'"),
    ("connect_four(columns=3,rows=3)", "connect_four"),
    ("candy(board=Nowhere)", "there is no board 'Nowhere'"),
    ("candy(board=12)", "board=12 is not allowed"),
    ("candy(board=../../x)", "may not climb"),
    ("candy(bord=Ayds)", "did you mean 'board'"),
    ("candy(board=AlmondJo)", "did you mean 'AlmondJoy'"),
    ("chess", "there is no game 'chess'"),
]
BAD_PLAYERS = [
    ("nobody", "there is no player 'nobody'"),
    ("alphabeta(depth=0)", "alphabeta: depth=0 is not allowed; depth is a whole number from 1 to"),
    ("alphabeta(depth=-1)", "depth=-1"),
    ("alphabeta(depth=101)", "depth=101"),
    ("alphabeta(depth=2.5)", "depth=2.5"),
    ("alphabeta(depth=deep)", "depth=deep"),
    ("alphabeta(depth=on)", "depth=on"),
    ("alphabeta(depth=nan)", "depth=nan"),
    ("alphabeta(depth=" + "9" * 400 + ")", "depth="),
    ("alphabeta(seconds=0)", "seconds=0 is not allowed; seconds is a number from 0.001"),
    ("alphabeta(seconds=-1)", "seconds=-1"),
    ("alphabeta(seconds=inf)", "seconds=inf"),
    ("alphabeta(seconds=soon)", "seconds=soon"),
    ("search(nodes=0)", "nodes=0"),
    ("search(nodes=1.5)", "nodes=1.5"),
    ("search(prune=2)", "prune=2 is not allowed; prune is on or off"),
    ("minimax(prune=on)", "minimax has no parameter 'prune'"),
    ("search(order=best+)", "order"),
    ("search(order=middle)", "order 'middle'"),
    ("search(order=centre+sides)", "order 'centre+sides' names two fixed orders"),
    ("search(order=front+best)", "mixes front"),
    ("search(order=5)", "order=5"),
    ("search(ties=worst)", "ties=worst is not allowed; ties is first"),
    ("search(ties=1)", "ties=1"),
    ("search(megabytes=0)", "megabytes=0"),
    ("search(megabytes=100000)", "megabytes=100000"),
    ("search(heuristic=3)", "heuristic=3"),
    ("search(win_bonus=yes)", "win_bonus=yes"),
    ("greedy(depth=3)", "greedy has no parameter 'depth'"),
    ("montecarlo(playouts=0)", "playouts=0"),
    ("montecarlo(playouts=-5)", "playouts=-5"),
    ("montecarlo(depth=3)", "no parameter 'depth'"),
    ("uct(exploration=-1)", "exploration=-1"),
    ("uct(exploration=nan)", "exploration=nan"),
    ("random(seed=1)", "random has no parameter 'seed'"),
    ("leftmost(x=1)", "leftmost has no parameter 'x'"),
    ("custom(depth=0)", "depth=0"),
    ("custom(limit=-1)", "limit=-1"),
    ("custom(near=3)", "near=3"),
    ("good_ai(depth=2)", "good_ai has no parameter 'depth'"),
    ("connect_k_agent(win_bonus=on)", "no parameter 'win_bonus'"),
    ("alphabeta(depth=3", "cannot read"),
    ("alphabeta(4)", "cannot read"),
]
BAD_HEURISTICS = [  # game, heuristic, words
    ("conga", "windows", "heuristic 'windows' belongs to connect_four and connect_k and mnk, not to conga"),
    ("conga", "move", "there is no heuristic of conga 'move'"),
    ("conga", "moves(x=1)", "moves has no parameter 'x'"),
    ("conga", "weighted(corner=nan)", "corner=nan"),
    ("conga", "weighted(corner=a)", "corner=a"),
    ("candy", "safe_score(exposed=2)", "exposed=2 is not allowed; exposed is a number from 0 to 1"),
    ("candy", "safe_score(exposed=-0.1)", "exposed=-0.1"),
    ("candy", "valhalla", "belongs to connect_four"),
    (
        "connect_four",
        "valhalla(variant=right)",
        "variant=right is not allowed; variant is as_printed, corrected, strict",
    ),
    ("connect_four", "valhalla(matrix=up)", "matrix=up"),
    ("connect_four(columns=8,rows=6)", "valhalla", "does not fit"),
    ("mnk", "windows(count=inf)", "count=inf"),
    ("mnk", "windows(count=on)", "count=on"),
    ("mnk", "potential_streak(alive=1)", "alive=1"),
    ("mnk", "longest_streak(k=3)", "longest_streak has no parameter 'k'"),
]


def test_there_are_more_than_sixty_bad_cases():
    assert len(BAD_GAMES) + len(BAD_PLAYERS) + len(BAD_HEURISTICS) >= 80


def _one_sentence(text, words, given):
    assert words in text, text
    assert len(text.strip().splitlines()) == 1
    assert len(text) < 700
    assert "Traceback" not in text


@pytest.mark.parametrize(("spec", "words"), BAD_GAMES, ids=[s[:30] for s, _ in BAD_GAMES])
def test_a_bad_game_is_refused_in_python_and_in_the_shell(spec, words, cli):
    with pytest.raises(gk.GamekitError) as caught:
        gk.game(spec)
    _one_sentence(str(caught.value), words, spec)
    ran = cli("perft", spec, "1")
    assert (ran.code, ran.out) == (2, "")
    _one_sentence(ran.err, words, spec)


@pytest.mark.parametrize(("spec", "words"), BAD_PLAYERS, ids=[s[:30] for s, _ in BAD_PLAYERS])
def test_a_bad_player_is_refused_in_python_and_in_the_shell(spec, words, cli):
    with pytest.raises(gk.GamekitError) as caught:
        gk.player(spec)
    _one_sentence(str(caught.value), words, spec)
    ran = cli("play", "connect_four", spec, "leftmost")
    assert (ran.code, ran.out) == (2, "")
    _one_sentence(ran.err, words, spec)


@pytest.mark.parametrize(("game", "spec", "words"), BAD_HEURISTICS, ids=[f"{g}-{s}"[:40] for g, s, _ in BAD_HEURISTICS])
def test_a_bad_heuristic_is_refused_in_python_and_in_the_shell(game, spec, words, cli):
    with pytest.raises(gk.GamekitError) as caught:
        gk.heuristic_of(spec, game)
    _one_sentence(str(caught.value), words, spec)
    ran = cli("eval", game, "--heuristic", spec)
    assert (ran.code, ran.out) == (2, "")
    _one_sentence(ran.err, words, spec)
    ran = cli("play", game, f"alphabeta(depth=1,heuristic={spec})", "random")
    assert (ran.code, ran.out) == (2, "")
    _one_sentence(ran.err, words, spec)


@pytest.mark.parametrize(
    "settings",
    [
        {"depth": None},
        {"depth": "3"},
        {"depth": [3]},
        {"seconds": True},
        {"ties": None},
        {"order": None},
        {"table": 1},
        {"heuristic": 3.5},
        {"megabytes": math.nan},
        {"depth": 10**400},
        {"nodes": -math.inf},
    ],
)
def test_settings_from_python_are_checked_alike(settings):
    with pytest.raises(gk.SpecError, match="search: "):
        gk.PLAYERS["search"](**settings)


def test_a_player_that_does_not_fit_the_game_says_so():
    with pytest.raises(gk.GamekitError, match=r"custom plays k-in-a-row games .*, not conga"):
        gk.player("custom").choose(gk.game("conga").start())
    with pytest.raises(gk.GamekitError, match="the game is over"):
        gk.player("alphabeta").choose(gk.game("mnk(k=1)").start().play("0,0"))
    for name in ("random", "leftmost", "montecarlo", "uct", "custom", "greedy"):
        with pytest.raises(gk.GamekitError, match="the game is over"):
            gk.player(name).choose(gk.game("mnk(k=1)").start().play("0,0"))


def test_equal_settings_written_otherwise_give_the_same_object():
    assert gk.game("mnk(m=3,n=3,k=3)") == gk.game("mnk") == gk.game(parse("mnk(k=3)")) == gk.game(gk.game("mnk"))
    assert str(gk.player("alphabeta(depth=4.0)")) == "alphabeta(depth=4)"
    assert gk.player("alphabeta( depth = 2 , ties=random )").spec == "alphabeta(depth=2,ties=random)"
    assert gk.player(gk.player("random")).spec == "random"


# ------------------------------------------------------------------------- names of parameters

# Columns that measurements share with a parameter: a player's evaluation, and its number of playouts.
SHARED = {"heuristic"}


def test_every_column_of_a_measurement_is_a_reserved_name():
    from gamekit.experiments.columns import COLUMNS

    assert {name for schema in COLUMNS.values() for name in schema.names} - SHARED == RESERVED


def test_no_built_in_parameter_has_a_reserved_name():
    for params in [game.params for game in gk.GAMES.values()] + [player.takes for player in gk.PLAYERS.values()]:
        assert not RESERVED & set(params)
    for heuristic in gk.HEURISTICS.values():
        assert not RESERVED & {f"heuristic_{name}" for name in heuristic.params}


BAD_NAMES = [
    "value",
    "moves",
    "pair",
    "opponent",
    "opponent_depth",
    "heuristic_count",
    "two words",
    "",
    "3d",
    "if",
    "é",
]


def _game_with(name):
    dtype = np.dtype([("turn", "i4"), ("board", "i1", (1, 1))])
    body = {"name": "toy", "state": dtype, "width": 1, "params": {name: Param(1)}, "__module__": "toys"}
    return type("Toy", (gk.Game,), {**body, "moves": lambda s, out: 0, "play": lambda s, move: gk.DRAW})


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_game_or_player_with_a_parameter_that_results_or_specs_cannot_hold_is_refused(name):
    from gamekit.players.base import Player, register

    with pytest.raises(gk.SpecError, match="parameter"):
        gk.register(_game_with(name))
    with pytest.raises(gk.SpecError, match="parameter"):
        register(type("Toy", (Player,), {"name": "toy", "takes": {name: Param(1)}}))
    assert "toy" not in {**gk.GAMES, **gk.PLAYERS}


@pytest.mark.parametrize("name", ["value", "moves", "opponent", "opponent_moves"])
def test_a_weight_may_be_named_like_a_column_since_its_own_column_has_a_prefix(name):
    @gk.heuristic("conga", params={name: 2.0})
    def weighted_so(board, me, params):
        return params[0]

    assert gk.heuristic_of(f"weighted_so({name}=3)", "conga").settings == {name: 3.0}


@pytest.mark.parametrize("name", ["two words", "", "3d", "if", "é"])
def test_a_weight_that_no_spec_can_name_is_refused(name):
    with pytest.raises(gk.SpecError, match="no name for a parameter"):

        @gk.heuristic("conga", params={name: 2.0})
        def weighted_so(board, me, params):
            return params[0]


# ------------------------------------------------------------------------------------------ sets


def test_a_set_stands_for_each_of_its_values_and_one_spec_may_have_none():
    found = expand("a(x={1,b(y={2,3})},z={on,'two words'})")
    assert [str(one) for one in found] == [
        f"a(x={x},z={z})" for x in ("1", "b(y=2)", "b(y=3)") for z in ("on", "'two words'")
    ]
    with pytest.raises(gk.SpecError, match="names several; one is allowed here"):
        parse("a(x={1,2})")
    crowd = "{" + ",".join(map(str, range(200))) + "}"
    with pytest.raises(gk.SpecError, match="too many specs; at most 100,000 are allowed"):
        expand(f"a(x={crowd},y={crowd},z={crowd})")
