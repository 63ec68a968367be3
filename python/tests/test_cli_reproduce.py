"""`reproduce`: judging, the record, and the exit code."""

import json
import re
from math import inf
from pathlib import Path

import pytest
from cli_support import lightloom
from pydantic import ValidationError

from lightloom.errors import ConfigError
from lightloom.validation import Claim, Claims, Estimate, Expectation, judge, targets
from lightloom.validation.scripts import load_script

CLAIM = {
    "id": "c",
    "source": "§1",
    "statement": "Two.",
    "command": "lightloom reproduce toy/one",
    "measures": "it",
    "expect": {"value": 2, "tolerance": 0.5},
    "exact": "arithmetic",
    "status": "reproduced",
}


def claim(**changes: object) -> Claim:
    return Claim.model_validate({k: v for k, v in (CLAIM | changes).items() if v is not None})


@pytest.mark.parametrize(
    ("expect", "holds", "fails"),
    [
        ({"value": 2, "tolerance": 0.5}, [1.5, 2.5], [1.49, 2.51]),
        ({"at_least": 1}, [1, 9], [0.99]),
        ({"at_most": 1}, [1, -9], [1.01]),
        ({"at_least": 1, "at_most": 2}, [1, 2], [0.9, 2.1]),
        ({"above": 1}, [1.01, 9], [1, 0.99]),
        ({"below": 1}, [0.99, -9], [1, 1.01]),
        ({"above": 1, "at_most": 2}, [1.01, 2], [1, 2.1]),
    ],
)
def test_an_expectation_includes_its_bounds(
    expect: dict[str, float], holds: list[float], fails: list[float]
) -> None:
    expectation = Expectation.model_validate(expect)
    assert [expectation.holds(v) for v in holds + fails] == [True] * len(holds) + [False] * len(
        fails
    )
    outcomes = {judge("toy", claim(expect=expect), v, quick=False).outcome for v in fails}
    assert outcomes == {"not reproduced"}


@pytest.mark.parametrize(
    "changes",
    [
        {"expect": {"value": 2}},
        {"expect": {"value": 2, "tolerance": 1, "at_most": 3}},
        {"expect": {"value": 2, "tolerance": 1, "below": 3}},
        {"expect": {"at_least": 1, "above": 2}},
        {"expect": {"at_most": 1, "below": 2}},
        {"expect": {"at_least": 2, "at_most": 1}},
        {"expect": {"above": 1, "at_most": 1}},
        {"expect": {"value": float("nan"), "tolerance": 1}},
        {"expect": {}},
        {"expect": None},
        {"status": "not reproduced"},
        {"status": "maybe"},
        {"command": "make coffee"},
        {"surprise": 1},
        {"basis": "guessed", "criterion": "ours"},
        {"basis": "fitted"},
    ],
    ids=str,
)
def test_a_claim_that_cannot_be_judged_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        claim(**changes)


def test_what_is_withheld_or_not_measured_is_not_judged() -> None:
    withheld = claim(expect=None, status="not judged", reason="withheld")
    assert judge("toy", withheld, 2.0, quick=False).outcome == "not judged"
    assert judge("toy", claim(), None, quick=False).outcome == "not judged"
    assert not judge("toy", claim(), None, quick=False).as_recorded


def test_quick_judges_only_what_is_meaningful_then() -> None:
    assert judge("toy", claim(), 9.0, quick=True).outcome == "not judged"
    assert judge("toy", claim(), 9.0, quick=True).as_recorded
    assert not judge("toy", claim(quick=True), 9.0, quick=True).as_recorded


def test_what_comes_out_by_construction_says_so() -> None:
    fitted = claim(basis="fitted", criterion="The size is derived from it.")
    assert fitted.status_text("reproduced") == "reproduced (fitted)"
    assert fitted.status_text("not judged") == "not judged"
    assert claim().status_text("reproduced") == "reproduced"


def test_a_claim_is_there_once(tmp_path: Path) -> None:
    record(tmp_path, "reproduced", "reproduced")
    path = tmp_path / "toy" / "claims.toml"
    path.write_text(path.read_text().replace('"c1"', '"c0"'))
    with pytest.raises(ConfigError, match="c0 is there twice"):
        Claims.read(path)


SCRIPT = """
from lightloom.validation.study import draw, panel
def measure(quick, workers):
    line = {"a": [1.0, None]}
    return {"data": [panel("t", ("x", [1, 2]), "y", line)], "claims": {"c0": 2.0, "c1": 7.0}}
figure = draw
"""


def record(folder: Path, *statuses: str) -> None:
    """Writes a toy fabric, whose first claim holds and whose second claim does not."""
    (folder / "toy").mkdir(parents=True)
    (folder / "toy" / "one.py").write_text(SCRIPT)
    lines = ['title = "Toy"']
    for index, status in enumerate(statuses):
        values = CLAIM | {"id": f"c{index}", "status": status, "reason": "because"}
        lines.append("[[claim]]")
        lines += [f"{k} = {json.dumps(v)}" for k, v in values.items() if k != "expect"]
        lines.append("expect = { value = 2, tolerance = 0.5 }")
    (folder / "toy" / "claims.toml").write_text("\n".join(lines))


def test_scripts_share_what_is_beside_them(tmp_path: Path) -> None:
    record(tmp_path, "reproduced")
    script = tmp_path / "toy" / "one.py"
    script.with_name("_shared.py").write_text("TWO = 2.0\n")
    shared = (
        "from lightloom.validation.scripts import beside\nshared = beside(__file__, 'shared')\n"
    )
    script.write_text(shared + SCRIPT.replace('"c0": 2.0, "c1": 7.0', '"c0": shared.TWO'))
    assert targets(tmp_path, "toy") == {"toy": ["one"]}
    assert load_script(tmp_path, "toy", "one").measure(True, 1)["claims"] == {"c0": 2.0}


@pytest.mark.parametrize(
    ("second", "code"), [("not reproduced", 0), ("reproduced", 1), ("not judged", 1)]
)
def test_the_exit_code_says_whether_outcomes_are_on_record(
    second: str, code: int, tmp_path: Path
) -> None:
    record(tmp_path / "v", "reproduced", second)
    done = lightloom(
        "reproduce", "toy", "-o", "out", cwd=tmp_path, LIGHTLOOM_VALIDATION=str(tmp_path / "v")
    )
    assert done.returncode == code, done.stderr
    assert ("not as recorded: c1" in done.stderr) == bool(code)
    verdicts = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert [v["outcome"] for v in verdicts] == ["reproduced", "not reproduced"]
    assert [v["measured"] for v in verdicts] == [2.0, 7.0]
    written = {p.name for p in (tmp_path / "out" / "toy").iterdir()}
    assert written == {"one.svg", "one.png", "one.json"}


def test_figures_are_told_as_they_begin_and_end_where_no_terminal_is(tmp_path: Path) -> None:
    record(tmp_path / "v", "reproduced", "not reproduced")
    script = tmp_path / "v" / "toy" / "one.py"
    script.with_name("two.py").write_text(SCRIPT.replace('"c0": 2.0, "c1": 7.0', ""))
    where = str(tmp_path / "v")
    done = lightloom("reproduce", cwd=tmp_path, LIGHTLOOM_VALIDATION=where)
    assert done.returncode == 0
    took = r"took \d+\.\d s\n"
    lines = rf"toy/one begins, 1 of 2\ntoy/one {took}toy/two begins, 2 of 2\ntoy/two {took}"
    assert re.fullmatch(lines, done.stderr)
    assert "begins" not in done.stdout
    said = lightloom("reproduce", "--help", cwd=tmp_path).stdout
    assert "--quick gives a first" in " ".join(said.split())


def test_a_figure_too_small_to_judge_is_not_shown(tmp_path: Path) -> None:
    record(tmp_path / "v", "reproduced", "not reproduced")
    where = str(tmp_path / "v")
    full = lightloom("reproduce", "toy", cwd=tmp_path, LIGHTLOOM_VALIDATION=where)
    quick = lightloom("reproduce", "toy", "--quick", cwd=tmp_path, LIGHTLOOM_VALIDATION=where)
    assert "  7\n" in full.stdout
    assert "too quick" not in full.stdout
    assert "  7 " not in quick.stdout
    assert quick.stdout.count("too quick:") == 1
    path = tmp_path / "v" / "toy" / "claims.toml"
    path.write_text(path.read_text().replace("expect = { value = 2, tolerance = 0.5 }", ""))
    path.write_text(path.read_text().replace('"reproduced"', '"not judged"'))
    path.write_text(path.read_text().replace('"not reproduced"', '"not judged"'))
    never = lightloom("reproduce", "toy", "--quick", cwd=tmp_path, LIGHTLOOM_VALIDATION=where)
    assert "too quick" not in never.stdout
    assert never.stdout.count("why: because") == 2


def test_what_comes_out_by_construction_is_counted_apart(tmp_path: Path) -> None:
    record(tmp_path / "v", "reproduced", "not reproduced")
    path = tmp_path / "v" / "toy" / "claims.toml"
    path.write_text(
        path.read_text().replace("[[claim]]", '[[claim]]\nbasis = "set"\ncriterion = "ours"', 1)
    )
    done = lightloom("reproduce", "toy", cwd=tmp_path, LIGHTLOOM_VALIDATION=str(tmp_path / "v"))
    (claim,) = [line.split() for line in done.stdout.splitlines() if " c0 " in line]
    assert (claim[0], claim[-1]) == ("✓", "set")
    # The counts are: reproduced, not reproduced, not judged, set.
    (counts,) = [line.split() for line in done.stdout.splitlines() if line.startswith("toy ")]
    assert counts[1:] == ["0", "1", "0", "1"]
    assert "no evidence" in done.stdout


def test_an_unknown_figure_is_refused_with_those_there_are(tmp_path: Path) -> None:
    done = lightloom("reproduce", "sirius/fig99", cwd=tmp_path)
    assert done.returncode == 2
    assert "sirius/fig12" in done.stderr
    lost = lightloom("reproduce", cwd=tmp_path, LIGHTLOOM_VALIDATION=str(tmp_path))
    assert "holds no <fabric>/claims.toml" in lost.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_there_is_chance_in_is_undecided_without_an_interval() -> None:
    by_chance = claim(exact=None)
    assert judge("toy", claim(), 2.0, quick=False).outcome == "reproduced"
    lone = judge("toy", by_chance, 2.0, quick=False)
    assert (lone.outcome, lone.wants) == ("undecided", "seeds")
    single = judge("toy", by_chance, Estimate(2.0, inf, 1), quick=False)
    assert (single.outcome, single.wants) == ("undecided", "1 more seed")
    assert judge("toy", by_chance, Estimate(2.0, 0.0, 3), quick=False).outcome == "reproduced"


@pytest.mark.parametrize(
    ("half_width", "outcome", "wants"),
    [
        (0.05, "reproduced", ""),
        (0.2, "undecided", "11 more seeds"),
        (30.0, "undecided", "more than 1,000 seeds"),
    ],
)
def test_an_undecided_claim_says_how_many_more_seeds_would_decide(
    half_width: float, outcome: str, wants: str
) -> None:
    # The limit of the expected values is 0.1 away.
    found = judge("toy", claim(exact=None), Estimate(2.4, half_width, 6), quick=False)
    assert (found.outcome, found.wants) == (outcome, wants)


def test_a_quick_run_that_is_undecided_does_not_contradict_the_record() -> None:
    by_chance = claim(exact=None, quick=True)
    assert judge("toy", by_chance, Estimate(2.4, 0.2, 3), quick=True).as_recorded
    assert not judge("toy", by_chance, Estimate(2.4, 0.2, 3), quick=False).as_recorded
    assert not judge("toy", by_chance, Estimate(9.0, 0.2, 3), quick=True).as_recorded


def test_a_script_without_chance_is_one_that_there_are_claims_of(tmp_path: Path) -> None:
    record(tmp_path, "reproduced")
    path = tmp_path / "toy" / "claims.toml"
    text = path.read_text().replace('exact = "arithmetic"\n', "")
    path.write_text(text.replace('title = "Toy"', 'title = "Toy"\nexact.one = "arithmetic"'))
    assert [c.exact for c in Claims.read(path).claim] == ["arithmetic"]
    path.write_text(text.replace('title = "Toy"', 'title = "Toy"\nexact.two = "arithmetic"'))
    with pytest.raises(ConfigError, match=r"exact\.two: no claim"):
        Claims.read(path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("toy/one", "toy/two", "toy/claims.toml: c0 = lightloom reproduce toy/two: no such script"),
        ('"c0"', '"c9"', "toy/one measures = c0: not among the claims of claims.toml"),
    ],
)
def test_claims_and_scripts_that_do_not_know_each_other_are_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    record(tmp_path / "v", "reproduced", "not reproduced")
    path = tmp_path / "v" / "toy" / "claims.toml"
    path.write_text(path.read_text().replace(old, new, 1))
    done = lightloom("reproduce", cwd=tmp_path, LIGHTLOOM_VALIDATION=str(tmp_path / "v"))
    assert done.returncode == 2
    assert said in done.stderr


def test_only_what_was_measured_in_full_is_recorded(tmp_path: Path) -> None:
    record(tmp_path / "v", "reproduced", "not reproduced")
    where, kept = str(tmp_path / "v"), tmp_path / "v" / "toy" / "measured.json"
    small = lightloom("reproduce", "--quick", "--record", cwd=tmp_path, LIGHTLOOM_VALIDATION=where)
    assert small.returncode == 2
    assert "--record = --quick: " in small.stderr
    assert not kept.exists()
    done = lightloom("reproduce", "--record", cwd=tmp_path, LIGHTLOOM_VALIDATION=where)
    assert done.returncode == 0, done.stderr
    assert json.loads(kept.read_text()) == {"c0": {"value": 2.0}, "c1": {"value": 7.0}}
    other = {"value": 2.5, "readings": {"drain": {"value": 1.0}}}
    kept.write_text(json.dumps({"c0": other, "c1": {**other, "value": 7.0}}))
    again = lightloom("reproduce", "--record", cwd=tmp_path, LIGHTLOOM_VALIDATION=where)
    note = (
        "note: toy/c0 has another value now, so its values by other readings are removed "
        "(--readings)"
    )
    assert [line for line in again.stderr.splitlines() if line.startswith("note")] == [note]
    assert json.loads(kept.read_text()) == {"c0": {"value": 2.0}, "c1": {**other, "value": 7.0}}
