"""`fabrics`, `workloads`, `explain`, `schema`; and the parts that every fabric must have."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from cli_support import ROOT
from typer.testing import CliRunner

import lightloom
from lightloom import _core
from lightloom.cli import app, describe, figures
from lightloom.config import schema as experiment_schema
from lightloom.policies import registry as policy_registry
from lightloom.validation import Claims
from lightloom.validation.scripts import load_script, targets

REGISTRY = {entry["kind"]: entry for entry in json.loads(_core.registry())}
PUBLISHED = {entry["name"]: entry for entry in json.loads(_core.workloads())}
OTHERS = {"sweep.toml", "switch-32.toml"}
"""Files beside the experiments."""
EXAMPLES = sorted(p for p in ROOT.glob("examples/*.toml") if p.name not in OTHERS)


def call(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "80"})
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


def test_everything_there_is_can_be_listed_and_explained() -> None:
    fabrics, workloads = call("fabrics"), call("workloads")
    for kind, entry in REGISTRY.items():
        assert f"{kind}: {entry['title']}" in fabrics
        explained = call("explain", kind)
        assert all(p.key in explained for p in describe.parameters(entry["schema"]))
    for name, entry in PUBLISHED.items():
        assert name in workloads
        assert f"{entry['points'][1][0]:,.0f}" in call("explain", name)


def parameters() -> Iterator[tuple[str, describe.Parameter]]:
    tables = describe.tables(experiment_schema.schema())
    schemas = tables | {kind: entry["schema"] for kind, entry in REGISTRY.items()}
    for name, schema in schemas.items():
        for parameter in describe.parameters(schema):
            yield f"{name}.{parameter.key}", parameter


@pytest.mark.parametrize(("name", "parameter"), list(parameters()))
def test_every_parameter_says_what_it_is_and_takes(
    name: str, parameter: describe.Parameter
) -> None:
    assert parameter.description, "no description"
    assert parameter.kind not in ("", "value"), "its type is not understood"
    assert parameter.kind != "one of" or parameter.choices
    assert call("explain", name).startswith(name)


def test_a_parameter_is_explained_with_its_default_and_source() -> None:
    text = " ".join(call("explain", "sirius.queue").split())
    assert "default 4" in text
    assert "2 to 64" in text
    assert "§4.3" in text
    choices = call("explain", "sirius.mode")
    assert '"ideal"' in choices
    assert "back-pressure" in choices


def test_an_unknown_name_gets_the_nearest() -> None:
    for slip, meant in (
        ("sirius.quue", "sirius.queue"),
        ("sirius.epoch_slot", "sirius.epoch_slots"),
        ("siruis.epoch_slots", "sirius.epoch_slots"),
        ("fabric.quue", "fabric.queue"),
        ("epoch_slot", "epoch_slots"),
        ("workload.sizes.parto", "workload.sizes.pareto"),
        ("workload.sizes.pareto.shpe", "workload.sizes.pareto.shape"),
    ):
        said = " ".join(call("explain", slip, code=2).split())
        assert said.endswith(f'did you mean "{meant}"?'), said
    known = call("explain", "sirius.zzz", code=2)
    assert "known: detail, mode," in known
    assert "recovery" in known
    assert 'did you mean "web-search"?' in call("explain", "websearch", code=2)
    assert "known: " in call("explain", "zzz", code=2)


def test_explain_alone_says_what_there_is() -> None:
    text = " ".join(call("explain").split())
    tables = describe.tables(experiment_schema.schema())
    for name in (*REGISTRY, *tables, *PUBLISHED, "fabric:", "gridmix"):
        assert name in text, name


def owners(key: str) -> set[str]:
    kinds = REGISTRY.items()
    return {f"fabric.{kind}.{key}" for kind, e in kinds if key in e["schema"]["properties"]}


@pytest.mark.parametrize("key", ["queue", "epoch_slots", "circuit_rate", "header"])
def test_a_key_of_fabrics_is_found_with_all_that_have_it(key: str) -> None:
    assert owners(key)
    for asked in (f"fabric.{key}", key, f"fabric[0].{key}", f"fabric.some-label.{key}"):
        text = call("explain", asked)
        shown = {line.split("  ")[0] for line in text.splitlines() if line.startswith("fabric.")}
        assert {name for name in shown if name.endswith(f".{key}")} >= owners(key)
        assert f"fabric.LABEL.{key}=… in one" in " ".join(text.split())


def test_names_of_messages_and_of_set_are_explained() -> None:
    for asked, same in (
        ("fabric.sirius.queue", "sirius.queue"),
        ("fabric[sirius].queue", "sirius.queue"),
        ("fabric.clos", "clos"),
        ("fault[0].node", "fault.node"),
        ("fault.0.node", "fault.node"),
        ("workload.jobs[0].data", "workload.jobs.data"),
        ("compare.case[1].set", "compare.case.set"),
        ("flows", "workload.flows"),
        ("shape", "workload.sizes.pareto.shape"),
        ("kind", "fabric"),
        ("fabric.kind", "fabric"),
    ):
        assert call("explain", asked) == call("explain", same), asked


def test_policies_are_listed_and_explained_key_by_key() -> None:
    policies = json.loads(_core.policies())
    listed = call("explain", "policies")
    assert call("policies") == listed
    assert "policies" in call("explain")
    for entry in policies:
        assert f"  {entry['kind']}" in listed
        explained = call("explain", f"policy.{entry['kind']}")
        for parameter in describe.parameters(entry["schema"]):
            assert f"  {parameter.key}  (" in explained
            full = f"policy.{entry['kind']}.{parameter.key}"
            assert call("explain", full).startswith(full)
        for alias in entry["aliases"]:
            assert call("explain", f"policy.{alias}") == explained
    assert "policy.hydra.split" in call("explain", "split")
    # A unique algorithm's name is sufficient, as is the name of a key's option of `plan`.
    assert call("explain", "edmonds") == call("explain", "policy.cthrough")
    assert call("explain", "tms").startswith("mordia (bvn, tms)\n")
    assert call("explain", "solstice.night").startswith("policy.solstice.night  (")
    assert 'did you mean "edmonds"?' in call("explain", "edmunds", code=2)
    # If a fabric and a policy have one name, it selects the fabric; the policy has its full name.
    assert call("explain", "mordia").startswith("mordia: Mordia\n")
    assert call("explain", "policy.mordia").startswith("mordia (bvn, tms)\n")
    bonus = call("explain", "policy.cthrough.bonus")
    assert bonus.startswith("policy.cthrough.hysteresis  (")
    assert "calls it --bonus." in bonus
    assert "policy.cthrough.hysteresis" in call("explain", "bonus")


def test_kinds_of_a_value_are_named() -> None:
    said = " ".join(call("explain", "hybrid").split())
    assert "one of these kinds" not in said
    kinds = 'a duration, like "100 ns" or "measured" or list of a duration, like "100 ns"'
    assert f"computation_delay ({kinds}, default" in said
    said = " ".join(call("explain", "workload").split())
    assert 'pattern (one of "uniform", "permutation", "all-to-all"' in said
    assert 'jobs (list of one of "vm-migration", "sort"' in said


@pytest.mark.parametrize(
    ("slip", "near"),
    [
        ("policy.hydro", "policy.hydra"),
        ("policy.hydra.hopz", "policy.hydra.hops"),
        ("policy.bvn.scalling", "policy.mordia.scaling"),
    ],
)
def test_the_nearest_policy_or_key_is_suggested(slip: str, near: str) -> None:
    assert f'did you mean "{near}"?' in call("explain", slip, code=2)


def test_what_another_fabric_has_is_told() -> None:
    for asked in ("clos.queue", "fabric.clos.queue", "fabric[clos].queue"):
        assert call("explain", asked, code=2) == (
            f"error: NAME = {asked}: clos has no such key; did you mean fabric.sirius.queue?\n"
        )
    all_three = call("explain", "tree.circuit_rate", code=2)
    named = [f"fabric.{kind}.circuit_rate" for kind in ("cthrough", "hydra", "hybrid")]
    assert f"did you mean {named[0]}, {named[1]} or {named[2]}?" in all_three


def test_no_name_is_broken_at_the_end_of_a_line() -> None:
    """No name is broken at its hyphens, such as `all-to-all-collective`."""
    names = [*REGISTRY, *PUBLISHED, "all-to-all-collective", "fabric.flattened-butterfly.header"]
    for asked in ((), ("fabric.header",), ("fabric",)):
        for width in range(40, 90, 3):
            done = CliRunner().invoke(app, ["explain", *asked], env={"COLUMNS": str(width)})
            for line in done.stdout.splitlines():
                word = line.split(" ")[-1]
                assert not any(n.startswith(word) for n in names if word.endswith("-")), line


def test_the_schema_accepts_the_examples_and_refuses_a_typo() -> None:
    schema = json.loads(call("schema"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in EXAMPLES:
        validator.validate(tomllib.loads(path.read_text()))
    table = tomllib.loads((ROOT / "examples" / "sirius.toml").read_text())
    table["cluster"]["raks"] = 4
    assert not validator.is_valid(table)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_every_example_resolves(path: Path) -> None:
    assert lightloom.load(path).resolved()["fabric"]


def test_the_gups_example_reaches_its_ceiling_with_aggregation() -> None:
    """The rate is at most what the links carry with headers and guards, and close to it."""
    updates = lightloom.run(ROOT / "examples" / "gups.toml").summary["updates"]
    framed = {job: made["per_s"] / made["ceiling_framed_per_s"] for job, made in updates.items()}
    assert list(framed) == ["16 in a packet", "1 in a packet"]
    assert 0.95 <= framed["16 in a packet"] <= 1
    assert framed["1 in a packet"] <= 1
    # A single update takes 106 B with headers and guards, and one of 16 in a packet takes 44 B.
    assert updates["16 in a packet"]["per_s"] > 2 * updates["1 in a packet"]["per_s"]


@pytest.mark.parametrize("kind", REGISTRY)
def test_every_fabric_has_a_page_a_preset_and_claims(kind: str) -> None:
    assert (ROOT / "docs" / "fabrics" / f"{kind}.md").is_file(), "docs/fabrics: no page"
    assert f"`{kind}`" in (ROOT / "docs" / "fabrics" / "index.md").read_text()
    assert REGISTRY[kind]["presets"], "no preset"
    folder = ROOT / "validation"
    claims = Claims.read(folder / kind / "claims.toml")
    scripts = targets(folder, kind)[kind]
    assert {claim.script for claim in claims.claim} == set(scripts)
    for claim in claims.claim:
        assert claim.command == f"lightloom reproduce {kind}/{claim.script}"
    for script in scripts:
        assert load_script(folder, kind, script).measure


@pytest.mark.parametrize("kind", policy_registry.registry())
def test_every_policy_has_its_page(kind: str) -> None:
    """The overview and the site list the page, it contains the keys of the policy or their options,
    and `explain` explains the keys."""
    page = (ROOT / "docs" / "policies" / f"{kind}.md").read_text()
    assert page.startswith(f"# Policy {kind}\n")
    assert f"[`{kind}`](policies/{kind}.md)" in (ROOT / "docs" / "policies.md").read_text()
    assert f"policies/{kind}.md" in (ROOT / "mkdocs.yml").read_text()
    assert kind in call("explain", "policies")


def test_figures_of_results_are_explained() -> None:
    experiment = {
        "cluster": {"racks": 4, "servers_per_rack": 1, "rack_rate": "10 Gb/s"},
        "workload": {"load": 0.5, "sizes": {"kind": "fixed", "size": "10 KB"}, "flows": 20},
        "fabric": [{"kind": "clos"}],
    }
    summary = lightloom.run(experiment).summary
    for key in summary:
        assert key in figures.MEANT, key
    assert "servers × server rate" in " ".join(call("explain", "goodput_normalized").split())
    assert "p99_us" in call("explain", "fct")
    assert "in its table fct" in call("explain", "fct.short.p99_us")
    assert "nothing of this name" in call("explain", "fct.tiny", code=2)
    # A name that is also a key is explained as a key as well.
    assert "run.seed" in call("explain", "seed")


def test_keys_without_their_table_are_told_it() -> None:
    for override, name in (("load=0.5", "workload.load"), ("uplinks=4", "fabric.uplinks")):
        with pytest.raises(lightloom.ConfigError, match=f"write {name}"):
            lightloom.load({"fabric": [{"kind": "sirius"}]}, [override])
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.load({}, ["lod=0.5"])
    assert refused.value.key == "lod"


def test_nothing_is_shown_in_seconds() -> None:
    assert 'default "0 s"' in call("explain", "hybrid.retag")


def test_every_fabric_states_its_name_and_what_its_drops_are() -> None:
    """The name in prose equals the kind, except for capitals, hyphens and an article."""
    for kind, entry in REGISTRY.items():
        plain = entry["name"].lower().removeprefix("the ").replace("-", "").replace(" ", "")
        assert plain == kind.replace("-", "")
        assert entry["drops"]
    in_turn = {kind for kind, entry in REGISTRY.items() if entry["in_turn"]}
    assert in_turn == {"mordia", "rotornet", "opera"}
