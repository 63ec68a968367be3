"""Changes that are deferred to a time or to the checkpoint of jobs, and the cost of a change."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab, Reached, matrix

from lightloom.controller import deferred, jobs, schema
from lightloom.controller.change import Change
from lightloom.controller.cost import cost_of
from lightloom.controller.dark import dark_s
from lightloom.controller.hooks import HookError, NoHook
from lightloom.controller.leases import release, reserve
from lightloom.controller.overview import state_of
from lightloom.controller.racks import Racks
from lightloom.controller.store import Store
from lightloom.controller.tokens import add_token
from lightloom.controller.transaction import Steps
from lightloom.errors import ConfigError
from lightloom.switches.protocol import SwitchError
from lightloom.units.dates import utc

AB = [(1, 2), (2, 1)]
AC = [(1, 3), (3, 1)]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A switch that settles in 20 ms, with a circuit between a and b, and a job of 8 accelerators
    on a."""
    made = Lab(tmp_path)
    made.controller.want("east", AB, "op")
    made.controller.cycle()
    assert made.lit() == AB
    jobs.announce(made.store, "train", "scheduler", ["a"], 8, made.now)
    return made


def boundary(lab: Lab, length_s: float, after_s: float = 0.0) -> None:
    begins = lab.now + after_s
    jobs.set_boundary(lab.store, "train", "scheduler", begins, begins + length_s, lab.now)


def later(lab: Lab, pairs: Any = AC, at: float | None = None) -> deferred.Deferred:
    return lab.controller.want_later("east", pairs, "op", 0, at)


def test_a_boundary_that_ends_before_it_begins_is_refused(lab: Lab) -> None:
    with pytest.raises(ConfigError) as refused:
        jobs.set_boundary(lab.store, "train", "scheduler", lab.now + 9, lab.now + 5, lab.now)
    assert (refused.value.key, refused.value.value) == ("ends", utc(lab.now + 5))
    assert utc(lab.now + 9) in (refused.value.limit or "")


def test_the_reasons_for_waiting_are_named(lab: Lab) -> None:
    """The job has no pause, then one that is too short; then only a lease is in the way."""

    def why() -> str | None:
        lab.controller.cycle()
        (shown,) = state_of(lab.controller)["deferred"]
        found: str | None = shown["why"]
        return found

    later(lab, at=lab.now + 1_000)
    assert why() is None
    reserve(lab.store, "east", ("c", "d"), "ann", 0, lab.now, lab.now + 100)
    later(lab)
    blocked = [
        f"{name} of operator:op: a port is held by lease:1 (ann) until {utc(lab.now + 100)}"
        for name in ("1A-3B", "3A-1B")
    ]
    pause = "no pause of at least 0.02 s: train"
    assert why() == "; ".join([pause, *blocked])
    boundary(lab, 0.01)
    assert why() == "; ".join([pause, *blocked])
    boundary(lab, 60)
    assert why() == "; ".join(blocked)
    release(lab.store, 1, "ann", lab.now)
    lab.controller.cycle()
    assert lab.lit() == AC


def test_a_change_waits_for_the_checkpoint_of_the_job_that_it_stops(lab: Lab) -> None:
    later(lab)
    lab.controller.cycle()
    assert lab.lit() == AB
    boundary(lab, 60, after_s=5)
    lab.controller.cycle()
    assert lab.lit() == AB
    lab.now += 6
    (made,) = lab.controller.cycle()
    assert lab.lit() == AC
    assert made.plan["cost"]["accelerator_h"] == 0
    assert made.plan["cost"]["jobs"] == ["train"]
    assert deferred.waiting(lab.store) == []
    assert {request.pair for request in lab.controller.wanted("east")} == {*AC}


def test_a_checkpoint_shorter_than_the_dark_time_is_not_used(lab: Lab) -> None:
    dark_s = lab.controller.cost("east", Change(AB, AC)).dark_s
    assert dark_s
    later(lab)
    boundary(lab, 0.9 * dark_s)
    lab.controller.cycle()
    assert lab.lit() == AB


def test_a_change_that_stops_no_job_waits_for_nobody(lab: Lab) -> None:
    jobs.announce(lab.store, "train", "scheduler", ["d"], 8, lab.now)
    later(lab)
    lab.controller.cycle()
    assert lab.lit() == AC


def test_new_circuits_at_idle_ports_stop_nobody(lab: Lab) -> None:
    jobs.announce(lab.store, "train", "scheduler", ["c"], 8, lab.now)
    later(lab, [*AB, (3, 4), (4, 3)])
    lab.controller.cycle()
    assert lab.lit() == [*AB, (3, 4), (4, 3)]


def test_changes_that_stop_a_job_together_wait_for_it(lab: Lab) -> None:
    """Two clients give up the same circuit; if only one did, the circuit would stay for the
    other."""
    lab.controller.want("east", AB, "other")
    lab.controller.cycle()
    later(lab, [])
    lab.controller.want_later("east", [], "other", 0, None)
    lab.controller.cycle()
    lab.controller.cycle()
    assert lab.lit() == AB
    assert [request.who for request in deferred.waiting(lab.store)] == ["op", "other"]
    boundary(lab, 60)
    lab.controller.cycle()
    assert lab.lit() == []


def test_a_change_begins_at_its_time(lab: Lab) -> None:
    later(lab, at=lab.now + 10)
    lab.controller.cycle()
    assert lab.lit() == AB
    lab.now += 11
    lab.controller.cycle()
    assert lab.lit() == AC


def test_a_time_that_is_over_is_refused(lab: Lab) -> None:
    with pytest.raises(ConfigError) as problem:
        later(lab, at=lab.now - 1)
    assert problem.value.key == "when"
    assert deferred.waiting(lab.store) == []


def test_what_the_client_wants_next_replaces_what_waits(lab: Lab) -> None:
    later(lab, at=lab.now + 10)
    later(lab, [(4, 5)], at=lab.now + 20)
    assert [one.pairs for one in deferred.waiting(lab.store)] == [[(4, 5)]]
    lab.controller.want("east", AB, "op")
    assert deferred.waiting(lab.store) == []
    lab.now += 30
    lab.controller.cycle()
    assert lab.lit() == AB


def test_another_client_s_change_goes_on_waiting(lab: Lab) -> None:
    later(lab, at=lab.now + 10)
    lab.controller.want("east", [(4, 5)], "other")
    lab.controller.cycle()
    assert lab.lit() == [*AB, (4, 5)]
    lab.now += 11
    lab.controller.cycle()
    assert lab.lit() == [*AC, (4, 5)]


def test_after_a_crash_a_change_that_was_made_stays(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controller stops before the last step of the transaction; when it is restarted, the
    checkpoint has ended."""

    class CrashError(BaseException):
        pass

    def crash(*_: object) -> None:
        raise CrashError

    later(lab)
    boundary(lab, 60)
    with monkeypatch.context() as broken:
        broken.setattr(Steps, "_verify", crash)
        with pytest.raises(CrashError):
            lab.controller.cycle()
    assert lab.lit() == AC
    lab.now += 100
    lab.begin()
    assert lab.controller.cycle() == []
    assert lab.lit() == AC
    assert deferred.waiting(lab.store) == []


def test_a_change_that_was_undone_waits_for_the_next_checkpoint(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **keys: object) -> None:
        raise SwitchError("refused")

    later(lab)
    boundary(lab, 60)
    with monkeypatch.context() as broken:
        broken.setattr(lab.switches["east"], "change", refuse)
        assert [one.state for one in lab.controller.cycle()] == ["undone"]
    lab.now += 100
    assert lab.controller.cycle() == []
    boundary(lab, 60)
    assert [one.state for one in lab.controller.cycle()] == ["done"]
    assert lab.lit() == AC


def test_a_policy_waits_for_a_checkpoint(tmp_path: Path) -> None:
    policy = {"kind": "cthrough", "unrequested": "alone"}
    lab = Lab(tmp_path, mode="act", policy=policy, limits={"when": "at checkpoint"})
    lab.send(matrix((0, 1, 10**9)))
    lab.controller.cycle()
    assert lab.lit() == AB
    jobs.announce(lab.store, "train", "scheduler", ["a"], 8, lab.now)
    lab.send(matrix((0, 2, 10**9)))
    lab.controller.cycle()
    assert lab.lit() == AB
    assert lab.controller.switches["east"].held_back == "not at a checkpoint: train"
    boundary(lab, 60)
    lab.controller.cycle()
    assert (1, 3) in lab.lit()


@pytest.mark.parametrize(("accelerators", "hours"), [(16_384, 16_384 / 60), (None, None)])
def test_the_cost_is_accelerators_times_dark_time(
    tmp_path: Path, accelerators: int | None, hours: float | None
) -> None:
    """The switch settles for 60 s. Another job has no cost."""
    (tmp_path / "ports.csv").write_text("rack,A port,B port\na,1,1\nb,2,2\nc,3,3\nd,4,4\n")
    racks = Racks(tmp_path / "ports.csv")
    own = jobs.Job("train", "x", ["a", "c"], accelerators)
    other = jobs.Job("other", "x", ["d"], 5_000)
    cost = cost_of(Change(AB, AC), racks, 60.0, [own, other], 0.0)
    assert (cost.dark_s, cost.dark_pair_s) == (60, 240)
    assert cost.jobs == cost.waits_for == ("train",)
    assert cost.accelerator_h == (None if hours is None else pytest.approx(hours))


def test_a_store_of_the_first_version_gets_the_new_tables(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    store = Store(url, lambda: 0.0)
    store.want("east", "operator:op", AB, 1_000, "op")
    with store._engine.begin() as db:
        schema.job.drop(db)
        schema.deferred.drop(db)
        db.execute(schema.meta.update().values(value="1"))
    store.close()
    store = Store(url, lambda: 0.0)
    assert deferred.waiting(store) == []
    assert [request.pair for request in store.intents("east")] == AB
    assert store.rows(schema.meta)[0]["value"] == str(schema.VERSION)


def test_a_store_of_the_second_version_gets_the_new_columns(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    store = Store(url, lambda: 0.0)
    jobs.announce(store, "train", "scheduler", ["a"], 8, 0.0)
    with store._engine.begin() as db:
        db.exec_driver_sql("DROP INDEX job_ended")
        db.exec_driver_sql("ALTER TABLE job DROP COLUMN until")
        db.execute(schema.meta.update().values(value="2"))
    store.close()
    store = Store(url, lambda: 0.0)
    assert [(one.name, one.until) for one in jobs.jobs(store, 1e9)] == [("train", None)]
    assert store.rows(schema.meta)[0]["value"] == str(schema.VERSION)


def test_a_job_ends_at_its_time_unless_it_is_announced_again(lab: Lab) -> None:
    """A scheduler that has disappeared does not delay a change."""
    later(lab)
    for _ in range(3):
        jobs.announce(lab.store, "train", "scheduler", ["a"], 8, lab.now, lab.now + 60)
        lab.now += 50
        assert lab.controller.cycle() == []
    with pytest.raises(ConfigError, match="scheduler"):
        jobs.announce(lab.store, "train", "another", ["a"], 8, lab.now)
    with pytest.raises(ConfigError) as refused:
        jobs.announce(lab.store, "train", "scheduler", ["a"], 8, lab.now, lab.now - 1)
    assert refused.value.key == "until"
    lab.now += 11
    assert [one.state for one in lab.controller.cycle()] == ["done"]
    assert jobs.jobs(lab.store, lab.now) == []
    made = jobs.announce(lab.store, "train", "another", ["b"], 4, lab.now)
    assert (made.owner, made.begins, made.until) == ("another", None, None)


def test_the_interface_defers_and_withdraws(reached: Reached) -> None:
    body = {"circuits": [["a", "b"]], "when": 2e9}
    made = reached.ask("PUT", "/switches/east/circuits", body).json()
    assert made["transactions"] == []
    assert made["deferred"]["when"] == 2e9
    number = made["deferred"]["id"]
    assert reached.ask("GET", "/state").json()["deferred"] == [made["deferred"]]
    assert reached.ask("DELETE", f"/deferred/{number}", scope="apply").status_code == 403
    assert reached.ask("DELETE", f"/deferred/{number}").json() == {"withdrawn": number}
    assert reached.ask("DELETE", f"/deferred/{number}").status_code == 422
    assert reached.lab.lit() == []


def test_a_change_that_a_pass_has_carried_out_is_not_withdrawn(
    reached: Reached, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pass comes between the two accesses to the store of a withdrawal."""
    lab = reached.lab
    made = lab.controller.want_later("east", AB, "admin", 0, lab.now + 5)
    usual = deferred.end

    def end(*given: Any) -> None:
        lab.now += 10
        assert [one.state for one in lab.controller.cycle()] == ["done"]
        usual(*given)

    monkeypatch.setattr(deferred, "end", end)
    answer = reached.ask("DELETE", f"/deferred/{made.id}")
    assert (answer.status_code, answer.json()["key"]) == (422, "deferred")
    (row,) = lab.store.rows(schema.deferred)
    assert (row["outcome"], lab.lit()) == ("done", AB)


def test_a_job_is_its_owner_s(reached: Reached) -> None:
    reached.ask("PUT", "/jobs/train", {"racks": ["a"]}, scope="reserve")
    assert reached.ask("PUT", "/jobs/train", {"racks": ["b"]}).status_code == 409
    assert reached.ask("PUT", "/jobs/train", {"racks": ["nobody"]}).status_code == 422
    (job,) = reached.ask("GET", "/state").json()["jobs"]
    assert (job["owner"], job["racks"]) == ("reserve", ["a"])
    assert reached.ask("DELETE", "/jobs/train", scope="reserve").json() == {"ended": "train"}
    assert reached.ask("PUT", "/jobs/train", {"racks": ["b"]}).json()["owner"] == "admin"


def test_an_admin_announces_a_checkpoint_of_any_job(reached: Reached) -> None:
    reached.ask("PUT", "/jobs/train", {"racks": ["a"], "until": 2e9}, scope="reserve")
    path, body = "/jobs/train/boundary", {"ends": 1.9e9}
    other = add_token(reached.lab.store, "other", ["reserve"], "test")
    headers = {"Authorization": f"Bearer {other}"}
    assert reached.http.put(path, json=body, headers=headers).status_code == 409
    answer = reached.ask("PUT", path, body, scope="admin")
    assert answer.status_code == 200
    assert (answer.json()["owner"], answer.json()["until"]) == ("reserve", 2e9)


def test_the_dark_time_is_configured_reported_or_measured(lab: Lab) -> None:
    """The emulated switch reports 20 ms; without this report, the duration of the last change
    counts."""
    one = lab.controller.switches["east"]
    assert dark_s(lab.store, one) == pytest.approx(0.02)
    assert one.description is not None
    one.description = replace(one.description, settle_ps=None)
    steps = {step["state"]: step["at"] for step in lab.store.transactions()[0].steps}
    assert dark_s(lab.store, one) == steps["verifying"] - steps["changing"] > 0
    measured = dark_s(lab.store, one)
    # A stopped controller, and a change that lights no circuit, give no measurement.
    plan: dict[str, Any] = {"before": [], "removed": [], "added": [(7, 8)], "kept": []}
    left = lab.store.plan("east", plan, "ann")
    lab.store.move(left.id, "changing")
    lab.now += 600.0
    assert [made.state for made in lab.begin().cycle() or lab.recovered] == ["done"]
    assert lab.store.transactions(limit=1)[0].state == "done"
    lab.controller.want("east", [], "ann")
    lab.controller.reconcile("east", "ann")
    again = lab.controller.switches["east"]
    assert again.description is not None
    again.description = replace(again.description, settle_ps=None)
    assert dark_s(lab.store, again) == measured
    again.settle_s = 5.0
    assert dark_s(lab.store, again) == 5.0
    one.settle_s, one.name = None, "west"
    assert dark_s(lab.store, one) is None


def test_a_clock_that_is_set_back_during_a_change_gives_no_dark_time(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, act = lab.controller.switches["east"], lab.switches["east"].change
    assert one.description is not None
    one.description = replace(one.description, settle_ps=None)
    measured = dark_s(lab.store, one)

    def change(*args: Any, **keys: Any) -> Any:
        lab.now -= 3600
        return act(*args, **keys)

    monkeypatch.setattr(lab.switches["east"], "change", change)
    assert [made.state for made in lab.controller.apply("east", AC, "op")] == ["done"]
    assert dark_s(lab.store, one) == measured


@pytest.mark.parametrize("then", ["apply", "withdraw"])
def test_what_the_client_does_amid_the_change_counts(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    """While the switch changes, the client sends another request, or withdraws; the completed
    change does not replace that request."""
    later(lab)
    boundary(lab, 60)
    (waits,) = deferred.waiting(lab.store)
    act = lab.switches["east"].change

    def change(*args: Any, **keys: Any) -> Any:
        made = act(*args, **keys)
        if then == "apply":
            lab.controller.want("east", AB, "op")
        else:
            deferred.end(lab.store, waits.id, "op", "withdrawn", lab.now)
        return made

    with monkeypatch.context() as amid:
        amid.setattr(lab.switches["east"], "change", change)
        lab.controller.cycle()
    assert deferred.waiting(lab.store) == []
    assert {request.pair for request in lab.controller.wanted("east")} == {*AB}
    lab.controller.cycle()
    assert lab.lit() == AB


def test_a_change_whose_hook_failed_at_its_end_is_carried_out_once(lab: Lab) -> None:
    """The checkpoint has ended when another operator's request finishes the change; its circuits
    stay."""

    class Falters(NoHook):
        fails = True

        def enter(self, switch: str, pairs: object) -> None:
            if self.fails:
                raise HookError("no answer")

    hook = Falters()
    lab.begin(hook=hook)
    later(lab)
    boundary(lab, 60)
    assert [one.state for one in lab.controller.cycle()] == ["verifying"]
    lab.now += 100  # the checkpoint has ended
    hook.fails = False
    lab.controller.want("east", [(5, 6)], "bob")
    (made,) = lab.controller.reconcile("east", "bob")
    assert (made.state, made.who) == ("done", "bob")
    assert lab.lit() == [*AC, (5, 6)]
    assert deferred.waiting(lab.store) == []
    (first, second) = reversed(lab.store.transactions(limit=2))
    assert (first.state, second) == ("done", made)
    assert (len(first.plan["deferred"]), second.plan["deferred"]) == (1, [])
    assert second.plan["removed"] == []


def refuses(lab: Lab, monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """Makes the switch refuse each change that adds or removes light at an A port."""
    act = lab.switches["east"].change

    def change(remove: Any, add: Any, *args: Any, **keys: Any) -> Any:
        if any(a == port for a, _ in [*remove, *add]):
            raise SwitchError(f"{port}A is refused")
        return act(remove, add, *args, **keys)

    monkeypatch.setattr(lab.switches["east"], "change", change)


def test_a_request_waits_again_if_another_one_that_kept_its_circuit_cannot_be_carried_out(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first request wants the circuit as well, so the second one would stop no job; but the
    first one fails."""
    lab.controller.want_later("east", [*AB, (3, 4), (4, 3)], "bob", 0, lab.now + 1)
    later(lab, [])
    refuses(lab, monkeypatch, 3)
    lab.now += 2
    for _ in range(5):
        lab.controller.cycle()
        lab.now += 700
    assert lab.lit() == AB
    assert [request.who for request in deferred.waiting(lab.store)] == ["bob", "op"]
    boundary(lab, 60)
    lab.controller.cycle()
    assert lab.lit() == []


def test_a_request_is_open_until_all_that_it_removes_is_dark(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the checkpoint the switch refuses to remove the circuit, and adds another client's."""
    later(lab, [])
    boundary(lab, 60)
    with monkeypatch.context() as broken:
        refuses(lab, broken, 1)
        assert [one.state for one in lab.controller.cycle()] == ["undone"]
        lab.controller.want("east", [(3, 4), (4, 3)], "other")
        lab.controller.cycle()
    assert lab.lit() == [*AB, (3, 4), (4, 3)]
    assert [request.who for request in deferred.waiting(lab.store)] == ["op"]
    lab.now += 700
    lab.controller.cycle()
    assert lab.lit() == [*AB, (3, 4), (4, 3)]
    boundary(lab, 60)
    lab.controller.cycle()
    assert lab.lit() == [(3, 4), (4, 3)]


def test_a_policy_and_a_request_that_stop_a_job_together_wait_for_it(tmp_path: Path) -> None:
    """Both request the circuit of the job: either alone may give it up."""
    policy = {"kind": "cthrough", "unrequested": "alone"}
    lab = Lab(tmp_path, mode="act", policy=policy, limits={"when": "at checkpoint"})
    lab.send(matrix((0, 1, 10**9)))
    lab.controller.cycle()
    lab.controller.want("east", AB, "op")
    lab.controller.cycle()
    jobs.announce(lab.store, "train", "scheduler", ["a"], 8, lab.now)
    later(lab, [])
    lab.send(matrix((0, 2, 10**9)))
    for _ in range(3):
        lab.controller.cycle()
        assert lab.lit() == AB
    boundary(lab, 60)
    lab.controller.cycle()
    assert (1, 3) in lab.lit()


def test_a_store_of_the_fourth_version_gets_the_dark_time(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    made = Lab(tmp_path, url)
    made.controller.want("east", AB, "op")
    made.controller.cycle()
    with made.store._engine.begin() as db:
        db.exec_driver_sql("DROP INDEX transaction_log_dark")
        for name in ("dark_s", "dark_until"):
            db.exec_driver_sql(f"ALTER TABLE {schema.transaction.name} DROP COLUMN {name}")
        db.execute(schema.meta.update().values(value="4"))
    made.store.close()
    lab = Lab(tmp_path, url)
    assert lab.store.dark_s("east", 0.0) == 0.0
    assert lab.store.rows(schema.meta)[0]["value"] == str(schema.VERSION)
    assert [one.state for one in lab.store.transactions("east")] == ["done"]
