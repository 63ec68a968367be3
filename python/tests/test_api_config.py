"""Experiments from TOML: overrides, errors with their place, and arbitrary input."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lightloom
from lightloom.config.experiment import read_toml, to_toml
from lightloom.errors import ConfigError

BASE: dict[str, Any] = {
    "cluster": {"racks": 8, "servers_per_rack": 2, "rack_rate": "100 Gb/s"},
    "workload": {"load": 0.5, "flows": 10, "sizes": {"kind": "fixed", "size": "1 KB"}},
    "fabric": [{"kind": "sirius"}, {"kind": "sirius", "label": "clos-3.1", "queue": 8}],
    "fault": [{"at": "1 us", "element": "node", "node": 1, "fabric": "sirius"}],
    "compare": {"case": [{"label": "even"}, {"label": "hots"}]},
}


@pytest.mark.parametrize(
    ("override", "path", "value"),
    [
        ("workload.load=0.9", ["workload", "load"], 0.9),
        ("workload.sizes.size=10 KB", ["workload", "sizes", "size"], "10 KB"),
        ("workload.sizes=web-search", ["workload", "sizes"], "web-search"),
        ("workload.sizes = 'rpc'", ["workload", "sizes"], "rpc"),
        ("run.seed=7", ["run", "seed"], 7),
        ("run.stop=", ["run", "stop"], ""),
        ("compare.loads=[0.1, 1]", ["compare", "loads"], [0.1, 1]),
        ("fabric.uplinks=16", ["fabric", 0, "uplinks"], 16),
        ("fabric.uplinks=16", ["fabric", 1, "uplinks"], 16),
        ("fabric.sirius.queue=5", ["fabric", 0, "queue"], 5),
        ('fabric."clos-3.1".queue=5', ["fabric", 1, "queue"], 5),
        ("fault.0.node=3", ["fault", 0, "node"], 3),
        ('workload.pattern={kind="hotspot"}', ["workload", "pattern"], {"kind": "hotspot"}),
        ("run.seed=1\nb=2", ["run", "seed"], "1\nb=2"),
        ("run.day=2020-01-01", ["run", "day"], "2020-01-01"),
        ("run.x=nan", ["run", "x"], "nan"),
    ],
)
def test_overrides_set_keys(override: str, path: list[Any], value: object) -> None:
    table: Any = lightloom.load(BASE).with_overrides([override]).raw
    for part in path:
        table = table[part]
    assert table == value
    assert type(table) is type(value)


def test_an_override_for_one_fabric_leaves_the_others() -> None:
    raw = lightloom.load(BASE, ["fabric.sirius.queue=5"]).raw
    assert raw["fabric"][1]["queue"] == 8
    assert BASE["fabric"][0] == {"kind": "sirius"}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("workload.load", '--set = "workload.load": has no `=`'),
        ("=3", '--set = "": is not a key'),
        ("a b=3", '--set = "a b": is not a key'),
        ("workload.load.x=3", "workload.load = 0.5: is not a table"),
        (
            "fault.3.node=1",
            "fault.3.node = 1: fault is a list of 1, counted from 0; write fault.0.node",
        ),
        (
            "fault.node=3",
            "fault.node = 3: fault is a list of 1, counted from 0; write fault.0.node",
        ),
        ("fault.x=1", "fault.x = 1: fault is a list of 1, counted from 0; write fault.0.x"),
        (
            "compare.case.hot.set.x=1",
            'compare.case.hot.set.x = 1: compare.case is a list of 2, counted from 0: "even", '
            '"hots"; write a number from 0 to 1, as in compare.case.1.set.x',
        ),
        (
            "compare.case.label=x",
            'compare.case.label = "x": compare.case is a list of 2, counted from 0: "even", '
            '"hots"; write a number from 0 to 1, as in compare.case.0.label',
        ),
        (
            "fabric.sirus.queue=3",
            '--set = "fabric.sirus.queue=3": no fabric is labelled sirus; '
            "choose one of sirius, clos-3.1",
        ),
    ],
)
def test_malformed_overrides_are_refused(override: str, message: str) -> None:
    with pytest.raises(lightloom.ConfigError) as caught:
        lightloom.load(BASE, [override])
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("key", ["fault.node", "fault.0.node", "compare.case.0.label"])
def test_an_override_in_a_list_of_tables_needs_the_list(key: str) -> None:
    name = key.rpartition(".")[0].removesuffix(".0")
    with pytest.raises(lightloom.ConfigError) as caught:
        lightloom.load({"fabric": [{"kind": "sirius"}]}, [f"{key}=3"])
    assert (caught.value.key, caught.value.value) == (key, "3")
    assert f"[[{name}]]" in caught.value.limit


def test_a_misspelt_label_is_refused_beside_a_single_fabric() -> None:
    with pytest.raises(lightloom.ConfigError, match="is labelled sirus"):
        lightloom.load({"fabric": [{"kind": "sirius"}]}, ["fabric.sirus.queue=3"])


def test_an_override_of_a_fabric_needs_one() -> None:
    with pytest.raises(lightloom.ConfigError, match="has no fabric"):
        lightloom.load({}, ["fabric.queue=3"])


def test_only_keeps_the_faults_of_its_fabric() -> None:
    base = lightloom.load(BASE)
    assert base.labels == ["sirius", "clos-3.1"]
    assert base.only("sirius").raw["fault"] == BASE["fault"]
    assert base.only("clos-3.1").raw["fault"] == []
    assert base.only("clos-3.1").with_load(0.25).raw["workload"]["load"] == 0.25


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"[run]\nseed = \n", ":2:8: "),
        (b"a = 1\na = 2\n", ":2:6: "),
        (b'[run]\nname = "\xff"\n', ":2:9: not UTF-8"),
        (b"[run", ": expected"),
        (b"a = " + b"[" * 100_000, ": nested too deeply"),
    ],
)
def test_toml_errors_name_the_place(tmp_path: Path, text: bytes, place: str) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(text)
    with pytest.raises(lightloom.ConfigError) as caught:
        lightloom.load(path)
    assert str(caught.value).lower().startswith(f"{path}{place}".lower())


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(lightloom.ConfigError, match=r"no\.toml: no such file"):
        lightloom.load(tmp_path / "no.toml")
    with pytest.raises(lightloom.ConfigError, match="is a directory"):
        lightloom.load(tmp_path)


def test_files_are_looked_for_beside_the_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    path = tmp_path / "sub" / "jobs.toml"
    path.write_text('[workload]\ntrace = "jobs.csv"\npattern = { kind = "matrix", file = "m" }\n')
    monkeypatch.chdir(tmp_path)
    experiment = lightloom.load("sub/jobs.toml")
    assert experiment.name == "jobs"
    assert experiment.raw["workload"]["trace"] == str(tmp_path / "sub" / "jobs.csv")
    assert experiment.raw["workload"]["pattern"]["file"] == str(tmp_path / "sub" / "m")
    moved = lightloom.load("sub/jobs.toml", ["workload.trace=here.csv"])
    assert moved.raw["workload"]["trace"] == str(tmp_path / "here.csv")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, object(), b"x"])
def test_values_without_a_json_form_are_refused_by_key(value: object) -> None:
    raw = copy.deepcopy(BASE)
    raw["fabric"][0]["queue"] = value
    with pytest.raises(lightloom.ConfigError, match=r"^fabric\[0\]\.queue = "):
        lightloom.load(raw).resolved()


keys = st.text(st.characters(codec="utf-8"), max_size=6)
scalars = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(keys, values, max_size=4))
def test_what_is_written_as_toml_reads_back(table: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(table)) == table


@given(st.text(max_size=30))
def test_any_override_is_applied_or_refused(text: str) -> None:
    try:
        lightloom.load(BASE, [text])
    except lightloom.ConfigError as error:
        assert str(error)


@given(st.binary(max_size=60))
def test_any_file_is_read_or_refused(tmp_path_factory: Any, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "x.toml"
    path.write_bytes(content)
    try:
        read_toml(path)
    except lightloom.ConfigError as error:
        assert str(error).startswith(str(path))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, child in inner:
        found.append((*path, key))
        if isinstance(child, (dict, list)):
            found += _places(child, (*path, key))
    return found


FULL = lightloom.load({**BASE, "compare": {"loads": [0.5]}}).resolved()
near = scalars | st.sampled_from(
    ["0 ns", "1 ps", "9 Tb/s", "1 B", "drain", "ideal", "mixed", 0, 1, -1, 2**32, 2**63 - 1, 1e-300]
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(_places(FULL)), near | values)
# Regression: a float was read as its neighbour, and on the next reading as the one after it.
@example(("fault", 0, "loss"), 1.1156855590291294e-277)
def test_any_value_at_any_key_is_resolved_or_refused(path: tuple[Any, ...], value: Any) -> None:
    raw: Any = copy.deepcopy(FULL)
    table = raw
    for part in path[:-1]:
        table = table[part]
    table[path[-1]] = value
    try:
        resolved = lightloom.load(raw).resolved()
    except lightloom.ConfigError as error:
        assert str(error)
    else:
        assert lightloom.load(resolved).resolved() == resolved


def test_a_fabric_runs_whatever_is_wrong_with_others() -> None:
    table = lightloom.load(SMALL_WITH_TWO, ["fabric.b.oversubscription=0"])
    assert lightloom.run(table, "a").label == "a"
    with pytest.raises(lightloom.ConfigError, match=r"fabric\.b\.oversubscription = 0"):
        lightloom.run(table, "b")
    both = table.with_overrides(["fabric.a.oversubscription=-1"])
    with pytest.raises(lightloom.ConfigError, match="oversubscription = 0"):
        lightloom.run(both, "b")
    typo = table.with_overrides([]).raw | {"fault": [{"fabric": "c", "node": 1, "at": "1 us"}]}
    with pytest.raises(lightloom.ConfigError, match="fault"):
        lightloom.run(typo, "a")


SMALL_WITH_TWO = {
    "cluster": {"racks": 4, "servers_per_rack": 1, "rack_rate": "10 Gb/s"},
    "workload": {"load": 0.5, "sizes": {"kind": "fixed", "size": "10 KB"}, "flows": 20},
    "fabric": [{"kind": "clos", "label": "a"}, {"kind": "clos", "label": "b"}],
}


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("table", ["cluster", "fabric"])
def test_numbers_that_are_not_finite_are_refused(table: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "it.toml"
    tables = {"cluster": "[cluster]\nracks = 4", "fabric": '[[fabric]]\nkind = "clos"'}
    tables[table] += f"\noversubscription = {value}"
    path.write_text("\n".join(tables.values()), encoding="utf-8")
    key = "cluster" if table == "cluster" else "fabric[0]"
    said = f"{key}.oversubscription = {value}: is not a finite number; write one, like 3.0"
    with pytest.raises(lightloom.ConfigError) as problem:
        lightloom.load(path).resolved()
    assert str(problem.value) == said


def test_a_mistyped_key_is_told_the_nearest_of_any_fabric() -> None:
    """Regression: for a mistyped key of `clos`, the message listed the keys of Sirius, the first
    fabric."""
    table = {**BASE, "fabric": [{"kind": "sirius"}, {"kind": "clos", "label": "clos-3to1"}]}
    with pytest.raises(ConfigError) as refused:
        lightloom.load(table, ["fabric.oversubscripton=3"])
    assert refused.value.key == "--set"
    assert '"oversubscripton"' in refused.value.limit
    assert '"oversubscription", a key of clos' in refused.value.remedy
    assert refused.value.remedy.endswith(" fabric.clos-3to1.oversubscription")
    with pytest.raises(ConfigError, match=r'"propagation", .* sirius and clos\?$'):
        lightloom.load(table, ["fabric.propagaton=3 ns"])
    with pytest.raises(ConfigError, match="no such key; known"):
        lightloom.load(table, ["fabric.bananas=3"]).resolved()


WRONG_KEYS = [
    "run.sed=1",
    "workload.lod=1",
    "workload.sizes.load=0.5",
    "workload.pattern={kind='incast', fanin=2}",
    "cluster.rack=8",
    "physics={preset='ideal', x=1}",
    "compare.lods=[0.5]",
    "fault.0.nde=1",
    "fabric.sirius.quee=4",
    "fabric.sirius.kind=siris",
    "decision={pries='sirius-2020'}",
    "wrkload={}",
    "zzz=1",
]


@pytest.mark.parametrize("override", WRONG_KEYS)
def test_a_key_that_no_table_has_is_refused_at_load(override: str) -> None:
    """The message is the one with which a run refuses the key."""
    unchecked = lightloom.load(BASE).with_overrides([override])
    with pytest.raises(ConfigError) as by_run:
        unchecked.resolved()
    with pytest.raises(ConfigError) as by_load:
        lightloom.load(BASE, [override])
    assert str(by_load.value) == str(by_run.value)
    assert by_load.value.limit in ("no such key", "no such fabric")


def test_a_wrong_key_is_refused_at_load_whatever_else_is_missing() -> None:
    for raw in ({"run": {"sed": 1}}, {"cluster": {}, "workload": {"lod": 1}, "fabric": []}):
        with pytest.raises(ConfigError, match="no such key"):
            lightloom.load(raw)


def test_values_and_files_are_left_to_resolve_at_load() -> None:
    for override in ("workload.load=much", "workload.trace=no/such.csv", "fabric.uplinks=0"):
        experiment = lightloom.load(BASE, [override])
        with pytest.raises(ConfigError):
            experiment.resolved()
    assert lightloom.load({}).raw == {}


TWO = {
    "cluster": {"racks": 8, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
    "fabric": [{"kind": "clos", "label": "c l"}, {"kind": "rotornet"}],
}


def test_overrides_may_be_values_by_key() -> None:
    given = {"workload.load": np.float64(0.25), "run.seed": np.int64(3), "cluster.racks": 4}
    raw = lightloom.load(TWO, given).raw
    assert (raw["workload"]["load"], raw["run"]["seed"]) == (0.25, 3)
    assert {type(raw["workload"]["load"]), type(raw["run"]["seed"])} == {float, int}
    assert raw["cluster"]["racks"] == 4
    with pytest.raises(lightloom.ConfigError, match=r"overrides = 3: "):
        lightloom.load(TWO, {3: 4})  # type: ignore[dict-item]


def test_a_key_that_one_fabric_alone_has_is_set_by_its_label() -> None:
    """Otherwise the core would refuse the key for the fabric that does not have it."""
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.load(TWO, ["fabric.oversubscription=3"])
    words = str(refused.value)
    assert 'no key "oversubscription"' in words
    key = words.rpartition("write ")[2]
    raw = lightloom.load(TWO, [f"{key}=3"]).raw
    assert [f.get("oversubscription") for f in raw["fabric"]] == [3, None]
    raw = lightloom.load(TWO, ["fabric.link_rate='5 Gb/s'"]).raw
    assert [f["link_rate"] for f in raw["fabric"]] == ["5 Gb/s"] * 2
